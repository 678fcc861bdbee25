import type { DynamoDBRecord } from 'aws-lambda';
import {
  assert,
  type Clock,
  type Random,
  randomFraction,
  randomUuid,
  serializeJson,
} from '../../shared/base/index.ts';
import type { ItemChange } from '../dynamodb-endpoint/index.ts';
import { newStreamRecord, type StreamViewType } from './stream-record.ts';

/** How often something goes wrong with a record, each a fraction from 0 to 1; a real stream does none of it. */
export interface StreamFaults {
  readonly lossFraction?: number;
  /** The second one comes with a delay of its own. */
  readonly duplicateFraction?: number;
  /** Records are handed over in the order in which they come out: a delay also reorders. */
  readonly delayFraction?: number;
  readonly delayMsMax?: number;
}

export interface ItemStreamOptions {
  readonly tableName: string;
  readonly region: string;
  readonly viewType: StreamViewType;
  /** Writes of one item are always in the same shard. */
  readonly shardCount: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults?: StreamFaults;
}

/** Sequence numbers of real streams have 21 digits and more, far beyond a double. */
const SEQUENCE_NUMBER_FIRST = 100_000_000_000_000_000_001n;

/** The stream of one table: what was written, as records in shards, for a reader that takes them out. */
export class ItemStream {
  readonly tableName: string;
  readonly shards: readonly StreamShard[];
  readonly #options: ItemStreamOptions;
  readonly #streamArn: string;
  #sequenceNumber = SEQUENCE_NUMBER_FIRST;

  constructor(options: ItemStreamOptions) {
    const { tableName, region, shardCount, clock } = options;
    assert(shardCount >= 1, `stream: shardCount ${shardCount} is below 1`);
    const label = new Date(clock.nowMs()).toISOString().slice(0, -1);
    this.tableName = tableName;
    this.#options = options;
    this.#streamArn = `arn:aws:dynamodb:${region}:000000000000:table/${tableName}/stream/${label}`;
    this.shards = Array.from(
      { length: shardCount },
      (_, index) => new StreamShard(`shardId-${String(index).padStart(20, '0')}`, clock),
    );
  }

  /** Adds the record of a change to its shard, unless chance will have it otherwise. */
  append(change: ItemChange): void {
    const { clock, random, region, viewType, faults = {} } = this.#options;
    const nowMs = clock.nowMs();
    const record = newStreamRecord(change, {
      region,
      viewType,
      streamArn: this.#streamArn,
      eventId: randomUuid(random).replaceAll('-', ''),
      sequenceNumber: String(this.#sequenceNumber++),
      nowMs,
    });
    const shard = this.#shardOf(change);
    if (this.#happens(faults.lossFraction)) return;
    shard.add(record, nowMs + this.#delayMs(faults.delayFraction));
    if (this.#happens(faults.duplicateFraction)) shard.add(record, nowMs + this.#delayMs(1));
  }

  #shardOf({ keys }: ItemChange): StreamShard {
    const text = serializeJson(keys);
    let hash = 0;
    for (const char of text) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
    return this.shards[hash % this.shards.length]!;
  }

  #delayMs(fraction: number | undefined): number {
    const { random, faults = {} } = this.#options;
    if (!this.#happens(fraction)) return 0;
    return Math.floor(randomFraction(random) * (faults.delayMsMax ?? 0));
  }

  /** Draws only where something could happen, so that a fault that is off changes nothing of the others. */
  #happens(fraction: number | undefined): boolean {
    if (fraction === undefined || fraction === 0) return false;
    return randomFraction(this.#options.random) < fraction;
  }
}

/** A part of a stream that is read in order, by one reader. */
export class StreamShard {
  readonly shardId: string;
  readonly #clock: Clock;
  /** In the order in which they come out. */
  readonly #entries: { readonly record: DynamoDBRecord; readonly availableAtMs: number }[] = [];

  constructor(shardId: string, clock: Clock) {
    this.shardId = shardId;
    this.#clock = clock;
  }

  add(record: DynamoDBRecord, availableAtMs: number): void {
    const index = this.#entries.findIndex((entry) => entry.availableAtMs > availableAtMs);
    this.#entries.splice(index < 0 ? this.#entries.length : index, 0, { record, availableAtMs });
  }

  /** Takes out the first records that have come by now. */
  take(countMax: number): DynamoDBRecord[] {
    const nowMs = this.#clock.nowMs();
    const index = this.#entries.findIndex((entry) => entry.availableAtMs > nowMs);
    const availableCount = index < 0 ? this.#entries.length : index;
    const taken = this.#entries.splice(0, Math.min(countMax, availableCount));
    return taken.map(({ record }) => record);
  }

  /** When the first record comes out, maybe in the past; undefined when there is none. */
  nextAtMs(): number | undefined {
    return this.#entries[0]?.availableAtMs;
  }
}
