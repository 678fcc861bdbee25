import { claim } from './violation.ts';

/** Sees every write and delete of an object; nothing that is there may change or go. */
export class ObjectWatch {
  readonly #bytes = new Map<string, Uint8Array>();
  readonly #writers = new Map<string, string>();

  written(location: string, bytes: Uint8Array, actor: string): void {
    const before = this.#bytes.get(location);
    claim(
      before === undefined || Buffer.compare(before, bytes) === 0,
      'objects never change',
      () => `${actor} writes other bytes to ${location}`,
    );
    this.#bytes.set(location, bytes.slice());
    this.#writers.set(location, actor);
  }

  /** Where each object is that actors of this kind wrote. */
  writtenBy(isWriter: (actor: string) => boolean): readonly string[] {
    return [...this.#writers].flatMap(([location, actor]) => (isWriter(actor) ? location : []));
  }

  deleted(locations: readonly string[], actor: string): void {
    claim(locations.length === 0, 'commits delete nothing', () => `${actor} deletes ${locations}`);
  }
}
