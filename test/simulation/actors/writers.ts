import type { ActorKind } from '../script.ts';
import { type ActorContext, commitTask } from './actor-context.ts';
import {
  append,
  deleteByEquality,
  deleteByPosition,
  deleteFile,
  overwrite,
} from './row-writers.ts';
import {
  changeRefs,
  dropAndRecreate,
  evolve,
  expireSnapshots,
  renameAndBack,
  rollBack,
  setProperty,
} from './table-writers.ts';

const TASKS: Readonly<
  Record<Exclude<ActorKind, 'firn'>, (context: ActorContext) => Promise<void>>
> = {
  appender: (context) => append(context),
  overwriter: overwrite,
  deleter: deleteFile,
  'equality-deleter': deleteByEquality,
  'position-deleter': deleteByPosition,
  'ref-writer': changeRefs,
  rollback: rollBack,
  'property-setter': setProperty,
  'schema-evolver': evolve,
  expirer: expireSnapshots,
  dropper: dropAndRecreate,
  renamer: renameAndBack,
};

/** Does its tasks one after the other. */
export async function runWriter(
  kind: Exclude<ActorKind, 'firn'>,
  context: ActorContext,
): Promise<void> {
  const { taskCount, delayMs } = context.script;
  for (let task = 0; task < taskCount; task++) {
    await context.ports.clock.sleepMs(delayMs);
    await commitTask(context, () => TASKS[kind](context));
  }
}
