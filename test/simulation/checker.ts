import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../shared/base/index.ts';
import type { FirnClaim } from './actors/firn.ts';
import { checkEntries } from './check-entries.ts';
import { checkSuccessor } from './check-successor.ts';
import { checkNothingInUse } from './check-tombstones.ts';
import { long, type MetadataDocument, Oracle } from './oracle.ts';
import type { PointerMove, PointerWatch } from './pointer-watch.ts';
import type { ActorKind } from './script.ts';
import { claim } from './violation.ts';
import { identifierOf, isFirn, LAST_RUN, type World } from './world.ts';

/** A commit of Firn that landed. */
export interface FirnCommit {
  readonly before: MetadataDocument;
  readonly after: MetadataDocument;
  readonly snapshotId: bigint;
  readonly oracle: Oracle;
  /** Counts one more of something worth knowing. */
  readonly count: (what: string) => void;
}

export interface CheckerOptions {
  /** The table's number; the first one, 0, where it is not given. */
  readonly table?: number;
  readonly checkCommit?: ((commit: FirnCommit) => Promise<void>) | undefined;
}

/**
 * What must hold after each change of a table's pointer, whoever made it:
 *
 * - a snapshot that was seen once keeps its manifest list, and so its rows, as long as it is retained: objects
 *   never change (`ObjectWatch`), and at the end all rows are read once more;
 * - a snapshot that is seen first can be read: every file is there, none is referenced twice, and no row id either;
 * - every ref names a retained snapshot;
 * - sequence numbers and row ids never fall;
 * - nothing that the table refers to is on the tombstone list, looked at after each change of that list, too.
 *
 * What must hold besides when it was Firn:
 *
 * - the rows of main are as they were, with their `_row_id` (the master invariant);
 * - the metadata is what the pointer named before, plus one `replace`: see `checkSuccessor`;
 * - what other engines skip files by is true: see `checkEntries`;
 * - what a run says of its commits is true, then and at the end, and it says `unknown` only if it cannot know.
 */
export class Checker {
  readonly #world: World;
  readonly #table: number;
  readonly #pointer: PointerWatch;
  readonly #checkCommit: CheckerOptions['checkCommit'];
  readonly #oracle: Oracle;
  /** By table, snapshot and schema. */
  readonly #rows = new Map<string, string>();
  readonly #manifestLists = new Map<string, JsonValue | undefined>();
  readonly #claims: { readonly run: string; readonly claim: FirnClaim }[] = [];
  readonly #landed = new Map<string, bigint[]>();
  readonly #seenLocations = new Set<string>();
  /** Snapshots of Firn that are gone because the table was set back to a metadata file from before. */
  readonly #undone = new Set<bigint>();
  #document: MetadataDocument | undefined;
  #tombstoneCount = 0;
  #highest: MetadataDocument | undefined;

  constructor(world: World, { table = 0, checkCommit }: CheckerOptions = {}) {
    this.#world = world;
    this.#table = table;
    this.#pointer = world.pointerOf(identifierOf(table));
    this.#checkCommit = checkCommit;
    this.#oracle = new Oracle(world.store);
  }

  get oracle(): Oracle {
    return this.#oracle;
  }

