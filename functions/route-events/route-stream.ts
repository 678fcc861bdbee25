import {
  parseCatalogRecord,
  parseCatalogStreamEvent,
  sequenceNumberOf,
} from '../../events/index.ts';
import { type JsonValue, serializeJson } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { lookPorts } from '../../shared/deployment/index.ts';
import { errorMessage } from '../../shared/logging/index.ts';
import { type LookTally, lookAtTables } from '../../shared/routing/index.ts';
import type { Invocation } from './invocation.ts';

/** What Lambda reads of a stream's batch: from the first of these on, the records are delivered again. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** What is in a batch. */
interface Batch {
  /** Sequence numbers by table. */
  readonly rung: ReadonlyMap<string, readonly string[]>;
  readonly namespaceCount: number;
  /** Why tables have names that Firn has no way to write down: they are left alone. */
  readonly unaddressable: readonly string[];
  readonly refused: readonly { readonly record: unknown; readonly reason: string }[];
}

/** Looks once at each table that was written, whatever its records say and in which order they come. */
export async function routeStream(event: unknown, invocation: Invocation): Promise<StreamAnswer> {
  const { deployment, correlationId, deadline, logger } = invocation;
  const startMs = deployment.clock.nowMs();
  const batch = readBatch(event);
  const unburied = await buryRefused(batch, invocation);
  for (const reason of new Set(batch.unaddressable)) logger.warn('table.unaddressable', reason);
  const identifiers = [...batch.rung.keys()].map(parseTableIdentifier);
  const tally = await lookAtTables(
    identifiers,
    { cause: 'stream', correlationId },
    { ...lookPorts(deployment), deadline, logger },
  );
  const failures = [...failedRecords(batch, tally), ...unburied];
  logger.info('events.routed', `${batch.rung.size} tables`, {
    tableCount: batch.rung.size,
    namespaceCount: batch.namespaceCount,
    refusedCount: batch.refused.length,
    sentCount: tally.sentCount,
    returnedCount: failures.length,
    ...tally.counts,
    durationMs: deployment.clock.nowMs() - startMs,
  });
  return { batchItemFailures: failures.map((itemIdentifier) => ({ itemIdentifier })) };
}

function readBatch(event: unknown): Batch {
  const parsed = parseCatalogStreamEvent(event);
  if (!parsed.isValid) {
    return {
      rung: new Map(),
      namespaceCount: 0,
      unaddressable: [],
      refused: [{ record: event, reason: parsed.reason }],
    };
  }
  const rung = new Map<string, string[]>();
  const refused: { record: unknown; reason: string }[] = [];
  const unaddressable: string[] = [];
  let namespaceCount = 0;
  for (const record of parsed.value) {
    const each = parseCatalogRecord(record);
    if (!each.isValid) {
      refused.push({ record, reason: each.reason });
      continue;
    }
    const { subject, sequenceNumber } = each.value;
    switch (subject.kind) {
      case 'namespace':
        namespaceCount++;
        break;
      case 'unaddressable':
        unaddressable.push(subject.reason);
        break;
      case 'table':
        rung.set(subject.table, [...(rung.get(subject.table) ?? []), sequenceNumber]);
    }
  }
  return { rung, namespaceCount, unaddressable, refused };
}

/** Sequence numbers of records that no dead letter could be made of. */
async function buryRefused(
  { refused }: Batch,
  { deployment, logger }: Invocation,
): Promise<readonly string[]> {
  const unburied: string[] = [];
  for (const { record, reason } of refused) {
    logger.error('event.refused', reason, { kind: 'invalid-data' });
    const body = serializeJson(record as JsonValue);
    try {
      const letter = { body, groupId: 'catalog-stream', reason };
      await deployment.eventDeadLetters.sendToDeadLetters(letter);
    } catch (error) {
      const sequenceNumber = sequenceNumberOf(record);
      // Without its number it cannot be named; thrown, the whole batch comes again.
      if (sequenceNumber === undefined) throw error;
      logger.warn('event.returned', errorMessage(error), { sequenceNumber });
      unburied.push(sequenceNumber);
    }
  }
  return unburied;
}

/** Records of tables whose look failed, or that no time was left for. */
function failedRecords({ rung }: Batch, { failedTables, skippedTables }: LookTally): string[] {
  return [...failedTables, ...skippedTables].flatMap((table) => rung.get(table) ?? []);
}
