import { type ErrorKind, isIcebergError, serializeJson } from '../shared/base/index.ts';
import { printable } from '../shared/display/index.ts';
import { errorFields, errorMessage } from '../shared/logging/index.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';

/** What a person can do about each kind of error. */
const HINTS: Readonly<Record<ErrorKind, string>> = {
  'invalid-data':
    'the object breaks its format; nothing was committed. Restore it, or let its writer write it again',
  unsupported: 'the table is valid but uses something Firn does not handle; nothing was committed',
  'invalid-config': 'correct the option, environment variable or table property named above',
  'access-denied': 'grant the action named above to the credentials in use',
  'not-found': 'check the name and the catalog',
  'commit-conflict': 'other writers kept committing; nothing was changed. Run it again',
  'commit-rejected': 'the table is not the one that was planned any more; nothing was changed',
  'commit-state-unknown':
    'the answer to the commit was lost. Look at the table before running anything on it again',
  unavailable: 'the service did not answer; nothing was changed. Run it again',
  deadline: 'there was not enough time left; nothing was changed',
  invariant:
    'a check before the commit failed, so nothing was committed. Please report it with this message',
};

/** Tells a person, or a program, what went wrong; returns how the command ends. */
export function printError(error: unknown, { json }: { readonly json: boolean }): ExitCode {
  const message = errorMessage(error);
  if (json) {
    const fields = errorFields(error);
    const known = Object.entries(fields).filter(([, value]) => value !== undefined);
    const document = {
      error: { message, ...(Object.fromEntries(known) as Record<string, string>) },
    };
    process.stdout.write(`${serializeJson(document, 2)}\n`);
  } else {
    process.stderr.write(`${errorText(error, message)}\n`);
  }
  return isIcebergError(error, 'invalid-config') ? EXIT_CODES.usage : EXIT_CODES.failed;
}

function errorText(error: unknown, message: string): string {
  const { kind, causes, ...context } = errorFields(error);
  const lines = [`error (${kind}): ${printable(message)}`];
  for (const [key, value] of Object.entries(context)) {
    lines.push(`  ${key}: ${printable(String(value))}`);
  }
  if (typeof causes === 'string') lines.push(`  cause: ${printable(causes)}`);
  if (isIcebergError(error)) lines.push(`  ${HINTS[error.kind]}`);
  else if (error instanceof Error && error.stack !== undefined) lines.push(error.stack);
  return lines.join('\n');
}
