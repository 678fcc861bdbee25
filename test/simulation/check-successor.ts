import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../shared/base/index.ts';
import { long, type MetadataDocument } from './oracle.ts';
import { claim } from './violation.ts';

/** Keys that one commit to main moves; each is looked at by itself. */
const MOVED_KEYS: ReadonlySet<string> = new Set([
  'current-snapshot-id',
  'last-sequence-number',
  'last-updated-ms',
  'metadata-log',
  'next-row-id',
  'refs',
  'snapshot-log',
  'snapshots',
]);

const PREVIOUS_VERSIONS_MAX_DEFAULT = 100;

/**
 * The metadata is what it was, plus one snapshot on main: nothing of anybody is lost, and everything that moves moves as
 * one commit moves it.
 *
 * @returns the snapshot
 * @throws Violation
 */
export function checkSuccessor(before: MetadataDocument, after: MetadataDocument): bigint {
  const added = [...after.snapshots.keys()].filter((id) => !before.snapshots.has(id));
  const [snapshotId] = added;
  claim(
    added.length === 1 && snapshotId !== undefined,
    'Firn adds one snapshot',
    () => `${added.length} in ${after.location}`,
  );
  requireNothingLost(before, after);
  const snapshot = after.snapshots.get(snapshotId)!;
  requireSame('refs', after.json['refs'], withMain(before, snapshotId), after);
  requireSame('current-snapshot-id', after.currentSnapshotId, snapshotId, after);
  requireSame('parent', snapshot['parent-snapshot-id'], before.json['current-snapshot-id'], after);
  requireSame('schema-id', Number(snapshot['schema-id']), Number(before.currentSchemaId), after);
  requireSame('last-updated-ms', after.json['last-updated-ms'], snapshot['timestamp-ms'], after);
  claim(
    long(after.json['last-updated-ms']) >= long(before.json['last-updated-ms']),
    'time never goes back',
    () => after.location,
  );
  checkNumbers(before, after, snapshot);
  checkLogs(before, after, { snapshotId, snapshot });
  return snapshotId;
}

function requireNothingLost(before: MetadataDocument, after: MetadataDocument): void {
  for (const [snapshotId, snapshot] of before.snapshots) {
    claim(
      isDeepStrictEqual(after.snapshots.get(snapshotId), snapshot),
      'Firn keeps every snapshot',
      () => `snapshot ${snapshotId} in ${after.location}`,
    );
  }
  for (const key of Object.keys({ ...before.json, ...after.json })) {
    if (!MOVED_KEYS.has(key)) requireSame(key, after.json[key], before.json[key], after);
  }
}

function checkNumbers(
  { formatVersion, lastSequenceNumber, nextRowId }: MetadataDocument,
  after: MetadataDocument,
  snapshot: JsonObject,
): void {
  if (formatVersion > 1) {
    requireSame('last-sequence-number', after.lastSequenceNumber, lastSequenceNumber + 1n, after);
    const sequenceNumber = long(snapshot['sequence-number']);
    requireSame('sequence-number', sequenceNumber, lastSequenceNumber + 1n, after);
  }
  if (formatVersion < 3) return;
  requireSame('first-row-id', long(snapshot['first-row-id']), nextRowId, after);
  const end = nextRowId + long(snapshot['added-rows']);
  requireSame('next-row-id', after.nextRowId, end, after);
}

function checkLogs(
  before: MetadataDocument,
  after: MetadataDocument,
  { snapshotId, snapshot }: { readonly snapshotId: bigint; readonly snapshot: JsonObject },
): void {
  const moved = { 'timestamp-ms': snapshot['timestamp-ms'], 'snapshot-id': snapshotId };
  const snapshotLog = [...array(before.json['snapshot-log']), moved];
  requireSame('snapshot-log', after.json['snapshot-log'], snapshotLog, after);
  const properties = before.json['properties'] as JsonObject | undefined;
  const keptMax = Number(
    properties?.['write.metadata.previous-versions-max'] ?? PREVIOUS_VERSIONS_MAX_DEFAULT,
  );
  const previous = {
    'timestamp-ms': before.json['last-updated-ms'],
    'metadata-file': before.location,
  };
  const metadataLog = [...array(before.json['metadata-log']), previous].slice(-keptMax);
  requireSame('metadata-log', after.json['metadata-log'], metadataLog, after);
}

function withMain({ refs }: MetadataDocument, snapshotId: bigint): Record<string, JsonObject> {
  return Object.fromEntries(
    [...refs].map(([name, ref]) => [
      name,
      name === 'main' ? { ...ref, 'snapshot-id': snapshotId } : ref,
    ]),
  );
}

function requireSame(what: string, is: unknown, expected: unknown, after: MetadataDocument): void {
  claim(
    isDeepStrictEqual(plain(is), plain(expected)),
    'Firn changes nothing else of the metadata',
    () => `${what} is ${text(is)}, expected ${text(expected)} in ${after.location}`,
  );
}

/** Numbers of JSON are bigints where they are large. */
function plain(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

function text(value: unknown): string {
  const json = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part));
  return json ?? 'absent';
}

function array(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