  /** Looks at what happened to the pointer since the last time. @throws Violation */
  async check(): Promise<void> {
    for (const move of this.#pointer.takeMoves()) {
      this.#world.note(`${move.mover} moved the pointer to ${nameOf(move.metadataLocation)}`);
      const { metadataLocation, metadataLocationBefore } = move;
      if (metadataLocation === metadataLocationBefore) continue;
      this.#document = undefined;
      if (metadataLocation === undefined) continue;
      const document = await this.#oracle.document(metadataLocation);
      this.#document = document;
      if (this.#seenLocations.has(metadataLocation)) this.#setBackTo(document);
      for (const location of [...document.logged, metadataLocation]) {
        this.#seenLocations.add(location);
      }
      await this.#checkDocument(document);
      await this.#checkMove(move, document);
      this.#tombstoneCount = 0;
    }
    await this.#checkTombstones();
  }

  /** Only when either side has changed. */
  async #checkTombstones(): Promise<void> {
    const { tombstones } = this.#world;
    if (tombstones.size === this.#tombstoneCount) return;
    this.#tombstoneCount = tombstones.size;
    if (this.#document === undefined) return;
    const inUse = await this.#oracle.objectsOf(this.#document);
    checkNothingInUse(inUse, [...tombstones.values()]);
  }

  /** Somebody undid what happened since, which is no commit of anybody. */
  #setBackTo(document: MetadataDocument): void {
    this.#highest = undefined;
    const isGone = (id: bigint): boolean => !document.snapshots.has(id);
    for (const snapshotId of [...this.#landed.values()].flat().filter(isGone)) {
      this.#undone.add(snapshotId);
      // A later attempt of the same run makes another snapshot of the id.
      const prefix = `${document.tableUuid} ${snapshotId}`;
      for (const known of [this.#rows, this.#manifestLists]) {
        for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
      }
    }
  }

  /** A run of Firn has ended. @throws Violation */
  async heard(run: string, said: FirnClaim): Promise<void> {
    this.#world.note(`${run} says ${describeClaim(said)}`);
    this.#world.count(`runs ended ${said.ended === 'well' ? said.outcome : said.kind}`);
    this.#claims.push({ run, claim: said });
    this.#checkClaims();
    if (said.ended === 'unknown' && said.kind === 'commit-state-unknown') {
      await this.#checkUnknown(run);
    }
  }

  /** When everything is over: all that was recorded still holds, read without anything remembered. @throws Violation */
  async checkAll(): Promise<void> {
    this.#checkClaims();
    const location = this.#pointer.metadataLocation;
    if (location === undefined) return;
    const fresh = new Oracle(this.#world.store);
    const document = await fresh.document(location);
    for (const snapshotId of document.snapshots.keys()) {
      const rows = await fresh.rowsOf(document, snapshotId);
      claim(
        rows === this.#rows.get(rowsKey(document, snapshotId)),
        'rows of a snapshot never change',
        () => `snapshot ${snapshotId}`,
      );
    }
  }

  async #checkDocument(document: MetadataDocument): Promise<void> {
    this.#checkNumbers(document);
    for (const [name, ref] of document.refs) {
      claim(
        document.snapshots.has(long(ref['snapshot-id'])),
        'every ref names a retained snapshot',
        () => `${name} in ${document.location}`,
      );
    }
    for (const [snapshotId, snapshot] of document.snapshots) {
      const key = rowsKey(document, snapshotId);
      const isKnown = this.#rows.has(key);
      if (!isKnown) this.#rows.set(key, await this.#oracle.rowsOf(document, snapshotId));
      const listKey = `${document.tableUuid} ${snapshotId}`;
      const manifestList = snapshot['manifest-list'];
      const known = this.#manifestLists.get(listKey) ?? manifestList;
      this.#manifestLists.set(listKey, known);
      claim(known === manifestList, 'snapshots never change', () => `snapshot ${snapshotId}`);
    }
  }

  #checkNumbers(document: MetadataDocument): void {
    const highest = this.#highest;
    if (highest?.tableUuid === document.tableUuid) {
      claim(
        document.lastSequenceNumber >= highest.lastSequenceNumber,
        'sequence numbers never fall',
        () => `${highest.lastSequenceNumber} to ${document.lastSequenceNumber}`,
      );
      claim(
        document.nextRowId >= highest.nextRowId,
        'row ids never fall',
        () => `${highest.nextRowId} to ${document.nextRowId}`,
      );
    }
    this.#highest = document;
  }

  async #checkMove(move: PointerMove, document: MetadataDocument): Promise<void> {
    if (!isFirn(move.mover)) return;
    this.#world.count(move.mover === LAST_RUN ? 'commits by firn at the end' : 'commits by firn');
    const beforeLocation = move.metadataLocationBefore;
    claim(beforeLocation !== undefined, 'Firn makes no table', () => document.location);
    const before = await this.#oracle.document(beforeLocation);
    claim(
      document.logged.at(-1) === before.location,
      'Firn builds on what the pointer names',
      () => `${document.location} follows ${document.logged.at(-1)}, not ${before.location}`,
    );
    const snapshotId = checkSuccessor(before, document);
    const landed = this.#landed.get(move.mover) ?? [];
    this.#landed.set(move.mover, [...landed, snapshotId]);
    this.#checkRows(before, document, snapshotId);
    await checkEntries(document, snapshotId, this.#oracle);
    const count = (what: string): void => this.#world.count(what);
    const oracle = this.#oracle;
    await this.#checkCommit?.({ before, after: document, snapshotId, oracle, count });
  }

  #checkRows(before: MetadataDocument, after: MetadataDocument, snapshotId: bigint): void {
    const { currentSnapshotId } = before;
    const summary = after.snapshots.get(snapshotId)?.['summary'] as JsonObject | undefined;
    claim(
      summary?.['operation'] === 'replace' && after.currentSnapshotId === snapshotId,
      'Firn replaces on main',
      () => `snapshot ${snapshotId}`,
    );
    claim(currentSnapshotId !== undefined, 'Firn replaces something', () => `${snapshotId}`);
    const then = this.#rows.get(rowsKey(before, currentSnapshotId)) ?? '';
    const now = this.#rows.get(rowsKey(after, snapshotId)) ?? '';
    claim(
      now === then || isWithNewRowIds(now, then),
      'Firn changes no row',
      () => `snapshot ${snapshotId}: ${firstDifference(now, then)}`,
    );
  }

  /**
   * As long as the base or the new file is in the log, a commit can be settled. Where the table was away for a while,
   * or settling met a fault of its own, it may look otherwise.
   */
  async #checkUnknown(run: string): Promise<void> {
    const { script, faultCounts } = this.#world;
    const update = this.#pointer.sent.get(run);
    const wasTableAway = script.actors.some(
      ({ kind, table = 0 }) => table === this.#table && AWAY_KINDS.includes(kind),
    );
    const location = this.#pointer.metadataLocation;
    if (update === undefined || location === undefined || wasTableAway) return;
    if ((faultCounts.get(run) ?? 0) > 1) return;
    const { logged } = await this.#oracle.document(location);
    const known = [...logged, location].find(
      (file) => file === update.metadataLocation || file === update.base.metadataLocation,
    );
    claim(known === undefined, 'Firn settles what can be settled', () => `${run}: ${known}`);
  }

