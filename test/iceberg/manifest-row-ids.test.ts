import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignFirstRowIds, type ManifestFile } from '../../shared/iceberg/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { manifestFile } from './manifest-builders.ts';

/** The example of the spec, "Row lineage example". */
const SPEC_EXAMPLE: readonly ManifestFile[] = [
  rows('existing', 75, 0, 925n),
  rows('added1', 100, 25),
  rows('added2', 0, 100),
  rows('added3', 125, 25),
];

test("assigns the ids of the spec's example", () => {
  const { manifests, addedRows } = assignFirstRowIds(SPEC_EXAMPLE, 1000n);

  assert.deepEqual(
    manifests.map(({ firstRowId }) => firstRowId),
    [925n, 1000n, 1125n, 1225n],
  );
  assert.equal(addedRows, 375n);
});

test('advances by exactly the rows without ids where they are known', () => {
  const counts = new Map([
    ['added1', 100],
    ['added2', 0],
  ]);

  const { manifests, addedRows } = assignFirstRowIds(SPEC_EXAMPLE, 1000n, counts);

  assert.deepEqual(
    manifests.map(({ firstRowId }) => firstRowId),
    [925n, 1000n, 1100n, 1100n],
  );
  assert.equal(addedRows, 250n);
});

test('leaves delete manifests without an id', () => {
  const deletes = manifestFile({ content: 'deletes' });

  assert.deepEqual(assignFirstRowIds([deletes], 5n), { manifests: [deletes], addedRows: 0n });
});

test('does not support a manifest without row counts', () => {
  const { addedRowsCount: _count, ...manifest } = manifestFile();

  assert.throws(() => assignFirstRowIds([manifest], 0n), errorOfKind('unsupported'));
});

function rows(
  manifestPath: string,
  addedRowsCount: number,
  existingRowsCount: number,
  firstRowId?: bigint,
): ManifestFile {
  const manifest = manifestFile({ manifestPath, addedRowsCount, existingRowsCount });
  return firstRowId === undefined ? manifest : { ...manifest, firstRowId };
}
