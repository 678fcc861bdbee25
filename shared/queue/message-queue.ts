/** What is sent: a body, and whose turn it counts as. */
export interface OutgoingMessage {
  /** Text, 256 KiB of UTF-8 at most. */
  readonly body: string;
  /** The table: messages of one group do not hold up those of others. No order is kept within it. */
  readonly groupId: string;
}

/** A message that nobody can do anything with, and why. */
export interface DeadLetter extends OutgoingMessage {
  /** For the person who reads it. */
  readonly reason: string;
}

/**
 * One queue as its users see it. Every message is delivered at least once: maybe twice, maybe late, in any order.
 * Receiving and deleting are not here: Lambda's event source mapping does both.
 */
export interface MessageQueue {
  /**
   * Puts a message into the queue. One that seems to have failed may have been put there all the same.
   *
   * @throws invalid-data — too long, or text that a queue does not take
   * @throws unavailable, access-denied, not-found, invalid-config
   */
  send(message: OutgoingMessage): Promise<void>;

  /**
   * Hides a message that is being worked on from other receivers, for `visibilityMs` from now on.
   *
   * @returns `gone` when it is not in flight any more under this receipt: it may have been delivered again
   * @throws unavailable, access-denied, not-found, invalid-config
   */
  extendVisibility(receiptHandle: string, visibilityMs: number): Promise<'extended' | 'gone'>;

  /**
   * Puts a letter into the queue of dead letters. Its body is made to fit: what is too long is cut, what a queue does
   * not take is replaced, and the reason says so.
   *
   * @throws unavailable, access-denied, not-found, invalid-config
   */
  sendToDeadLetters(letter: DeadLetter): Promise<void>;
}
