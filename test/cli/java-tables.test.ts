import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from '../../cli/commands/inspect.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { startTestCloud } from './cloud-fixture.ts';
import { answerOf } from './command-fixture.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/iceberg-java/tables');

/** Specs of every transform, but no data files. */
const WITHOUT_FILES = /-transforms$/;

function readDocument(path: string): JsonObject {
  const document = parseJson(readFileSync(path, 'utf8'), path);
  assert.ok(isJsonObject(document), path);
  return document;
}

function factsOf(name: string, metadataLocation: string): JsonObject {
  const file = metadataLocation.slice(metadataLocation.lastIndexOf('/') + 1);
  const { facts } = readDocument(join(FOLDER, name, 'metadata', `${file}.decoded.json`));
  assert.ok(isJsonObject(facts));
  return facts;
}

describe('inspect of tables that Iceberg Java wrote', () => {
  it('says of each what Java says', async (t) => {
    const cloud = await startTestCloud(t, () => undefined);
    for (const name of readdirSync(FOLDER)) {
      const { files, ...index } = readDocument(join(FOLDER, name, 'index.json'));
      const metadataLocation = String(index['metadata-location']);
      for (const location of Object.keys(files as JsonObject)) {
        const path = location.replace(`${String(index['location'])}/`, '');
        const bytes = new Uint8Array(readFileSync(join(FOLDER, name, path)));
        await cloud.warehouse.store.write(location, bytes);
      }
      const tableName = `golden.${name}`;
      await cloud.warehouse.catalog.registerTable(
        parseTableIdentifier(tableName),
        metadataLocation,
      );

      const { exitCode, document, errorText } = await answerOf(
        (session) => inspect(tableName, { files: true }, session),
        cloud.warehouse,
        { isJson: true },
      );
      const text = await answerOf(
        (session) => inspect(tableName, { files: true }, session),
        cloud.warehouse,
        { widthMax: 80 },
      );

      const facts = factsOf(name, metadataLocation);
      assert.deepEqual([name, exitCode, errorText], [name, 0, '']);
      assert.deepEqual([name, text.exitCode, text.errorText], [name, 0, '']);
      assert.equal(document?.['formatVersion'], facts['format-version']);
      assert.equal(document?.['tableUuid'], facts['table-uuid']);
      assert.equal(document?.['lastUpdatedMs'], facts['last-updated-ms']);
      const snapshot = document?.['currentSnapshot'] as JsonObject;
      assert.equal(snapshot['snapshotId'], String(facts['current-snapshot-id']));
      const summary = snapshot['summary'] as JsonObject;
      const survey = document?.['files'] as JsonObject;
      if (WITHOUT_FILES.test(name)) continue;
      assert.equal(String(survey['fileCount']), summary['total-data-files'], name);
    }
  });
});
