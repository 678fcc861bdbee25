import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { maintenanceRequestSchema } from '../../events/maintenance-request/v1/schema.ts';

const SAMPLES = join(import.meta.dirname, '../../events/maintenance-request/v1/samples');

function readSamples(folder: string): { name: string; value: unknown }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ name, value: JSON.parse(readFileSync(join(folder, name), 'utf8')) }));
}

describe('maintenance-request v1', () => {
  for (const { name, value } of readSamples(SAMPLES)) {
    it(`accepts ${name} unchanged`, () => {
      assert.deepEqual(maintenanceRequestSchema.parse(value), value);
    });
  }

  for (const { name, value } of readSamples(join(SAMPLES, 'invalid'))) {
    it(`refuses ${name}`, () => {
      assert.equal(maintenanceRequestSchema.safeParse(value).success, false);
    });
  }
});
