import { type JsonObject, parseJson } from '../../../shared/base/index.ts';
import { Violation } from '../violation.ts';
import type { World } from '../world.ts';

/** Whatever others do and whatever goes wrong, Firn finds its own proposals right and can read what is there. */
const NEVER_KINDS = ['invariant', 'invalid-data', 'unsupported', 'invalid-config', 'access-denied'];

/** Lines of events that nobody can understand are errors, too. */
const REFUSALS = ['event.refused', 'message.refused'];

/** Reads what functions say: counts it, and keeps what must never be said. */
export class FunctionLog {
  readonly #world: World;
  #failure: Violation | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** Where the lines of one invocation go. */
  of(actor: string, kind: string): { write(line: string): void } {
    return { write: (line) => this.#read(parseJson(line, actor) as JsonObject, kind, line) };
  }

  /** @throws Violation — when something was said that must never be */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #read(fields: JsonObject, kind: string, line: string): void {
    const event = String(fields['event']);
    const isMistake =
      fields['stack'] !== undefined ||
      (!REFUSALS.includes(event) && NEVER_KINDS.includes(String(fields['kind'])));
    if (isMistake) {
      this.#failure ??= new Violation('functions make no mistakes', `${kind}: ${line}`);
    }
    this.#count(event, kind, fields);
  }

  #count(event: string, kind: string, fields: JsonObject): void {
    const world = this.#world;
    switch (event) {
      case 'events.routed':
      case 'sweep.finished':
      case 'sweep.unfinished':
        for (const outcome of LOOK_OUTCOMES) {
          if (Number(fields[outcome] ?? 0) > 0) world.count(`looks, ${kind}: ${outcome}`);
        }
        if (Number(fields['sentCount'] ?? 0) > 0) world.count(`messages by ${kind}`);
        if (Number(fields['returnedCount'] ?? 0) > 0) world.count('records handed back');
        return;
      case 'operation.queued':
        world.count(`queued: ${String(fields['reason'])}`);
        return;
      case 'run.failed':
      case 'run.skipped':
        world.count(`${event}: ${String(fields['kind'])}`);
        return;
      case 'table.looked-at':
        world.count(`looks, run ended: ${String(fields['look'])}`);
        return;
      case 'commit.settled':
        world.count(String(fields['message']));
        return;
      default:
        world.count(event);
    }
  }
}

const LOOK_OUTCOMES = ['unchanged', 'rate-limited', 'looked', 'dropped', 'unreadable', 'failed'];
