import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outcomeFields } from '../../../functions/rewrite-data-files/outcome-fields.ts';
import { compact } from '../../operations/rewrite-data-files/compact-deletes.ts';
import {
  append,
  commitDeletes,
  createWarehouse,
  vectors,
} from '../../operations/rewrite-deletes/deletes-fixture.ts';

describe('outcomeFields', () => {
  it('say what became of deletes', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    for (let index = 0; index < 4; index++) await append(warehouse, index * 100);
    const one = await append(warehouse, 500);
    const two = await append(warehouse, 600, 'eu', 30);
    const deletes = await vectors(warehouse, [
      { file: one, positions: [0, 1, 2] },
      { file: two, positions: [7] },
    ]);
    await commitDeletes(warehouse, deletes);

    const { fields } = outcomeFields(await compact(warehouse));

    const names = [
      'deleteRowCountBefore',
      'deleteRowCountAfter',
      'appliedDeleteFileCount',
      'purgedRowCount',
      'carriedRowCount',
      'carriedOverRowCount',
      'addedDeleteFileCount',
      'removedDeleteFileCount',
    ];
    assert.deepEqual(
      names.map((name) => fields[name]),
      [4, 1, 2, 3, 1, 0, 1, 2],
    );
  });
});
