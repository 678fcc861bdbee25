import type { SweepRequest } from '../../events/index.ts';
import { createHandler as createRewriteDataFiles } from '../../functions/rewrite-data-files/handler.ts';
import { createHandler as createRewriteDeletes } from '../../functions/rewrite-deletes/handler.ts';
import { createHandler as createRouteEvents } from '../../functions/route-events/handler.ts';
import { createHandler as createSweepTables } from '../../functions/sweep-tables/handler.ts';
import { IcebergError } from '../../shared/base/index.ts';
import type { Deployment, FunctionSettings } from '../../shared/deployment/index.ts';
import { MemoryQueue, type QueueFaults } from '../../shared/queue/index.ts';
import {
  type HostedFunction,
  type InvocationReport,
  type LambdaFunction,
  LambdaHost,
  QueueSource,
  Schedule,
  StreamSource,
} from '../lambda-host/index.ts';
import type { LocalCloud } from '../local-cloud.ts';
import type { ItemStream } from '../stream/index.ts';

export interface LocalDeploymentOptions {
  readonly cloud: Pick<LocalCloud, 'warehouse' | 'clock' | 'random'>;
  /** Of the catalog table. */
  readonly stream: ItemStream;
  readonly settings: FunctionSettings;
  /** How often each sweep comes; as shipped every 5 minutes, and every hour. */
  readonly sweepEveryMs?: Readonly<Partial<Record<SweepRequest['sweep'], number>>>;
  /** Runs at a time; 2 where it is not given, since one process has one CPU for all of them. */
  readonly rewriteConcurrencyMax?: number;
  /** Of the queue of rewrites. */
  readonly queueFaults?: QueueFaults;
  readonly logDestination: NonNullable<Deployment['logDestination']>;
  readonly onInvocation?: (report: InvocationReport) => void;
  /** For hosts that watch invocations from within: called instead of a handler, has to call it. */
  readonly aroundHandler?: (functionName: string, call: () => Promise<unknown>) => Promise<unknown>;
}

export interface LocalDeployment {
  readonly host: LambdaHost;
  readonly rewriteQueue: MemoryQueue;
  /** Where events went that nobody understood. */
  readonly eventDeadLetters: MemoryQueue;
  /** Puts an event on the bus: whoever has a rule for it is invoked, once. @throws unavailable — it failed */
  putEvent(event: unknown): Promise<void>;
}

const MINUTE_MS = 60_000;
const SWEEP_EVERY_MS = { due: 5 * MINUTE_MS, catalog: 60 * MINUTE_MS } as const;

/** Looks at tables take milliseconds; a batch of them, seconds. */
const ROUTER_TIMEOUT_MS = MINUTE_MS;
const ROUTER_CONCURRENCY_MAX = 10;
const STREAM_BATCH_SIZE_MAX = 100;
const STREAM_RETRY_COUNT_MAX = 5;

/** The longest that Lambda has. */
const REWRITE_TIMEOUT_MS = 15 * MINUTE_MS;
const REWRITE_CONCURRENCY_MAX = 2;
const RECEIVE_COUNT_MAX = 5;

/** Deploys everything; nothing runs until the host is told to look. */
export function deployLocally(options: LocalDeploymentOptions): LocalDeployment {
  const { cloud, stream, settings, logDestination, onInvocation } = options;
  const { warehouse, clock, random } = cloud;
  const { rewriteConcurrencyMax = REWRITE_CONCURRENCY_MAX, queueFaults, aroundHandler } = options;
  const queue = (name: string, faults: QueueFaults = {}): MemoryQueue =>
    new MemoryQueue({
      name,
      visibilityTimeoutMs: settings.messageVisibilityMs,
      receiveCountMax: RECEIVE_COUNT_MAX,
      clock,
      random,
      faults,
    });
  const rewriteQueue = queue('rewrite-data-files', queueFaults);
  const deletesQueue = queue('rewrite-deletes');
  const eventDeadLetters = queue('event-dead-letters');
  const deployment: Deployment = {
    settings,
    warehouse,
    queues: { 'rewrite-data-files': rewriteQueue, 'rewrite-deletes': deletesQueue },
    eventDeadLetters,
    clock,
    random,
    logDestination,
  };
  const host = new LambdaHost({
    clock,
    random,
    ...(onInvocation === undefined ? {} : { onInvocation }),
  });
  const addFunction = (lambda: LambdaFunction): HostedFunction =>
    host.addFunction({
      ...lambda,
      handler: (event, context) => {
        const call = () => lambda.handler(event, context);
        return aroundHandler === undefined ? call() : aroundHandler(lambda.name, call);
      },
    });
  const routeEvents = addFunction({
    name: 'route-events',
    timeoutMs: ROUTER_TIMEOUT_MS,
    concurrencyMax: ROUTER_CONCURRENCY_MAX,
    handler: createRouteEvents(deployment),
  });
  const sweepTables = addFunction({
    name: 'sweep-tables',
    timeoutMs: ROUTER_TIMEOUT_MS,
    concurrencyMax: 1,
    handler: createSweepTables(deployment),
  });
  const rewriteDataFiles = addFunction({
    name: 'rewrite-data-files',
    timeoutMs: REWRITE_TIMEOUT_MS,
    concurrencyMax: rewriteConcurrencyMax,
    handler: createRewriteDataFiles(deployment),
  });
  const rewriteDeletes = addFunction({
    name: 'rewrite-deletes',
    timeoutMs: REWRITE_TIMEOUT_MS,
    concurrencyMax: rewriteConcurrencyMax,
    handler: createRewriteDeletes(deployment),
  });
  host.addSource(
    new StreamSource({
      stream,
      target: routeEvents,
      batchSizeMax: STREAM_BATCH_SIZE_MAX,
      retryCountMax: STREAM_RETRY_COUNT_MAX,
      deadLetters: eventDeadLetters,
      clock,
    }),
  );
  for (const source of [
    { queue: rewriteQueue, target: rewriteDataFiles },
    { queue: deletesQueue, target: rewriteDeletes },
  ]) {
    host.addSource(
      new QueueSource({
        ...source,
        batchSizeMax: 1,
        concurrencyMax: rewriteConcurrencyMax,
        clock,
      }),
    );
  }
  for (const sweep of ['due', 'catalog'] as const) {
    const event: SweepRequest = { version: 1, sweep };
    const everyMs = options.sweepEveryMs?.[sweep] ?? SWEEP_EVERY_MS[sweep];
    host.addSource(new Schedule({ target: sweepTables, event, everyMs, clock }));
  }
  return {
    host,
    rewriteQueue,
    eventDeadLetters,
    putEvent: (event) => invokeOnce(routeEvents, event),
  };
}

async function invokeOnce(target: HostedFunction, event: unknown): Promise<void> {
  const end = await target.invoke(event);
  if (end.ended === 'returned') return;
  const cause = end.ended === 'threw' ? end.error : undefined;
  throw new IcebergError('unavailable', `${target.name}: invocation ${end.ended}`, {}, cause);
}
