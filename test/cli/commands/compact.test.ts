import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CompactRequest, compact } from '../../../cli/commands/compact.ts';
import { deleteFileOf } from '../../../local/table-writer/index.ts';
import type { JsonObject } from '../../../shared/base/index.ts';
import { snapshotOfRef } from '../../../shared/iceberg/index.ts';
import type { Warehouse } from '../../../shared/warehouse/index.ts';
import { positionDeleteFile } from '../../deletes/delete-files-fixture.ts';
import {
  type Answer,
  answerOf,
  createTable,
  LOWERED_GUARDS,
  memoryWarehouse,
  smallFiles,
} from '../command-fixture.ts';

const TEN_FILES = ['eu', 'us', 'eu', 'us', 'eu', 'us', 'eu', 'us', 'eu', 'us'];

function runCompact(
  warehouse: Warehouse,
  request: Partial<CompactRequest> = {},
  options: Parameters<typeof answerOf>[2] = {},
): Promise<Answer> {
  return answerOf(
    (session) =>
      compact(
        {
          table: 'db.orders',
          branch: 'main',
          dryRun: false,
          optionTexts: [],
          guards: LOWERED_GUARDS,
          ...request,
        },
        session,
      ),
    warehouse,
    options,
  );
}

describe('compact --dry-run', () => {
  it('prints the plan, the reasons for what is taken and left, and a price', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles([...TEN_FILES, 'ap', null]));
    const { currentSnapshotId } = (await writer.load()).metadata;

    const { exitCode, lines } = await runCompact(warehouse, { dryRun: true });

    assert.equal(exitCode, 0);
    assert.deepEqual(lines, [
      `db.orders: 12 data files, 4.8 KiB in snapshot ${currentSnapshotId} of main`,
      'looked at: the whole table, as a person asked',
      'wanted: files of 384 MiB to 922 MiB, target 512 MiB',
      'to rewrite: 10 files, 4.0 KiB, in 2 groups',
      '  partition  files    bytes  new files  why',
      '  region=eu      5  2.0 KiB          1  5 files or more',
      '  region=us      5  2.0 KiB          1  5 files or more',
      'left alone',
      '  files  bytes  why',
      '      2  781 B  fewer than 5 files in their partition',
      '',
      'estimated price on AWS: $0.000097, at list prices of us-east-1 as of 2025-06',
      '  item      quantity                    price',
      '  s3-get    21 GET and HEAD         $0.000008',
      '  s3-put    6 PUT                   $0.000030',
      '  dynamodb  8 read, 14 write units  $0.000010',
      '  lambda    3.6 GiB-seconds         $0.000049',
      '',
      'dry run: nothing was written',
      'took 0 ms',
    ]);
  });

  it('changes nothing', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));
    const before = (await writer.load()).pointer;

    await runCompact(warehouse, { dryRun: true });

    assert.deepEqual((await writer.load()).pointer, before);
  });

  it('sums up a plan of more than twenty groups', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    const regions = Array.from({ length: 46 }, (_, index) => `r${index % 23}`);
    await writer.append(smallFiles(regions));

    const { lines } = await runCompact(warehouse, {
      dryRun: true,
      optionTexts: ['min-input-files=2'],
    });

    assert.equal(lines.filter((line) => line.startsWith('  region=')).length, 20);
    assert.ok(lines.includes('  and 3 groups more (all with --json)'));
  });

  it('keeps tables within the terminal, and shows no control character', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    const name = `\u001b[31m${'x'.repeat(200)}`;
    await writer.append(smallFiles([name, name, name, name, name]));

    const { lines } = await runCompact(warehouse, { dryRun: true }, { widthMax: 80 });

    const row = lines.find((line) => line.startsWith('  region='));
    assert.match(row ?? '', /^ {2}region=%1B%5B31mx+…x+ {2,}5 /);
    for (const line of lines) {
      assert.ok(line.length <= 80 || !line.startsWith('  '), line);
      assert.doesNotMatch(line, /\p{Cc}/u);
    }
  });

  it('says which groups have delete files, and which of them it cannot apply', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    const files = await writer.append(smallFiles([...TEN_FILES, 'eu']));
    const [one, , two] = files;
    const rows = [{ path: one!.dataFile.filePath, position: 1 }];
    const deletes = await positionDeleteFile(warehouse, one!, rows);
    const avro = deleteFileOf(two!, 'position-deletes', {
      fileFormat: 'AVRO',
      referencedDataFile: two!.dataFile.filePath,
    });
    await writer.commit({ operation: 'delete', addedManifests: [[deletes, avro]] });

    const { lines } = await runCompact(warehouse, { dryRun: true });

    const start = lines.findIndex((line) => line.startsWith('  partition'));
    assert.deepEqual(
      lines.slice(start, start + 6).map((line) => line.replace(/ [\d.]+ (Ki)?B/, ' # B')),
      [
        '  partition  files    bytes  delete files  new files  why',
        '  region=eu      5  # B             1          1  5 files or more',
        '  region=us      5  # B             0          1  5 files or more',
        'left alone',
        '  files  bytes  why',
        '      1  # B  rows are deleted of them by files that are not Parquet',
      ],
    );
  });

  it('with --json gives the plan and the estimate, ids as strings', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));
    const { metadata, metadataLocation } = await writer.load();

    const { exitCode, document, lines } = await runCompact(
      warehouse,
      { dryRun: true },
      { isJson: true },
    );

    assert.deepEqual([exitCode, lines], [0, []]);
    const { plan, estimate, before, ...rest } = document as {
      readonly plan: JsonObject & { readonly groups: readonly { readonly files: JsonObject[] }[] };
      readonly estimate: JsonObject;
      readonly before: JsonObject;
    };
    assert.deepEqual(Object.keys(rest).sort(), [
      'outcome',
      'requests',
      'table',
      'verdicts',
      'warnings',
    ]);
    assert.equal(before['fileCount'], 10);
    assert.equal(plan['startingSnapshotId'], String(metadata.currentSnapshotId));
    assert.equal(plan['startingSequenceNumber'], '1');
    assert.equal(plan['metadataLocation'], metadataLocation);
    assert.deepEqual(
      plan.groups.map((group) => group.files.length),
      [5, 5],
    );
    assert.equal(plan.groups[0]?.files[0]?.['dataSequenceNumber'], '1');
    assert.equal(plan.groups[0]?.files[0]?.['reason'], 'too-small');
    assert.deepEqual(Object.keys(estimate), ['dollars', 'region', 'pricesAsOf', 'lines']);
  });
});

