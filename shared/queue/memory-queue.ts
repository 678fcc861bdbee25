import { assert, type Clock, IcebergError, type Random, randomUuid } from '../base/index.ts';
import type { DeadLetter, MessageQueue, OutgoingMessage } from './message-queue.ts';
import { fittingLetter, requireMessageBody } from './message-text.ts';

/**
 * What may go wrong with one message that is sent:
 *
 * - `throttled`: turned away, not in the queue;
 * - `answer-lost`: in the queue, but the sender sees no answer;
 * - `vanished`: the sender sees success, and nobody ever receives it;
 * - `doubled`: in the queue twice;
 * - a delay: in the queue, but not seen before.
 */
export type SendFault =
  | 'throttled'
  | 'answer-lost'
  | 'vanished'
  | 'doubled'
  | { readonly delayMs: number };

/** Asked before each request; undefined lets it pass. */
export interface QueueFaults {
  readonly onSend?: (message: OutgoingMessage) => SendFault | undefined;
  /** `doubled`: a copy stays visible although the message is delivered, as may happen in a standard queue. */
  readonly onDelivery?: (message: ReceivedMessage) => 'doubled' | undefined;
  readonly onExtend?: (receiptHandle: string) => 'unavailable' | undefined;
  readonly onDeadLetter?: (letter: DeadLetter) => 'unavailable' | undefined;
}

export interface MemoryQueueOptions {
  readonly name: string;
  /** How long a received message is hidden, unless that is extended. */
  readonly visibilityTimeoutMs: number;
  /** A message that was received so often and is visible again becomes a dead letter. */
  readonly receiveCountMax: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults?: QueueFaults;
}

export interface ReceivedMessage extends OutgoingMessage {
  readonly messageId: string;
  /** Of this delivery; the next one has another. */
  readonly receiptHandle: string;
  readonly sentAtMs: number;
  readonly firstReceivedAtMs: number;
  /** This delivery included. */
  readonly receiveCount: number;
}

export interface QueueCounts {
  readonly visible: number;
  /** Received, and neither deleted nor visible again; sent with a delay, too. */
  readonly hidden: number;
  readonly deadLetters: number;
}

interface StoredMessage extends OutgoingMessage {
  readonly messageId: string;
  readonly sentAtMs: number;
  firstReceivedAtMs?: number;
  visibleAtMs: number;
  receiveCount: number;
  receiptHandle?: string;
}

/**
 * A queue in memory with the semantics of an SQS standard queue: visibility timeout, redelivery, receive counts, dead
 * letters, and fairness between groups. For the local cloud, tests and simulation.
 */
export class MemoryQueue implements MessageQueue {
  readonly name: string;
  readonly visibilityTimeoutMs: number;
  readonly #options: MemoryQueueOptions;
  readonly #messages = new Set<StoredMessage>();
  readonly #deadLetters: DeadLetter[] = [];
  /** In which turn a group was last served. */
  readonly #servedTurns = new Map<string, number>();
  #turn = 0;

  constructor(options: MemoryQueueOptions) {
    assert(options.visibilityTimeoutMs > 0, `${options.name}: visibility timeout is not positive`);
    assert(options.receiveCountMax >= 1, `${options.name}: receiveCountMax is below 1`);
    this.name = options.name;
    this.visibilityTimeoutMs = options.visibilityTimeoutMs;
    this.#options = options;
  }

  async send(message: OutgoingMessage): Promise<void> {
    requireMessageBody(message.body, `queue ${this.name}`);
    const fault = this.#options.faults?.onSend?.(message);
    if (fault === 'throttled') throw this.#unavailable('message turned away');
    if (fault !== 'vanished') this.#store(message, typeof fault === 'object' ? fault.delayMs : 0);
    if (fault === 'doubled') this.#store(message, 0);
    if (fault === 'answer-lost') throw this.#unavailable('no answer to a message');
  }

  async extendVisibility(
    receiptHandle: string,
    visibilityMs: number,
  ): Promise<'extended' | 'gone'> {
    if (this.#options.faults?.onExtend?.(receiptHandle) === 'unavailable') {
      throw this.#unavailable('no answer to an extension');
    }
    const message = this.#inFlight(receiptHandle);
    if (message === undefined) return 'gone';
    message.visibleAtMs = this.#options.clock.nowMs() + visibilityMs;
    return 'extended';
  }

  async sendToDeadLetters(letter: DeadLetter): Promise<void> {
    if (this.#options.faults?.onDeadLetter?.(letter) === 'unavailable') {
      throw this.#unavailable('dead letter turned away');
    }
    this.#deadLetters.push(fittingLetter(letter));
  }

