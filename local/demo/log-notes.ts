import { isJsonObject, parseJson } from '../../shared/base/index.ts';

/** One log line, as far as people want to see it. */
export interface LogNote {
  readonly who: string;
  readonly text: string;
}

/** Progress within a run, and sums of what other lines say one by one. */
const HIDDEN_EVENTS: readonly string[] = [
  'commit.succeeded',
  'events.routed',
  'request.routed',
  'run.answered',
  'sweep.finished',
];

/** What to show of a line that a function logs; undefined for what is only of use to a machine. */
export function noteOfLogLine(line: string): LogNote | undefined {
  const fields = parseJson(line, 'log line');
  if (!isJsonObject(fields)) return undefined;
  const { event, level, operation, table, message, skipped } = fields;
  if (event === 'operation.queued') return { who: 'routing', text: `queues ${message}` };
  if (level === 'debug' || HIDDEN_EVENTS.includes(String(event))) return undefined;
  const subject = table === undefined ? '' : `${table}: `;
  const left = typeof skipped === 'string' && skipped !== '' ? ` (left alone: ${skipped})` : '';
  return { who: String(operation), text: `${subject}${message}${left}` };
}
