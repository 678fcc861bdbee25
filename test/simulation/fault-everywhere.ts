import { FAULT_KINDS, type FaultPort } from './faults.ts';
import { type Case, FIRST_RUN, quietScript, SECOND_RUN } from './quiet-script.ts';
import { simulate } from './simulate.ts';

/** The version in which a commit writes most. */
const TABLE = { formatVersion: 3, seed: 103 } as const;

/** The first run's lease has expired, and a stall is not over: whoever comes then takes over. */
const TAKEN_OVER_MS = 200_000;

/**
 * Lets every call of a compaction meet every fault of its port, one by one; each time a second run begins when the lease
 * of the first has expired. `simulate` sees to the rest, as in `crashEverywhere`.
 */
export async function* faultEverywhere(): AsyncGenerator<Case> {
  const script = quietScript(TABLE.seed, TABLE.formatVersion);
  const { callCounts } = await simulate(script);
  const actors = [FIRST_RUN, { ...SECOND_RUN, delayMs: TAKEN_OVER_MS }];
  for (const [port, kinds] of Object.entries(FAULT_KINDS)) {
    const callCount = callCounts.get(`${FIRST_RUN.name} ${port}`) ?? 0;
    for (let nth = 0; nth < callCount; nth++) {
      for (const kind of kinds) {
        const faults = [{ actor: FIRST_RUN.name, port: port as FaultPort, kind, nth }];
        const outcome = await simulate({ ...script, actors, faults });
        yield { label: `${port} ${kind}, call ${nth} of ${callCount}`, outcome };
      }
    }
  }
}
