import { z } from 'zod';
import { IcebergError } from '../../shared/base/index.ts';

const booleanText = z.enum(['true', 'false']).transform((text) => text === 'true');

const environmentSchema = z.object({
  /** Where tables are: `dynamodb://REGION/TABLE`. */
  FIRN_CATALOG: z.string().min(1),
  /** `namespace.table` names that Firn may change, separated by commas; `*` is not understood on purpose. */
  FIRN_ENABLED_TABLES: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((name) => name.trim()))
    .transform((names) => names.filter((name) => name !== '')),
  FIRN_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** Plan, explain and price only, whatever tables are allowed. */
  FIRN_OBSERVE: booleanText.default(false),
  AWS_ENDPOINT_URL_S3: z.url().optional(),
});

export interface FunctionConfig {
  readonly catalogUrl: string;
  readonly s3Endpoint?: string;
  readonly enabledTables: readonly string[];
  readonly isObserving: boolean;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

/**
 * Reads and checks the environment of the function, once, at start.
 *
 * @throws invalid-config — naming every variable that is missing or malformed, and what was expected
 */
export function readFunctionConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): FunctionConfig {
  const parsed = environmentSchema.safeParse(env);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join('.')}: ${message} (is ${String(env[String(path[0])])})`,
    );
    throw new IcebergError('invalid-config', `environment: ${problems.join('; ')}`);
  }
  const { data } = parsed;
  return Object.freeze({
    catalogUrl: data.FIRN_CATALOG,
    ...(data.AWS_ENDPOINT_URL_S3 === undefined ? {} : { s3Endpoint: data.AWS_ENDPOINT_URL_S3 }),
    enabledTables: Object.freeze(data.FIRN_ENABLED_TABLES),
    isObserving: data.FIRN_OBSERVE,
    logLevel: data.FIRN_LOG_LEVEL,
  });
}
