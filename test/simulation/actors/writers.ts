import type { ActorKind, Cue } from '../script.ts';
import { type ActorContext, commitTask } from './actor-context.ts';
import { changeSpec, deleteKeys, deleteRows, undelete, upgrade } from './delete-writers.ts';
import { changeRefs, publishBranch, rollBack } from './ref-writers.ts';
import {
  append,
  deleteByEquality,
  deleteByPosition,
  deleteFile,
  overwrite,
} from './row-writers.ts';
import { dropAndRecreate, registerAgain, renameAndBack } from './table-lives.ts';
import { evolve, expireSnapshots, setProperty, setSwitch } from './table-writers.ts';

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
  publisher: publishBranch,
  'property-setter': setProperty,
  'schema-evolver': evolve,
  expirer: (context) => expireSnapshots(context),
  burster: async (context) => {
    await append(context);
    await expireSnapshots(context, 1);
    await append(context);
  },
  dropper: dropAndRecreate,
  reregisterer: registerAgain,
  renamer: renameAndBack,
  switcher: setSwitch,
  'row-deleter': deleteRows,
  'key-deleter': deleteKeys,
  undeleter: undelete,
  'spec-changer': changeSpec,
  upgrader: upgrade,
};

/** Does its tasks one after the other, each when its cue has come up once more. */
export async function runWriter(
  kind: Exclude<ActorKind, 'firn'>,
  context: ActorContext,
): Promise<void> {
  const { taskCount, delayMs, cue } = context.script;
  for (let task = 0; task < taskCount; task++) {
    if (cue !== undefined) await waitFor(cue, task, context);
    await context.ports.clock.sleepMs(delayMs);
    await commitTask(context, () => TASKS[kind](context));
  }
}

const LOOKS_MAX = 300;
const LOOK_WAIT_MS = 200;

/** After so many looks, only stalls and leases are still waited for. */
const LOOKS_SOON = 40;
const LOOK_WAIT_MS_LATE = 1000;

async function waitFor(cue: Cue, count: number, { world, ports }: ActorContext): Promise<void> {
  for (let look = 0; look < LOOKS_MAX && world.cueCount(cue) <= count; look++) {
    await ports.clock.sleepMs(look < LOOKS_SOON ? LOOK_WAIT_MS : LOOK_WAIT_MS_LATE);
  }
}
