import { z } from 'zod';
import { type Parsed, parseBy } from '../../parsed.ts';
import { tableNameProblem } from '../../table-name.ts';

/** The value of `identifier` on a namespace's item. */
const NAMESPACE_MARKER = 'NAMESPACE';

const keyText = z.object({ S: z.string().min(1) });

/**
 * What every view type has: the keys of the item, and the record's place in its shard. Images, where there are any,
 * are not looked at: a record is a doorbell.
 */
const recordSchema = z.object({
  eventSource: z.literal('aws:dynamodb'),
  eventName: z.enum(['INSERT', 'MODIFY', 'REMOVE']),
  dynamodb: z.object({
    SequenceNumber: z.string().min(1),
    Keys: z.object({ identifier: keyText, namespace: keyText }),
    /** Seconds since the epoch, to the second or finer. */
    ApproximateCreationDateTime: z.number().nonnegative().optional(),
  }),
});

const eventSchema = z.object({ Records: z.array(z.unknown()) });

/** Whose item was written. */
export type CatalogSubject =
  | { readonly kind: 'table'; readonly table: string }
  | { readonly kind: 'namespace'; readonly namespace: string }
  /** Somebody's table, with a name that Firn has no way to write down, such as one with a dot in its last part. */
  | { readonly kind: 'unaddressable'; readonly identifier: string; readonly reason: string };

/** One write of one item of the catalog table. */
export interface CatalogRecord {
  readonly subject: CatalogSubject;
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  /** What a partial batch response names. */
  readonly sequenceNumber: string;
  /** When DynamoDB says that it was written, to the second. */
  readonly writtenAtMs?: number;
}

/** The records of a batch, each still to be parsed: a malformed one does not take the others with it. */
export function parseCatalogStreamEvent(event: unknown): Parsed<readonly unknown[]> {
  const parsed = parseBy(eventSchema, event, 'stream event');
  return parsed.isValid ? { isValid: true, value: parsed.value.Records } : parsed;
}

/**
 * One record of the catalog table's stream, of any view type.
 *
 * @see Iceberg Java, DynamoDbCatalog: keys `identifier` and `namespace`
 */
export function parseCatalogRecord(record: unknown): Parsed<CatalogRecord> {
  const parsed = parseBy(recordSchema, record, 'stream record');
  if (!parsed.isValid) return parsed;
  const { eventName, dynamodb } = parsed.value;
  const { Keys, SequenceNumber, ApproximateCreationDateTime: seconds } = dynamodb;
  return {
    isValid: true,
    value: {
      subject: subjectOf(Keys.identifier.S, Keys.namespace.S),
      eventName,
      sequenceNumber: SequenceNumber,
      ...(seconds === undefined ? {} : { writtenAtMs: Math.round(seconds * 1000) }),
    },
  };
}

/** The sequence number of a record that may be malformed otherwise; undefined when that is missing, too. */
export function sequenceNumberOf(record: unknown): string | undefined {
  const schema = z.object({ dynamodb: recordSchema.shape.dynamodb.pick({ SequenceNumber: true }) });
  return schema.safeParse(record).data?.dynamodb.SequenceNumber;
}

function subjectOf(identifier: string, namespace: string): CatalogSubject {
  if (identifier === NAMESPACE_MARKER) return { kind: 'namespace', namespace };
  const levels = identifier.split('.').slice(0, -1).join('.');
  const reason =
    tableNameProblem(identifier) ??
    (levels === namespace ? undefined : `${identifier}: is not in the namespace ${namespace}`);
  return reason === undefined
    ? { kind: 'table', table: identifier }
    : { kind: 'unaddressable', identifier, reason };
}
