import type { FaultKind, FaultPort } from './faults.ts';
import type { Actor } from './scheduler.ts';
import type { World } from './world.ts';

/** Counts an actor's calls by port, and looks up which of them meet a fault. */
export class ActorFaults {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #callCounts = new Map<FaultPort, number>();

  constructor(actor: Actor, world: World) {
    this.#actor = actor;
    this.#world = world;
  }

  next<Port extends FaultPort>(port: Port): FaultKind<Port> | undefined {
    const nth = this.#callCounts.get(port) ?? 0;
    this.#callCounts.set(port, nth + 1);
    this.#world.callCounts.set(`${this.#actor.name} ${port}`, nth + 1);
    if (this.#world.isCalm) return undefined;
    const fault = this.#world.script.faults.find(
      (each) => each.actor === this.#actor.name && each.port === port && each.nth === nth,
    );
    if (fault === undefined) return undefined;
    this.#world.countFault(`${port} ${fault.kind}`, this.#actor.name);
    return fault.kind as FaultKind<Port>;
  }
}
