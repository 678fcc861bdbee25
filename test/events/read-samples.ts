import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Sample {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

/** The samples of a contract such as `catalog-stream/v1`, in the folder `samples` or `samples/invalid`. */
export function readSamples(contract: string, folder: 'samples' | 'samples/invalid'): Sample[] {
  const path = join(import.meta.dirname, '../../events', contract, folder);
  return readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const text = readFileSync(join(path, name), 'utf8');
      return { name, text, value: JSON.parse(text) };
    });
}
