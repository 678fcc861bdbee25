import { isIcebergError, type LogFields } from '../base/index.ts';

const CAUSES_MAX = 5;

/** The fields that describe an error: its kind, its context and the chain of causes, never a stack. */
export function errorFields(error: unknown): LogFields {
  const causes = causeChain(error);
  return {
    kind: isIcebergError(error) ? error.kind : 'programmer-error',
    ...(isIcebergError(error) ? contextFields(error.context) : {}),
    ...(causes.length > 0 ? { causes: causes.join(' <- ') } : {}),
  };
}

/** The message of anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function causeChain(error: unknown): string[] {
  const causes: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause !== undefined && causes.length < CAUSES_MAX) {
    causes.push(errorMessage(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return causes;
}

function contextFields(
  context: Readonly<Record<string, string | number | bigint | boolean>>,
): LogFields {
  return Object.fromEntries(
    Object.entries(context).map(([key, value]) => [
      key,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  );
}
