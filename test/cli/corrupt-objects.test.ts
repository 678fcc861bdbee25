import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compact } from '../../cli/commands/compact.ts';
import { inspect } from '../../cli/commands/inspect.ts';
import type { TableWriter } from '../../local/table-writer/index.ts';
import {
  type Answer,
  answerOf,
  createTable,
  LOWERED_GUARDS,
  type MemoryWarehouse,
  memoryWarehouse,
  smallFiles,
} from './command-fixture.ts';

/** The objects that a compaction reads, by what they are. */
interface TableObjects {
  readonly metadata: string;
  readonly manifestList: string;
  readonly manifest: string;
  readonly dataFile: string;
}

async function createObjects(
  warehouse: MemoryWarehouse,
): Promise<{ readonly writer: TableWriter; readonly objects: TableObjects }> {
  const writer = await createTable(warehouse, 'db.orders');
  const files = await writer.append(smallFiles(['eu', 'eu', 'eu', 'eu', 'eu']));
  const { metadata, metadataLocation } = await writer.load();
  const manifestList = metadata.snapshots[0]?.manifestList ?? '';
  return {
    writer,
    objects: {
      metadata: metadataLocation,
      manifestList,
      manifest: manifestList.replace(/snap-\d+-\d+-([^/]*)\.avro$/, '$1-m0.avro'),
      dataFile: files[2]!.dataFile.filePath,
    },
  };
}

function compactOrders(warehouse: MemoryWarehouse): Promise<Answer> {
  const request = {
    table: 'db.orders',
    branch: 'main',
    dryRun: false,
    optionTexts: [],
    guards: LOWERED_GUARDS,
  };
  return answerOf((session) => compact(request, session), warehouse);
}

function inspectOrders(warehouse: MemoryWarehouse): Promise<Answer> {
  return answerOf((session) => inspect('db.orders', { files: true }, session), warehouse);
}

const DAMAGES: readonly {
  readonly how: string;
  readonly damage: (bytes: Uint8Array) => Uint8Array;
  /** What is said besides the location. */
  readonly messages: Readonly<Record<keyof TableObjects, RegExp>>;
}[] = [
  {
    how: 'cut in half',
    damage: (bytes) => bytes.subarray(0, bytes.length >> 1),
    messages: {
      metadata: /not valid JSON: .* at position \d+/,
      manifestList: /length \d+, \d+ bytes remain/,
      manifest: /\d+ bytes, the manifest list says \d+/,
      dataFile: /range of \d+ bytes at offset \d+ exceeds length \d+/,
    },
  },
  {
    how: 'overwritten with zeros',
    damage: (bytes) => new Uint8Array(bytes.length),
    messages: {
      metadata: /not valid JSON/,
      manifestList: /not an avro file/,
      manifest: /not an avro file/,
      dataFile: /the closing magic is not PAR1/,
    },
  },
  {
    how: 'damaged near its end',
    damage: (bytes) =>
      bytes.map((byte, index) => (index === bytes.length - 8 ? byte ^ 0x55 : byte)),
    messages: {
      metadata: /not valid JSON: .* at position \d+/,
      manifestList: /a block does not end with the sync marker\n {2}offset: \d+/,
      manifest: /a block does not end with the sync marker\n {2}offset: \d+/,
      dataFile: /: footer: /,
    },
  },
];

describe('compact of a table with a corrupt object', () => {
  for (const { how, damage, messages } of DAMAGES) {
    for (const what of Object.keys(messages) as (keyof TableObjects)[]) {
      it(`names the ${what} that is ${how}, says where, and commits nothing`, async () => {
        const warehouse = memoryWarehouse();
        const { writer, objects } = await createObjects(warehouse);
        const { pointer } = await writer.load();
        const location = objects[what];
        const bytes = await warehouse.store.read(location, 1_000_000);
        await warehouse.store.write(location, damage(bytes));

        const { exitCode, errorText, lines } = await compactOrders(warehouse);

        assert.deepEqual([exitCode, lines], [1, []]);
        assert.match(errorText, /^error \(invalid-data\): /);
        assert.ok(errorText.includes(location), errorText);
        assert.match(errorText, messages[what]);
        assert.match(errorText, /nothing was committed\. Restore it, or let its writer write it/);
        assert.deepEqual(await warehouse.catalog.loadTable(pointer.identifier), pointer);
      });
    }
  }

  for (const what of ['metadata', 'manifestList', 'manifest', 'dataFile'] as const) {
    it(`names the ${what} that is missing`, async () => {
      const warehouse = memoryWarehouse();
      const { objects } = await createObjects(warehouse);
      await warehouse.store.delete([objects[what]]);

      const { exitCode, errorText } = await compactOrders(warehouse);

      assert.equal(exitCode, 1);
      assert.ok(errorText.startsWith(`error (not-found): ${objects[what]}: no such object`));
    });
  }
});

describe('compact of a table that Firn leaves alone', () => {
  for (const [what, change, message] of [
    ['of format version 4', ['"format-version":3', '"format-version":4'], /version 4 exceeds 3/],
    [
      'that is encrypted',
      ['"properties":{}', '"properties":{"encryption.key-id":"k"}'],
      /encrypted/,
    ],
  ] as const) {
    it(`${what} is refused`, async () => {
      const warehouse = memoryWarehouse();
      const writer = await createTable(warehouse, 'db.orders', { formatVersion: 3 });
      const { metadataLocation } = await writer.load();
      const text = new TextDecoder().decode(
        await warehouse.store.read(metadataLocation, 1_000_000),
      );
      const changed = new TextEncoder().encode(text.replace(change[0], change[1]));
      await warehouse.store.write(metadataLocation, changed);

      const { exitCode, errorText } = await compactOrders(warehouse);

      assert.equal(exitCode, 1);
      assert.match(errorText, /^error \(unsupported\): /);
      assert.match(errorText, message);
      assert.ok(errorText.includes(metadataLocation));
    });
  }

  it('with a malformed property ends with 1, naming key, value and what was expected', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders', {
      properties: { 'write.target-file-size-bytes': '512MB' },
    });
    await writer.append(smallFiles(['eu']));

    const { exitCode, errorText } = await compactOrders(warehouse);

    assert.equal(exitCode, 1);
    assert.match(
      errorText,
      /^error \(invalid-config\): table property write\.target-file-size-bytes: value 512MB is not an integer from 1 to \d+$/m,
    );
  });
});

describe('inspect of a table with a corrupt object', () => {
  for (const what of ['metadata', 'manifestList', 'manifest'] as const) {
    it(`names the ${what}`, async () => {
      const warehouse = memoryWarehouse();
      const { objects } = await createObjects(warehouse);
      const bytes = await warehouse.store.read(objects[what], 1_000_000);
      await warehouse.store.write(objects[what], bytes.subarray(0, bytes.length >> 1));

      const { exitCode, errorText } = await inspectOrders(warehouse);

      assert.equal(exitCode, 1);
      assert.ok(errorText.includes(objects[what]));
    });
  }

  it('reads no data file', async () => {
    const warehouse = memoryWarehouse();
    const { objects } = await createObjects(warehouse);
    await warehouse.store.delete([objects.dataFile]);

    assert.equal((await inspectOrders(warehouse)).exitCode, 0);
  });
});
