import type { DeadLetter, MessageQueue, OutgoingMessage } from '../../../shared/queue/index.ts';
import type { Actor } from '../scheduler.ts';
import type { World } from '../world.ts';

/** A queue as one actor has it: each request waits for its turns. */
export class SimulatedQueue implements MessageQueue {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #queue: MessageQueue;

  constructor(actor: Actor, world: World, queue: MessageQueue) {
    this.#actor = actor;
    this.#world = world;
    this.#queue = queue;
  }

  send(message: OutgoingMessage): Promise<void> {
    return this.#call('send message', () => {
      this.#world.count('messages sent');
      return this.#queue.send(message);
    });
  }

  extendVisibility(receiptHandle: string, visibilityMs: number): Promise<'extended' | 'gone'> {
    return this.#call('hide message', async () => {
      const answer = await this.#queue.extendVisibility(receiptHandle, visibilityMs);
      this.#world.count(`heartbeats, message ${answer}`);
      return answer;
    });
  }

  sendToDeadLetters(letter: DeadLetter): Promise<void> {
    return this.#call('send letter', () => this.#queue.sendToDeadLetters(letter));
  }

  #call<Answer>(label: string, effect: () => Promise<Answer>): Promise<Answer> {
    return this.#world.scheduler.call(this.#actor, label, effect);
  }
}