describe('compact', () => {
  for (const formatVersion of [1, 2, 3] as const) {
    it(`commits a v${formatVersion} table, says what became of it, and ends with 3 the next time`, async () => {
      const warehouse = memoryWarehouse();
      const writer = await createTable(warehouse, 'db.orders', { formatVersion });
      await writer.append(smallFiles(TEN_FILES));

      const first = await runCompact(warehouse);
      const second = await runCompact(warehouse);

      const snapshot = snapshotOfRef((await writer.load()).metadata);
      assert.equal(snapshot?.summary['total-data-files'], '2');
      assert.deepEqual([first.exitCode, second.exitCode], [0, 3]);
      assert.deepEqual(
        [`db.orders: committed snapshot ${snapshot?.snapshotId} with 2 groups`, 'took 0 ms'].map(
          (line) => first.lines.includes(line),
        ),
        [true, true],
      );
      assert.ok(
        first.lines.some((line) => /^files 10 -> 2, bytes .*, row groups 10 -> 10$/.test(line)),
      );
      assert.ok(first.lines.some((line) => /^requests: .*; nothing was deleted$/.test(line)));
      assert.ok(second.lines.includes('to rewrite: nothing'));
      assert.ok(second.lines.includes('db.orders: nothing to do'));
    });
  }

  it('with --json says what was committed, ids as strings', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));

    const { exitCode, document } = await runCompact(warehouse, {}, { isJson: true });

    const { metadata, metadataLocation } = await writer.load();
    assert.equal(exitCode, 0);
    assert.equal(document?.['outcome'], 'committed');
    assert.equal(document?.['table'], 'db.orders');
    assert.deepEqual(document?.['commits'], [
      {
        metadataLocation,
        attemptCount: 1,
        snapshotId: String(metadata.currentSnapshotId),
        groupIndexes: [0, 1],
        deletes: {
          carriedOverCount: 0,
          addedCount: 0,
          addedRowCount: 0,
          removedCount: 0,
          removedRowCount: 0,
        },
        // All but those of v3 and of tables with deletes, and the one that `firn.verify=rows` asks for.
        invariants: [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 18, 19, 20],
      },
    ]);
    assert.equal('estimate' in (document ?? {}), false);
  });

  it('says what became of deletes', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    const [one] = await writer.append(smallFiles(TEN_FILES));
    const rows = [{ path: one!.dataFile.filePath, position: 1 }];
    const deletes = await positionDeleteFile(warehouse, one!, rows);
    await writer.commit({ operation: 'delete', addedManifests: [[deletes]] });

    const { lines, exitCode } = await runCompact(warehouse);

    assert.equal(exitCode, 0);
    assert.ok(
      lines.includes('deletes: 1 file applied, 1 deleted row left out, 0 kept and deleted anew'),
      lines.join('\n'),
    );
    assert.ok(lines.includes('delete files: 1 removed, 0 added, their rows 1 -> 0'));
  });

  it('tells how far it is', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));

    const { progress } = await runCompact(warehouse);

    assert.deepEqual(
      progress.map((line) => line.replace(/[\d.]+ KiB/, '# KiB').replace(/\d{10,}/, '#')),
      [
        'db.orders: reading metadata',
        'db.orders: reading manifests',
        'db.orders: planned 2 groups, # KiB',
        'db.orders: rewrote group 1 of 2',
        'db.orders: rewrote 2 groups, verifying and committing',
        'db.orders: committed snapshot #',
      ],
    );
  });

  it('has nothing to do in a table without a snapshot', async () => {
    const warehouse = memoryWarehouse();
    await createTable(warehouse, 'db.orders');

    const { exitCode, lines } = await runCompact(warehouse);

    assert.equal(exitCode, 3);
    assert.deepEqual(lines, ['db.orders: nothing to do, it has no snapshot', 'took 0 ms']);
  });

  it('skips a table whose files are named by a class', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));
    await writer.setProperties({ 'write.location-provider.impl': 'com.example.Provider' });

    const { exitCode, lines } = await runCompact(warehouse);

    assert.equal(exitCode, 3);
    assert.match(lines[0] ?? '', /skipped, its files are named by .* \(com\.example\.Provider\)$/);
  });

  it('is permission, and says so where the table forbids maintenance', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders', {
      properties: { 'firn.enabled': 'false' },
    });
    await writer.append(smallFiles(TEN_FILES));

    const { exitCode, lines } = await runCompact(warehouse);

    assert.equal(exitCode, 0);
    assert.equal(
      lines[0],
      'note: the table has firn.enabled=false; this call was permission for this run only',
    );
  });

  it('warns of properties that do nothing', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders', {
      properties: { 'firn.enable': 'true', 'write.format.default': 'csv' },
    });
    await writer.append(smallFiles(TEN_FILES));

    const { lines, document } = await runCompact(warehouse, { dryRun: true });
    const json = await runCompact(warehouse, { dryRun: true }, { isJson: true });

    const warnings = [
      'table property firn.enable is not known to Firn',
      'table property write.format.default: value csv is not one of parquet, avro, orc',
    ];
    assert.deepEqual(
      lines.slice(0, 2),
      warnings.map((warning) => `warning: ${warning}`),
    );
    assert.equal(document, undefined);
    assert.deepEqual(json.document?.['warnings'], warnings);
  });

  it('fails when a group fails, and tells which and why', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    const files = await writer.append(smallFiles(TEN_FILES));
    const broken = files.find((file) => file.dataFile.partition[0] === 'eu')!.dataFile;
    await warehouse.store.write(broken.filePath, new Uint8Array(broken.fileSizeBytes));

    const { exitCode, lines } = await runCompact(warehouse, {
      optionTexts: ['partial-progress.enabled=true'],
    });

    assert.equal(exitCode, 1);
    const start = lines.indexOf('not committed: 1 group');
    assert.match(lines[start + 1] ?? '', /^ {2}region=eu, 5 files: .*\(invalid-data\)$/);
    assert.ok(lines[start + 1]?.includes(broken.filePath));
    assert.ok(lines.some((line) => line.startsWith('db.orders: committed snapshot')));
  });
});