  /**
   * Delivers and hides up to `countMax` messages. Among those that are visible, groups with the fewest messages in
   * flight come first, then groups that have waited longest for a turn, then the oldest message.
   */
  receive({ countMax }: { readonly countMax: number }): ReceivedMessage[] {
    this.#buryExhausted();
    const received: ReceivedMessage[] = [];
    while (received.length < countMax) {
      const next = this.#fairest();
      if (next === undefined) break;
      received.push(this.#deliver(next));
    }
    return received;
  }

  /** Forgets a message that was delivered; without effect when it is not in flight under this receipt any more. */
  delete(receiptHandle: string): void {
    for (const message of this.#messages) {
      if (message.receiptHandle === receiptHandle) this.#messages.delete(message);
    }
  }

  counts(): QueueCounts {
    const visible = [...this.#messages].filter((message) => this.#isVisible(message)).length;
    return {
      visible,
      hidden: this.#messages.size - visible,
      deadLetters: this.#deadLetters.length,
    };
  }

  /** When the next message can be received, in the past where one can be already; undefined when there is none. */
  nextVisibleAtMs(): number | undefined {
    let nextMs: number | undefined;
    for (const { visibleAtMs } of this.#messages) {
      if (nextMs === undefined || visibleAtMs < nextMs) nextMs = visibleAtMs;
    }
    return nextMs;
  }

  /** Sent there, or received too often; oldest first. */
  deadLetters(): readonly DeadLetter[] {
    return this.#deadLetters;
  }

  #store({ body, groupId }: OutgoingMessage, delayMs: number): void {
    const { clock, random } = this.#options;
    const sentAtMs = clock.nowMs();
    const messageId = randomUuid(random);
    const visibleAtMs = sentAtMs + delayMs;
    this.#messages.add({ body, groupId, messageId, sentAtMs, visibleAtMs, receiveCount: 0 });
  }

  #isVisible(message: StoredMessage): boolean {
    return message.visibleAtMs <= this.#options.clock.nowMs();
  }

  #inFlight(receiptHandle: string): StoredMessage | undefined {
    return [...this.#messages].find(
      (message) => message.receiptHandle === receiptHandle && !this.#isVisible(message),
    );
  }

  #buryExhausted(): void {
    const { receiveCountMax } = this.#options;
    for (const message of this.#messages) {
      if (message.receiveCount < receiveCountMax || !this.#isVisible(message)) continue;
      const reason = `received ${message.receiveCount} times without success`;
      this.#messages.delete(message);
      this.#deadLetters.push({ body: message.body, groupId: message.groupId, reason });
    }
  }

  #fairest(): StoredMessage | undefined {
    const inFlightCounts = new Map<string, number>();
    const visible: StoredMessage[] = [];
    for (const message of this.#messages) {
      if (this.#isVisible(message)) visible.push(message);
      else if (message.receiptHandle !== undefined) {
        inFlightCounts.set(message.groupId, (inFlightCounts.get(message.groupId) ?? 0) + 1);
      }
    }
    const rank = ({ groupId, visibleAtMs }: StoredMessage): readonly number[] => [
      inFlightCounts.get(groupId) ?? 0,
      this.#servedTurns.get(groupId) ?? 0,
      visibleAtMs,
    ];
    let best: { readonly message: StoredMessage; readonly rank: readonly number[] } | undefined;
    for (const message of visible) {
      const candidate = { message, rank: rank(message) };
      if (best === undefined || isBefore(candidate.rank, best.rank)) best = candidate;
    }
    return best?.message;
  }

  #deliver(message: StoredMessage): ReceivedMessage {
    const { clock, random, faults } = this.#options;
    const nowMs = clock.nowMs();
    message.receiveCount++;
    message.firstReceivedAtMs ??= nowMs;
    message.receiptHandle = randomUuid(random);
    message.visibleAtMs = nowMs + this.visibilityTimeoutMs;
    this.#servedTurns.set(message.groupId, ++this.#turn);
    const { body, groupId, messageId, sentAtMs } = message;
    const { receiptHandle, receiveCount, firstReceivedAtMs } = message;
    const received = { body, groupId, messageId, sentAtMs, receiptHandle, receiveCount };
    const delivered = { ...received, firstReceivedAtMs };
    if (faults?.onDelivery?.(delivered) === 'doubled') {
      const { receiptHandle: _, ...copy } = message;
      this.#messages.add({ ...copy, visibleAtMs: nowMs });
    }
    return delivered;
  }

  #unavailable(problem: string): IcebergError {
    return new IcebergError('unavailable', `queue ${this.name}: ${problem}`);
  }
}

/** Whether the first different number is smaller. */
function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const index = one.findIndex((value, at) => value !== other[at]);
  return index >= 0 && one[index]! < other[index]!;
}
