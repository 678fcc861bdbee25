import type { JsonObject } from '../../shared/base/index.ts';
import { formatTableIdentifier } from '../../shared/catalog/index.ts';
import { DATA_FILE, MANIFEST_FILE } from '../support/slow-files.ts';
import { fileOf, isLive, type MetadataDocument, type Oracle } from './oracle.ts';
import type { Stage } from './scenario.ts';
import { claim } from './violation.ts';
import { IDENTIFIER, isFirn } from './world.ts';

/** What a run that only looks may leave in the ledger. */
const REPORT_PREFIXES: readonly string[] = ['report#', 'report-of#', 'skip#'];

/** As shipped: smaller groups are not worth a rewrite. */
const INPUT_FILES_MIN = 5;

/**
 * What must hold when Firn was not allowed to change anything: it sent no pointer write, wrote no object and took no
 * lease; and when something was due in the end, a report says what it would have done.
 *
 * @throws Violation
 */
export async function checkUntouched({ world, checker: { oracle } }: Stage): Promise<void> {
  const senders = world.pointer.senders().filter(isFirn);
  claim(senders.length === 0, 'Firn sends no pointer write', () => senders.join());
  const written = world.objects.writtenBy(isFirn);
  claim(written.length === 0, 'Firn writes no object', () => written.join());
  const items = world.items.snapshot(formatTableIdentifier(IDENTIFIER));
  const other = items.find(
    ({ sort }) => !REPORT_PREFIXES.some((prefix) => sort.startsWith(prefix)),
  );
  claim(other === undefined, 'the ledger has nothing but reports', () => String(other?.sort));
  const plans = items
    .filter(({ sort, body }) => sort.startsWith('report#') && body['outcome'] === 'observed')
    .map(({ body }) => (body['details'] as JsonObject)['plan'] as JsonObject);
  for (const plan of plans) {
    world.count('reports of an observed plan');
    await checkPlan(plan, oracle);
  }
  const { metadataLocation } = world.pointer;
  if (metadataLocation === undefined) return;
  const document = await oracle.document(metadataLocation);
  claim(
    plans.length > 0 || !(await isDue(document, oracle)),
    'reports say what would have been done',
    () => `no plan is reported of ${metadataLocation}`,
  );
}

/** What it would have replaced were live files of one partition, all of them there. */
async function checkPlan(plan: JsonObject, oracle: Oracle): Promise<void> {
  const document = await oracle.document(String(plan['metadataLocation']));
  const snapshotId = BigInt(String(plan['startingSnapshotId']));
  const live = await dataFilesByPlace(document, snapshotId, oracle);
  const groups = plan['groups'] as readonly JsonObject[];
  claim(groups.length > 0, 'a reported plan has groups', () => document.location);
  for (const { files } of groups as readonly { readonly files?: readonly JsonObject[] }[]) {
    const paths = (files ?? []).map(({ filePath }) => String(filePath));
    const place = live.find((known) => paths.every((path) => known.includes(path)));
    claim(
      paths.length > 0 && place !== undefined,
      'a reported plan names live files of one partition',
      () => `${paths.length} files of ${document.location}: ${paths}`,
    );
  }
}

/** All files here are small, and old in the end. What is due of files with deletes, this does not know. */
async function isDue(document: MetadataDocument, oracle: Oracle): Promise<boolean> {
  const { currentSnapshotId } = document;
  if (currentSnapshotId === undefined) return false;
  const manifests = await oracle.manifestsOf(document, currentSnapshotId);
  const files = manifests.flatMap(({ entries }) => entries.filter(isLive).map(fileOf));
  if (files.some((file) => Number(file[DATA_FILE.content] ?? 0) !== 0)) return false;
  const places = await dataFilesByPlace(document, currentSnapshotId, oracle);
  return places.some((paths) => paths.length >= INPUT_FILES_MIN);
}

/** Paths of live data files, by spec and partition. */
async function dataFilesByPlace(
  document: MetadataDocument,
  snapshotId: bigint,
  oracle: Oracle,
): Promise<readonly (readonly string[])[]> {
  const places = new Map<string, string[]>();
  for (const { listed, entries } of await oracle.manifestsOf(document, snapshotId)) {
    for (const file of entries.filter(isLive).map(fileOf)) {
      if (Number(file[DATA_FILE.content] ?? 0) !== 0) continue;
      const values = Object.values(file[DATA_FILE.partition] as JsonObject);
      const place = `${String(listed[MANIFEST_FILE.partitionSpecId])} ${values.join()}`;
      places.set(place, [...(places.get(place) ?? []), String(file[DATA_FILE.filePath])]);
    }
  }
  return [...places.values()];
}