describe('compact of a table that others may be working on', () => {
  it('leaves young files alone, and says until when and what would take them', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));

    const { exitCode, lines } = await runCompact(warehouse, { guards: {} });

    assert.equal(exitCode, 3);
    assert.ok(
      lines.some((line) => /^ +10 .* written so lately that other jobs may be/.test(line)),
      lines.join('\n'),
    );
    assert.ok(
      lines.includes(
        'the first young file may be rewritten at 2026-11-30 14:00:00Z, or now with --min-file-age-ms 0',
      ),
    );
  });

  it('is held back, says by what and until when, and ends with 3', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));
    await writer.addRef('audit', 'branch');
    await writer.append(smallFiles(['eu']), 'audit');
    const head = (await writer.load()).metadata.currentSnapshotId;

    const { exitCode, lines } = await runCompact(warehouse, { guards: { minFileAgeMs: 0 } });

    assert.equal(exitCode, 3);
    assert.ok(lines.includes('db.orders: held back, nothing was written'));
    assert.ok(
      lines.includes(
        'held back: branch audit could not be published after a commit to main, which waits for at most 86400 s; until 2026-12-01 12:00:00Z, or with --wap-wait-ms 0',
      ),
      lines.join('\n'),
    );
    assert.equal((await writer.load()).metadata.currentSnapshotId, head);
  });

  it('goes on where a person lowers the rule, and names what it went past', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(TEN_FILES));
    await writer.addRef('audit', 'branch');
    await writer.append(smallFiles(['eu']), 'audit');

    const { exitCode, lines } = await runCompact(warehouse);

    assert.equal(exitCode, 0);
    assert.ok(lines.some((line) => line.startsWith('note: branch audit cannot be published by')));
  });
});

