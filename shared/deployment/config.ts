import { z } from 'zod';
import { IcebergError, isIcebergError } from '../base/index.ts';
import { parseTableIdentifier } from '../catalog/index.ts';
import { DEFAULT_GUARD_SETTINGS } from '../guards/index.ts';
import type { LogLevel } from '../logging/index.ts';
import { DEFAULT_ROUTING_SETTINGS, type RoutingSettings } from '../routing/index.ts';
import { parseCatalogUrl, parseLedgerTable, parseStateLocation } from '../warehouse/index.ts';

const booleanText = z.enum(['true', 'false']).transform((text) => text === 'true');

/** A time in milliseconds; as shipped where it is not set. */
function milliseconds(defaultMs: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number of milliseconds')
    .transform(Number)
    .default(defaultMs);
}

/** A third of it is how often a message that is worked on is hidden anew; as long as a lease. */
const MESSAGE_VISIBILITY_MS_DEFAULT = 180_000;

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
  FIRN_REWRITE_DATA_FILES_QUEUE: z.url(),
  FIRN_REWRITE_DATA_FILES_DEAD_LETTERS: z.url(),
  FIRN_REWRITE_DELETES_QUEUE: z.url(),
  FIRN_REWRITE_DELETES_DEAD_LETTERS: z.url(),
  FIRN_EVENT_DEAD_LETTERS: z.url(),
  FIRN_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  FIRN_OBSERVE: booleanText.default(false),
  FIRN_MIN_FILE_AGE_MS_FLOOR: milliseconds(DEFAULT_GUARD_SETTINGS.minFileAgeMsFloor),
  FIRN_MIN_FILE_AGE_MS_DERIVED_MAX: milliseconds(DEFAULT_GUARD_SETTINGS.minFileAgeMsDerivedMax),
  FIRN_COMMIT_INTERVAL_MS_FLOOR: milliseconds(DEFAULT_GUARD_SETTINGS.commitIntervalMsFloor),
  FIRN_WAP_WAIT_MS_FLOOR: milliseconds(DEFAULT_GUARD_SETTINGS.wapWaitMsFloor),
  FIRN_ROUTING_INTERVAL_MS_FLOOR: milliseconds(DEFAULT_ROUTING_SETTINGS.routingIntervalMsFloor),
  FIRN_MESSAGE_VISIBILITY_MS: milliseconds(MESSAGE_VISIBILITY_MS_DEFAULT),
  AWS_REGION: z.string().min(1).optional(),
  AWS_ENDPOINT_URL_S3: z.url().optional(),
});

/** What a function needs to know while it runs. */
export interface FunctionSettings extends RoutingSettings {
  readonly logLevel: LogLevel;
  /** Visibility timeout of the queues. */
  readonly messageVisibilityMs: number;
}

/** The environment of every function; README.md of this folder has the table of its variables. */
export interface DeploymentConfig extends FunctionSettings {
  readonly catalogUrl: string;
  readonly s3Endpoint?: string;
  readonly ledgerTable?: string;
  readonly stateLocation?: string;
  /** Of the queues, where it is not the catalog's. */
  readonly region?: string;
  readonly queueUrls: {
    readonly 'rewrite-data-files': string;
    readonly 'rewrite-data-files-dead-letters': string;
    readonly 'rewrite-deletes': string;
    readonly 'rewrite-deletes-dead-letters': string;
    readonly 'event-dead-letters': string;
  };
}

/**
 * Reads and checks the environment that all functions of a deployment share. A `FIRN_` variable that is not known is
 * refused: a misspelt `FIRN_OBSERVE` would let a deployment change tables.
 *
 * @throws invalid-config — naming every variable that is missing, malformed or unknown, and what was expected
 */
export function parseDeploymentConfig(
  env: Readonly<Record<string, string | undefined>>,
): DeploymentConfig {
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
  return toConfig(parsed.data);
}

function toConfig(data: z.infer<typeof environmentSchema>): DeploymentConfig {
  return Object.freeze({
    catalogUrl: data.FIRN_CATALOG,
    ...(data.AWS_ENDPOINT_URL_S3 === undefined ? {} : { s3Endpoint: data.AWS_ENDPOINT_URL_S3 }),
    ...(data.FIRN_LEDGER_TABLE === undefined ? {} : { ledgerTable: data.FIRN_LEDGER_TABLE }),
    ...(data.FIRN_STATE_LOCATION === undefined ? {} : { stateLocation: data.FIRN_STATE_LOCATION }),
    ...(data.AWS_REGION === undefined ? {} : { region: data.AWS_REGION }),
    queueUrls: Object.freeze({
      'rewrite-data-files': data.FIRN_REWRITE_DATA_FILES_QUEUE,
      'rewrite-data-files-dead-letters': data.FIRN_REWRITE_DATA_FILES_DEAD_LETTERS,
      'rewrite-deletes': data.FIRN_REWRITE_DELETES_QUEUE,
      'rewrite-deletes-dead-letters': data.FIRN_REWRITE_DELETES_DEAD_LETTERS,
      'event-dead-letters': data.FIRN_EVENT_DEAD_LETTERS,
    }),
    enabledTables: Object.freeze(data.FIRN_ENABLED_TABLES),
    isObserving: data.FIRN_OBSERVE,
    guards: Object.freeze({
      minFileAgeMsFloor: data.FIRN_MIN_FILE_AGE_MS_FLOOR,
      minFileAgeMsDerivedMax: data.FIRN_MIN_FILE_AGE_MS_DERIVED_MAX,
      commitIntervalMsFloor: data.FIRN_COMMIT_INTERVAL_MS_FLOOR,
      wapWaitMsFloor: data.FIRN_WAP_WAIT_MS_FLOOR,
    }),
    routingIntervalMsFloor: data.FIRN_ROUTING_INTERVAL_MS_FLOOR,
    messageVisibilityMs: data.FIRN_MESSAGE_VISIBILITY_MS,
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
