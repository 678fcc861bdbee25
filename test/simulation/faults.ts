const LEDGER_KINDS = [
  'unavailable',
  'conflict',
  'throttled',
  'lost-before',
  'lost-after',
  'late',
  'stall',
  'freeze',
] as const;

/**
 * What goes wrong in the simulation, by the port that it happens to:
 *
 * - `pointer`: a conditional write of the pointer or a fence; see `WriteFault` of the memory catalog. A `late` write
 *   lands, or is turned away, at any later time;
 * - `catalog`: a read of the pointer;
 * - `ledger`: a request for an item of the ledger; see the memory item store. A `late` write lands, or is turned away,
 *   at any later time;
 * - `run-record`: one of them that writes the record of a run, with its objects and intents: what settling stands on;
 * - `store`: any request for an object; see the memory object store. A `timeout` is a request that takes half a
 *   minute and fails.
 *
 * A `stall` holds the actor up, with its request not yet sent, for longer than a lease lasts: whoever comes meanwhile
 * takes its lease and settles its run. A `freeze` ends as soon as somebody has done so, while they are at work.
 *
 * Besides, a `crash` ends an actor between any two points of its calls, with what it had under way lost or late.
 */
export const FAULT_KINDS = {
  pointer: ['conflict', 'throttled', 'lost-before', 'lost-after', 'late', 'stall', 'freeze'],
  catalog: ['unavailable'],
  ledger: LEDGER_KINDS,
  'run-record': LEDGER_KINDS,
  store: [
    'unavailable-before',
    'unavailable-after',
    'answer-lost',
    'throttled',
    'timeout',
    'stall',
    'freeze',
  ],
} as const;

/** How long a stall lasts: longer than a lease, and than others take to notice. */
export const STALL_MS = 260_000;

export type FaultPort = keyof typeof FAULT_KINDS;
export type FaultKind<Port extends FaultPort = FaultPort> = (typeof FAULT_KINDS)[Port][number];

/** Meets the `nth` call, from 0, of an actor at a port. */
export interface Fault {
  readonly actor: string;
  readonly port: FaultPort;
  readonly kind: FaultKind;
  readonly nth: number;
}

/** Ends an actor instead of its turn number `turn`, from 0. */
export interface Crash {
  readonly actor: string;
  readonly turn: number;
  /** What becomes of requests that were sent and had not arrived. */
  readonly underWay: 'lost' | 'late';
}

/** Every fault of a port as the counts name it. */
export const FAULT_NAMES: readonly string[] = [
  ...Object.entries(FAULT_KINDS).flatMap(([port, kinds]) => kinds.map((kind) => `${port} ${kind}`)),
  'crash, requests lost',
  'crash, requests late',
];

export function crashName({ underWay }: Crash): string {
  return `crash, requests ${underWay}`;
}
