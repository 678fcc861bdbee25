import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { tableProperty } from '../../shared/iceberg/index.ts';
import { OPERATION_ROUTES } from '../../shared/routing/routes.ts';

const README = readFileSync(join(import.meta.dirname, '../../shared/routing/README.md'), 'utf8');

describe('the table of triggers', () => {
  it('has a row for each, with its property, default and unit', () => {
    const rows = [
      ...README.matchAll(/^\| `([\w-]+)` \| `(firn\.[\w.-]+)` \| ([\d,.]+) \| (\w+) \|/gm),
    ];

    const documented = rows.map(([, name, property, value = '', unit]) => ({
      name,
      property,
      default: Number(value.replaceAll(',', '')),
      unit,
    }));

    const expected = OPERATION_ROUTES.flatMap(({ triggers }) =>
      triggers.map(({ name, property, unit }) => ({
        name,
        property,
        default: Number(tableProperty({}, property)),
        unit,
      })),
    );
    assert.deepEqual(documented, expected);
  });
});