describe('compact asked for what it does not do', () => {
  for (const [what, request, exitCode, message] of [
    ['an option without a value', { optionTexts: ['x'] }, 2, /option x: is not of the form/],
    ['an option given twice', { optionTexts: ['a=1', 'a=2'] }, 2, /option a: is given twice/],
    [
      'unknown options, all named',
      { optionTexts: ['zebra=1', 'min-input-files=2', 'ant=2'] },
      2,
      /unknown options ant, zebra$/m,
    ],
    [
      'a malformed value, named with what was expected',
      { optionTexts: ['min-input-files=many'] },
      2,
      /option min-input-files: 'many' is not a whole number/,
    ],
    ['a branch that is not there', { branch: 'audit' }, 2, /db\.orders: audit is no branch/],
    ['a name without namespace', { table: 'orders' }, 2, /"orders": has no namespace/],
    ['a strategy', { optionTexts: ['strategy=sort'] }, 1, /sort is not offered, only binpack/],
    ['a table that is not there', { table: 'db.none' }, 1, /has no table db\.none/],
  ] as const) {
    it(`${what}: ends with ${exitCode}`, async () => {
      const warehouse = memoryWarehouse();
      const writer = await createTable(warehouse, 'db.orders');
      await writer.append(smallFiles(TEN_FILES));

      const answer = await runCompact(warehouse, request);

      assert.equal(answer.exitCode, exitCode);
      assert.deepEqual(answer.lines, []);
      assert.match(answer.errorText, message);
    });
  }
});
