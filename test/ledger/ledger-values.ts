import type { PointerWrite } from '../../shared/ledger/index.ts';

/** The pointer write of one attempt; its base is what the attempt before would have left. */
export function pointerWrite(attempt: number) {
  return {
    tableUuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1',
    baseMetadataLocation: `s3://w/metadata/${attempt - 1}.metadata.json`,
    baseVersion: `version-${attempt - 1}`,
    metadataLocation: `s3://w/metadata/${attempt}.metadata.json`,
    version: `version-${attempt}`,
    snapshotId: 9_007_199_254_740_993n,
  } as const satisfies PointerWrite;
}

export async function readAll<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}
