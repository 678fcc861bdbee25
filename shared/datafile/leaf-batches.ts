import { assertNever } from '../base/index.ts';
import {
  type LeafValues,
  physicalWidthBytes,
  repeatPhysicalValue,
  type SchemaLeaf,
} from '../parquet/index.ts';
import { decodeRows, type LeafBatchContext, subjectOf } from './decode-rows.ts';
import { mapDefinitionLevels } from './level-map.ts';
import { lineageBatches } from './lineage-batches.ts';
import type { FilledLeaf, LeafSource } from './match-file.ts';

/** Rows made at once where nothing is read. */
const BATCH_ROWS = 20_000;

/**
 * The values of one column of the outputs for some rows of a row group, with the target's levels. Memory: as
 * `decodeColumnChunk`.
 *
 * @throws invalid-data, unsupported — as `decodeColumnChunk`, and where values or nulls do not fit the target
 */
export async function* leafBatches(
  source: LeafSource,
  context: LeafBatchContext,
): AsyncGenerator<LeafValues, void, undefined> {
  switch (source.kind) {
    case 'copy':
      yield* decodeRows(source.leaf, context);
      return;
    case 'convert':
      for await (const batch of decodeRows(source.leaf, context)) {
        yield convertBatch(source, batch, subjectOf(source.leaf, context));
      }
      return;
    case 'fill':
      yield* filledBatches(source, context);
      return;
    case 'lineage':
      yield* lineageBatches(source, context);
      return;
    default:
      assertNever(source, 'leaf source');
  }
}

function convertBatch(
  source: LeafSource & { readonly kind: 'convert' },
  batch: LeafValues,
  subject: string,
): LeafValues {
  const definitionLevels = mapDefinitionLevels(source.levels, batch, subject);
  const { repetitionLevels, valueCount } = batch;
  return {
    valueCount,
    ...(repetitionLevels && { repetitionLevels }),
    ...(definitionLevels && { definitionLevels }),
    values: source.convert === undefined ? batch.values : source.convert(batch.values, subject),
  };
}

async function* filledBatches(
  source: FilledLeaf,
  context: LeafBatchContext,
): AsyncGenerator<LeafValues, void, undefined> {
  const { shape } = source;
  const { target, rows } = context;
  if (shape === undefined) {
    for (let row = 0; row < rows.rowCount; row += BATCH_ROWS) {
      const rowCount = Math.min(BATCH_ROWS, rows.rowCount - row);
      const levels = new Uint8Array(rowCount);
      yield filledBatch(source, target, { repetition: levels, parents: levels, presentLevel: 0 });
    }
    return;
  }
  for await (const batch of decodeRows(shape.leaf, context)) {
    const levels = parentLevels(shape, batch, subjectOf(shape.leaf, context));
    yield filledBatch(source, target, { ...levels, presentLevel: shape.levels.targetLevel });
  }
}

interface ParentLevels {
  readonly repetition: Uint8Array;
  /** Definition levels of the target's enclosing struct. */
  readonly parents: Uint8Array;
}

/** Where the enclosing struct is present, by the levels of one of its columns in the file. */
function parentLevels(
  shape: NonNullable<FilledLeaf['shape']>,
  batch: LeafValues,
  subject: string,
): ParentLevels {
  const repetition = batch.repetitionLevels ?? new Uint8Array(batch.valueCount);
  const definition =
    mapDefinitionLevels(shape.levels, batch, subject) ?? new Uint8Array(batch.valueCount);
  const isOwn = (_: number, index: number) => repetition[index]! <= shape.repetitionLevel;
  return { repetition: repetition.filter(isOwn), parents: definition.filter(isOwn) };
}

/** Default or null in every struct that is present, and where it is not, what stands there. */
function filledBatch(
  source: FilledLeaf,
  target: SchemaLeaf,
  levels: ParentLevels & { readonly presentLevel: number },
): LeafValues {
  const { repetition, parents, presentLevel } = levels;
  const isPresent = (level: number) => level === presentLevel;
  const level = source.value === undefined ? presentLevel : target.maxDefinitionLevel;
  const definition = parents.map((parent) => (isPresent(parent) ? level : parent));
  const count = source.value === undefined ? 0 : parents.filter(isPresent).length;
  const widthBytes = physicalWidthBytes(target.element, target.path.join('.'));
  const kind = widthBytes === undefined ? 'byte-array' : 'fixed-width';
  return {
    valueCount: parents.length,
    ...(target.maxRepetitionLevel > 0 ? { repetitionLevels: repetition } : {}),
    ...(target.maxDefinitionLevel > 0 ? { definitionLevels: definition } : {}),
    values: repeatPhysicalValue(source.value ?? new Uint8Array(widthBytes ?? 0), count, kind),
  };
}
