import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { assert, type Clock, isIcebergError } from '../../shared/base/index.ts';
import type { MessageQueue } from '../../shared/queue/index.ts';
import type { ItemStream, StreamShard } from '../stream/index.ts';
import { type EventSource, failedIds, type InvocationReport, reportOf } from './event-source.ts';
import type { HostedFunction } from './hosted-function.ts';

export interface StreamSourceOptions {
  readonly stream: ItemStream;
  readonly target: HostedFunction;
  readonly batchSizeMax: number;
  /** How often a record that fails alone is tried again. */
  readonly retryCountMax: number;
  /** Gets what was tried in vain. */
  readonly deadLetters: Pick<MessageQueue, 'sendToDeadLetters'>;
  readonly clock: Clock;
}

/** A shard and how its reading goes. */
interface Reading {
  readonly shard: StreamShard;
  /** Batches that were taken out and have to be handed over again, first of all. */
  readonly pending: (readonly DynamoDBRecord[])[];
  isUnderWay: boolean;
  /** Failures in a row of a record that was alone in its batch. */
  failureCount: number;
  retryAtMs: number;
}

const RETRY_WAIT_MS_FIRST = 1_000;
const RETRY_WAIT_MS_MAX = 60_000;

/**
 * Hands the records of a stream to a function, one batch of each shard at a time and in order. After a failure
 * reading goes on at the first record that failed; a batch that makes no progress is halved until the record at
 * fault is alone, which is tried again and then given up. So a bad record holds its shard up for a while, not for
 * a day.
 *
 * @see AWS Lambda, "Handling errors with a DynamoDB event source": bisect on error, partial batch response
 */
export class StreamSource implements EventSource {
  readonly #options: StreamSourceOptions;
  readonly #readings: readonly Reading[];

  constructor(options: StreamSourceOptions) {
    this.#options = options;
    this.#readings = options.stream.shards.map((shard) => ({
      shard,
      pending: [],
      isUnderWay: false,
      failureCount: 0,
      retryAtMs: 0,
    }));
  }

  dispatch(): readonly Promise<InvocationReport>[] {
    const { target, batchSizeMax, clock } = this.#options;
    const begun: Promise<InvocationReport>[] = [];
    for (const reading of this.#readings) {
      if (reading.isUnderWay || reading.retryAtMs > clock.nowMs() || !target.hasCapacity())
        continue;
      const records = reading.pending.shift() ?? reading.shard.take(batchSizeMax);
      if (records.length > 0) begun.push(this.#invoke(reading, records));
    }
    return begun;
  }

  nextDueAtMs(): number | undefined {
    const times = this.#readings.flatMap(({ shard, pending, isUnderWay, retryAtMs }) => {
      const nextMs = pending.length > 0 ? retryAtMs : shard.nextAtMs();
      return nextMs === undefined || isUnderWay ? [] : [Math.max(nextMs, retryAtMs)];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async #invoke(reading: Reading, records: readonly DynamoDBRecord[]): Promise<InvocationReport> {
    const { target, clock } = this.#options;
    const startMs = clock.nowMs();
    reading.isUnderWay = true;
    const event: DynamoDBStreamEvent = { Records: [...records] };
    const end = await target.invoke(event);
    const ids = records.map(sequenceNumberOf);
    const failed = failedIds(end, ids);
    const checkpoint = ids.findIndex((id) => failed.has(id));
    const left = checkpoint < 0 ? [] : records.slice(checkpoint);
    await this.#conclude(reading, { left, isProgress: checkpoint !== 0 });
    reading.isUnderWay = false;
    return reportOf(end, {
      functionName: target.name,
      durationMs: clock.nowMs() - startMs,
      eventCount: records.length,
      failedCount: left.length,
    });
  }

  async #conclude(
    reading: Reading,
    {
      left,
      isProgress,
    }: { readonly left: readonly DynamoDBRecord[]; readonly isProgress: boolean },
  ): Promise<void> {
    reading.retryAtMs = 0;
    if (isProgress) reading.failureCount = 0;
    if (left.length === 0) return;
    const isAlone = left.length === 1;
    if (!isProgress && isAlone && (await this.#isGivenUp(reading, left))) return;
    const middle = Math.ceil(left.length / 2);
    const isHalved = !isProgress && !isAlone;
    reading.pending.unshift(...(isHalved ? [left.slice(0, middle), left.slice(middle)] : [left]));
    const waitMs = RETRY_WAIT_MS_FIRST * 2 ** reading.failureCount;
    reading.retryAtMs = this.#options.clock.nowMs() + Math.min(waitMs, RETRY_WAIT_MS_MAX);
  }

  /** Counts a failure of a record that was alone, and gives it up when it has had its retries. */
  async #isGivenUp(reading: Reading, [record]: readonly DynamoDBRecord[]): Promise<boolean> {
    const { retryCountMax, deadLetters, stream } = this.#options;
    assert(record !== undefined, 'a record is given up');
    if (reading.failureCount++ < retryCountMax) return false;
    const reason = `record ${sequenceNumberOf(record)} failed ${reading.failureCount} times`;
    try {
      await deadLetters.sendToDeadLetters({
        body: JSON.stringify(record),
        groupId: stream.tableName,
        reason,
      });
    } catch (error) {
      if (!isIcebergError(error)) throw error;
      return false;
    }
    reading.failureCount = 0;
    return true;
  }
}

function sequenceNumberOf({ dynamodb }: DynamoDBRecord): string {
  return dynamodb?.SequenceNumber ?? '';
}
