import { z } from 'zod';
import { IcebergError, isIcebergError } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import {
  DEFAULT_GUARD_SETTINGS,
  type DeploymentSwitches,
  type GuardSettings,
} from '../../shared/guards/index.ts';
import {
  parseCatalogUrl,
  parseLedgerTable,
  parseStateLocation,
} from '../../shared/warehouse/index.ts';

const booleanText = z.enum(['true', 'false']).transform((text) => text === 'true');

/** A time in milliseconds; as shipped where it is not set. */
function milliseconds(defaultMs: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number of milliseconds')
    .transform(Number)
    .default(defaultMs);
}

const environmentSchema = z.object({
  FIRN_CATALOG: z.string().superRefine(understoodBy(parseCatalogUrl)),
  /** `*` is not understood on purpose. */
  FIRN_ENABLED_TABLES: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((name) => name.trim()))
    .transform((names) => names.filter((name) => name !== ''))
    .superRefine((names, context) => {
      for (const name of names) understoodBy(parseTableName)(name, context);
    }),
  FIRN_LEDGER_TABLE: z.string().superRefine(understoodBy(parseLedgerTable)).optional(),
  FIRN_STATE_LOCATION: z.string().superRefine(understoodBy(parseStateLocation)).optional(),
  FIRN_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  FIRN_OBSERVE: booleanText.default(false),
  FIRN_MIN_FILE_AGE_MS_FLOOR: milliseconds(DEFAULT_GUARD_SETTINGS.minFileAgeMsFloor),
  FIRN_MIN_FILE_AGE_MS_DERIVED_MAX: milliseconds(DEFAULT_GUARD_SETTINGS.minFileAgeMsDerivedMax),
  FIRN_COMMIT_INTERVAL_MS_FLOOR: milliseconds(DEFAULT_GUARD_SETTINGS.commitIntervalMsFloor),
  FIRN_WAP_WAIT_MS_FLOOR: milliseconds(DEFAULT_GUARD_SETTINGS.wapWaitMsFloor),
  AWS_ENDPOINT_URL_S3: z.url().optional(),
});

/** The environment of the function; README.md of this folder has the table of its variables. */
export interface FunctionConfig extends DeploymentSwitches {
  readonly catalogUrl: string;
  readonly s3Endpoint?: string;
  readonly ledgerTable?: string;
  readonly stateLocation?: string;
  readonly guards: GuardSettings;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

/**
 * Reads and checks the environment of the function, once, at start. A `FIRN_` variable that is not known is
 * refused: a misspelt `FIRN_OBSERVE` would let a deployment change tables.
 *
 * @throws invalid-config — naming every variable that is missing, malformed or unknown, and what was expected
 */
export function readFunctionConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): FunctionConfig {
  const unknown = Object.keys(env)
    .filter((key) => key.startsWith('FIRN_') && !Object.hasOwn(environmentSchema.shape, key))
    .sort()
    .map((key) => `${key}: is not known`);
  const parsed = environmentSchema.safeParse(env);
  const malformed = (parsed.error?.issues ?? []).map(({ path, message }) => {
    const key = String(path[0]);
    return env[key] === undefined ? `${key}: is not set` : `${key}: ${message} (is '${env[key]}')`;
  });
  const problems = [...malformed, ...unknown];
  if (parsed.data === undefined || problems.length > 0) {
    throw new IcebergError('invalid-config', `environment: ${problems.join('; ')}`);
  }
  const { data } = parsed;
  return Object.freeze({
    catalogUrl: data.FIRN_CATALOG,
    ...(data.AWS_ENDPOINT_URL_S3 === undefined ? {} : { s3Endpoint: data.AWS_ENDPOINT_URL_S3 }),
    ...(data.FIRN_LEDGER_TABLE === undefined ? {} : { ledgerTable: data.FIRN_LEDGER_TABLE }),
    ...(data.FIRN_STATE_LOCATION === undefined ? {} : { stateLocation: data.FIRN_STATE_LOCATION }),
    enabledTables: Object.freeze(data.FIRN_ENABLED_TABLES),
    isObserving: data.FIRN_OBSERVE,
    guards: Object.freeze({
      minFileAgeMsFloor: data.FIRN_MIN_FILE_AGE_MS_FLOOR,
      minFileAgeMsDerivedMax: data.FIRN_MIN_FILE_AGE_MS_DERIVED_MAX,
      commitIntervalMsFloor: data.FIRN_COMMIT_INTERVAL_MS_FLOOR,
      wapWaitMsFloor: data.FIRN_WAP_WAIT_MS_FLOOR,
    }),
    logLevel: data.FIRN_LOG_LEVEL,
  });
}

function parseTableName(name: string): void {
  if (name.includes('*')) {
    throw new IcebergError(
      'invalid-config',
      `${name}: patterns are not understood, name each table`,
    );
  }
  parseTableIdentifier(name);
}

/** A check for the schema out of a parser that throws. */
function understoodBy(
  parse: (text: string) => unknown,
): (text: string, context: z.RefinementCtx) => void {
  return (text, context) => {
    try {
      parse(text);
    } catch (error) {
      if (!isIcebergError(error)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
    }
  };
}
