import { type Clock, isIcebergError } from '../base/index.ts';
import type { MessageQueue } from './message-queue.ts';

export interface HeartbeatOptions {
  readonly queue: Pick<MessageQueue, 'extendVisibility'>;
  readonly receiptHandle: string;
  /** How long the message stays hidden after a beat, and did after it was received. */
  readonly visibilityMs: number;
  readonly clock: Clock;
}

/**
 * Keeps a message hidden while it is worked on, by the work itself: whoever makes progress says so, and nothing has
 * to run beside. A crash stops the beats, and the queue delivers the message again.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #extendedAtMs: number;
  #extension: Promise<HeartbeatState> | undefined;
  #isGone = false;

  /** Counts from now, which is a little after the message was received. */
  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#extendedAtMs = options.clock.nowMs();
  }

  /**
   * Hides the message for longer when a third of the time is over; no request most of the time. Never fails: a beat
   * that does not arrive is followed by others, and a message that is delivered again meets a busy lease.
   */
  async beat(): Promise<HeartbeatState> {
    const { visibilityMs, clock } = this.#options;
    if (this.#isGone) return 'gone';
    if (clock.nowMs() - this.#extendedAtMs < visibilityMs / 3) return 'hidden';
    this.#extension ??= this.#extend().finally(() => {
      this.#extension = undefined;
    });
    return this.#extension;
  }

  async #extend(): Promise<HeartbeatState> {
    const { queue, receiptHandle, visibilityMs, clock } = this.#options;
    const startMs = clock.nowMs();
    try {
      this.#isGone = (await queue.extendVisibility(receiptHandle, visibilityMs)) === 'gone';
    } catch (error) {
      if (!isIcebergError(error)) throw error;
      return 'failed';
    }
    if (this.#isGone) return 'gone';
    this.#extendedAtMs = startMs;
    return 'hidden';
  }
}

/** `gone`: others may have received the message; `failed`: the last beat did not arrive. */
export type HeartbeatState = 'hidden' | 'gone' | 'failed';
