import { claim } from './violation.ts';

/** Sees every write and delete of an object; nothing that is there may change or go. */
export class ObjectWatch {
  readonly #bytes = new Map<string, Uint8Array>();

  written(location: string, bytes: Uint8Array, actor: string): void {
    const before = this.#bytes.get(location);
    claim(
      before === undefined || Buffer.compare(before, bytes) === 0,
      'objects never change',
      () => `${actor} writes other bytes to ${location}`,
    );
    this.#bytes.set(location, bytes.slice());
  }

  deleted(locations: readonly string[], actor: string): void {
    claim(locations.length === 0, 'commits delete nothing', () => `${actor} deletes ${locations}`);
  }
}
