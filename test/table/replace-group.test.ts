import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DataFile } from '../../shared/iceberg/index.ts';
import { sumColumnCounts } from '../../shared/table/index.ts';

function file(
  valueCounts: readonly (readonly [number, number])[] | undefined,
  nullValueCounts: readonly (readonly [number, number])[] = [],
): DataFile {
  return {
    content: 'data',
    filePath: 'f',
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: 1,
    fileSizeBytes: 1,
    ...(valueCounts === undefined ? {} : { valueCounts: new Map(valueCounts) }),
    nullValueCounts: new Map(nullValueCounts),
    unknownFields: [],
  };
}

describe('sumColumnCounts', () => {
  it('sums what every file knows', () => {
    const counts = sumColumnCounts([
      file([[1, 10]], [[1, 2]]),
      file(
        [
          [1, 5],
          [2, 5],
        ],
        [[1, 1]],
      ),
    ]);

    assert.deepEqual([...counts.valueCounts], [[1, 15]]);
    assert.deepEqual([...counts.nullValueCounts], [[1, 3]]);
  });

  it('knows nothing when a file has no counts, or there are no files', () => {
    assert.deepEqual([...sumColumnCounts([file([[1, 1]]), file(undefined)]).valueCounts], []);
    assert.deepEqual([...sumColumnCounts([]).valueCounts], []);
  });

  it('leaves row ids out, whose nulls become values when they are written', () => {
    const rowId = 2147483540;

    const counts = sumColumnCounts([file([[rowId, 4]], [[rowId, 4]])]);

    assert.deepEqual([...counts.valueCounts, ...counts.nullValueCounts], []);
  });
});
