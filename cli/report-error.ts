import {
  type ErrorKind,
  type IcebergError,
  isIcebergError,
  type JsonObject,
} from '../shared/base/index.ts';
import { printable } from '../shared/display/index.ts';
import { errorFields, errorMessage } from '../shared/logging/index.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';

/** What a person can do about each kind of error. */
const HINTS: Readonly<Record<ErrorKind, string>> = {
  'invalid-data':
    'the object breaks its format; nothing was committed. Restore it, or let its writer write it again',
  unsupported: 'Firn does not do this; nothing was committed',
  'invalid-config': 'correct the option, environment variable or table property named above',
  'access-denied': 'grant the action named above to the credentials in use, or use others',
  'not-found': 'check the name and the catalog; an object that is gone has to be restored',
  'commit-conflict':
    'somebody else was first; nothing was changed. Look at the table, run it again',
  'commit-rejected': 'the table is not the one that was planned any more; nothing was changed',
  'commit-state-unknown':
    'the answer to the commit was lost. Look at the table before running anything on it again',
  unavailable: 'the service did not answer; nothing was committed. Run it again',
  deadline: 'there was not enough time left; nothing was committed',
  invariant:
    'a check before the commit failed, so nothing was committed. Please report it with this message',
};

/** What went wrong, and how the command ends. */
export interface ErrorReport {
  readonly exitCode: ExitCode;
  /** For people: lines for standard error. */
  readonly text: string;
  /** For programs: the document that stands in for the answer. */
  readonly json: JsonObject;
}

/** @param catalogUrl the catalog that was asked, where it is known */
export function reportError(error: unknown, catalogUrl?: string): ErrorReport {
  const message = errorMessage(error);
  const fields = Object.entries(errorFields(error)).filter(([, value]) => value !== undefined);
  return {
    exitCode: isUsageError(error) ? EXIT_CODES.usage : EXIT_CODES.failed,
    text: errorText(error, message, catalogUrl),
    json: { error: { ...(Object.fromEntries(fields) as JsonObject), message } },
  };
}

/**
 * Whether the mistake is in what was typed. A context would tell where else it is: in a property of the table, in
 * one of its locations, in what a service was asked.
 */
function isUsageError(error: unknown): boolean {
  return isIcebergError(error, 'invalid-config') && Object.keys(error.context).length === 0;
}

/** A ledger that is not there yet is the one thing of those not found that Firn can make itself. */
function hintOf({ kind, context }: IcebergError, catalogUrl: string | undefined): string {
  const isLedgerMissing = kind === 'not-found' && context['tableRole'] === 'ledger table';
  if (isLedgerMissing) {
    return 'Firn keeps its leases and reports there. Make it with `firn init`, or name the one that is there with &ledger=TABLE';
  }
  const isFolder = catalogUrl?.startsWith('file:') === true;
  return kind === 'access-denied' && isFolder
    ? "let this user read and write the file or folder named above; Firn stays within the catalog's folder"
    : HINTS[kind];
}

function errorText(error: unknown, message: string, catalogUrl: string | undefined): string {
  const { kind, causes, ...context } = errorFields(error);
  const lines = [`error (${kind}): ${printable(message)}`];
  for (const [key, value] of Object.entries(context)) {
    const text = String(value);
    if (!message.includes(text)) lines.push(`  ${key}: ${printable(text)}`);
  }
  if (typeof causes === 'string' && !message.includes(causes))
    lines.push(`  cause: ${printable(causes)}`);
  if (isIcebergError(error)) lines.push(`  ${hintOf(error, catalogUrl)}`);
  else if (error instanceof Error && error.stack !== undefined) lines.push(error.stack);
  return lines.join('\n');
}