  #checkClaims(): void {
    for (const { run, claim: said } of this.#claims) {
      if (said.ended === 'unknown') continue;
      const isStanding = (id: bigint): boolean => !this.#undone.has(id);
      const landed = (this.#landed.get(run) ?? []).filter(isStanding);
      const claimed = (said.ended === 'well' ? said.snapshotIds : []).filter(isStanding);
      claim(
        isDeepStrictEqual([...landed].sort(), [...claimed].sort()),
        'what Firn says of its commits is true',
        () => `${run} says ${describeClaim(said)}, but [${landed}] landed`,
      );
    }
  }
}

const AWAY_KINDS: readonly ActorKind[] = ['dropper', 'reregisterer', 'renamer'];

const NO_ROW_ID = 'null|null|';

/**
 * Whether the rows are the same, but that those without a row id have got one: the first commit to a table after its
 * upgrade to v3 gives them out.
 */
function isWithNewRowIds(now: string, then: string): boolean {
  const rows = then.split('\n');
  const unassigned = rows.filter((row) => row.startsWith(NO_ROW_ID));
  if (unassigned.length === 0) return false;
  const assigned = new Set(rows.filter((row) => !row.startsWith(NO_ROW_ID)));
  const fresh = now.split('\n').filter((row) => !assigned.has(row));
  const sameValues = isDeepStrictEqual(
    fresh.map(withoutRowId).sort(),
    unassigned.map(withoutRowId).sort(),
  );
  return sameValues && fresh.length + assigned.size === rows.length;
}

/** Without `_row_id` and `_last_updated_sequence_number`. */
function withoutRowId(row: string): string {
  return row.split('|').slice(2).join('|');
}

function firstDifference(now: string, then: string): string {
  const [nowRows, thenRows] = [now.split('\n'), then.split('\n')];
  const gained = nowRows.find((row) => !thenRows.includes(row));
  const lost = thenRows.find((row) => !nowRows.includes(row));
  return `${nowRows.length} rows, ${thenRows.length} before; gained ${gained}, lost ${lost}`;
}

/** The schema that the oracle reads a snapshot in is part of what it reads, and so are row ids. */
function rowsKey(document: MetadataDocument, snapshotId: bigint): string {
  const isCurrent = snapshotId === document.currentSnapshotId;
  const schemaId = isCurrent
    ? document.currentSchemaId
    : document.snapshots.get(snapshotId)?.['schema-id'];
  const hasRowIds = document.formatVersion >= 3;
  return `${document.tableUuid} ${snapshotId} ${schemaId} ${hasRowIds}`;
}

function nameOf(location: string | undefined): string {
  return location === undefined ? 'nothing' : location.slice(location.lastIndexOf('/') + 1);
}

function describeClaim(said: FirnClaim): string {
  if (said.ended === 'well') return `${said.outcome} [${said.snapshotIds}]`;
  return `${said.ended}: ${said.kind}`;
}
