import { IcebergError } from '../base/index.ts';
import type { LeafValues } from '../parquet/index.ts';

/**
 * How definition levels of a file's column become those of the table's column. Both are built by walking the
 * same fields from the top; they differ where a field is optional in one and required in the other.
 *
 * `targets[d]` is the target level for a source entry that is defined up to level `d` only: it is null or an
 * empty list there. `undefined` means that the table does not allow such an entry.
 */
export interface LevelMap {
  readonly targets: readonly (number | undefined)[];
  /** Source level at which what has been walked so far is present. */
  readonly sourceLevel: number;
  /** Target level at which it is present. */
  readonly targetLevel: number;
}

export const TOP_LEVEL: LevelMap = { targets: [], sourceLevel: 0, targetLevel: 0 };

/** Walks down one field. */
export function descend(
  map: LevelMap,
  isOptional: { readonly source: boolean; readonly target: boolean },
): LevelMap {
  const { targets, sourceLevel, targetLevel } = map;
  const nullTarget = isOptional.target ? targetLevel : undefined;
  return {
    targets: isOptional.source ? [...targets, nullTarget] : targets,
    sourceLevel: sourceLevel + (isOptional.source ? 1 : 0),
    targetLevel: targetLevel + (isOptional.target ? 1 : 0),
  };
}

/** Walks into the entries of a list or map. */
export function descendRepeated({ targets, sourceLevel, targetLevel }: LevelMap): LevelMap {
  return {
    targets: [...targets, targetLevel],
    sourceLevel: sourceLevel + 1,
    targetLevel: targetLevel + 1,
  };
}

/** Whether every level stays what it is. */
export function isIdentity({ targets, sourceLevel, targetLevel }: LevelMap): boolean {
  return sourceLevel === targetLevel && targets.every((target, level) => target === level);
}

/**
 * Definition levels of the target; `undefined` where its greatest level is 0.
 *
 * @throws invalid-data — when an entry is null where the table requires a value
 */
export function mapDefinitionLevels(
  map: LevelMap,
  batch: LeafValues,
  subject: string,
): Uint8Array | undefined {
  const table = [...map.targets, map.targetLevel];
  const levels = new Uint8Array(batch.valueCount);
  for (let index = 0; index < batch.valueCount; index++) {
    const source = batch.definitionLevels?.[index] ?? 0;
    const target = table[Math.min(source, map.sourceLevel)];
    if (target === undefined) {
      throw new IcebergError('invalid-data', `${subject}: null in a required column`);
    }
    levels[index] = target;
  }
  return map.targetLevel === 0 ? undefined : levels;
}
