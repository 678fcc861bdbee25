import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { pointerWrite, readAll } from '../ledger-values.ts';
import { LEASE_MS, type LedgerUnderTest } from './subject.ts';

export function testRuns(subject: LedgerUnderTest): void {
  const { clock, openRun, requireLease, requireRun } = subject;

  describe('runs', () => {
    test("an open run has the lease's owner for its id, and is found until it is closed", async () => {
      const { lease, run } = await openRun('run.open');

      assert.equal(run.runId, lease.owner);
      assert.deepEqual((await requireRun('run.open', lease.owner)).record, {
        runId: lease.owner,
        table: 'run.open',
        operation: 'rewrite-data-files',
        leaseScope: 'rewrite',
        fencingNumber: 1,
        openedAtMs: clock.nowMs(),
        status: 'open',
        objects: [],
        objectLists: [],
        intents: [],
      });
      const listed = await subject.harness.other.runs.listOpen('run.open');
      assert.deepEqual(
        listed.map(({ run: { runId }, isAbandoned }) => ({ runId, isAbandoned })),
        [{ runId: lease.owner, isAbandoned: false }],
      );

      clock.advanceMs(5);
      assert.equal(await run.close('committed'), 'committed');

      assert.deepEqual(await subject.harness.other.runs.listOpen('run.open'), []);
      const { status, closedAtMs } = (await requireRun('run.open', lease.owner)).record;
      assert.deepEqual({ status, closedAtMs }, { status: 'committed', closedAtMs: clock.nowMs() });
    });

    test('a run that is not there is undefined, and other tables have none', async () => {
      await openRun('run.elsewhere');

      assert.equal(await subject.harness.ledger.runs.read('run.none', 'x'), undefined);
      assert.deepEqual(await subject.harness.ledger.runs.listOpen('run.none'), []);
    });

    test('a run is abandoned once its lease has expired, was taken, or was released', async () => {
      const isAbandoned = async (table: string) =>
        (await subject.harness.other.runs.listOpen(table)).map((open) => open.isAbandoned);
      await openRun('run.expired');
      await openRun('run.taken');
      const { lease } = await openRun('run.released');
      await lease.release();
      assert.deepEqual(await isAbandoned('run.expired'), [false]);

      clock.advanceMs(LEASE_MS);
      await requireLease('run.taken', subject.harness.other);

      assert.deepEqual(await isAbandoned('run.expired'), [true]);
      assert.deepEqual(await isAbandoned('run.taken'), [true]);
      assert.deepEqual(await isAbandoned('run.released'), [true]);
    });

    test('objects are named before they are written, each once', async () => {
      const { run } = await openRun('run.objects');

      await run.nameObjects(['s3://w/a', 's3://w/b', 's3://w/a']);
      await run.nameObjects(['s3://w/b', 's3://w/c']);
      await run.nameObjects([]);

      const stored = await requireRun('run.objects', run.runId);
      assert.deepEqual(await readAll(stored.objects()), ['s3://w/a', 's3://w/b', 's3://w/c']);
      assert.deepEqual(stored.record.objectLists, []);
    });

    test('more names than an item should hold go to the state store', async () => {
      const { run } = await openRun('run.many-objects');
      const names = Array.from({ length: 45_000 }, (_, index) => `s3://w/data/${index}.parquet`);

      await run.nameObjects(names.slice(0, 100));
      await run.nameObjects(names.slice(100));
      await run.nameObjects(['s3://w/metadata/1.avro']);

      const stored = await requireRun('run.many-objects', run.runId);
      assert.equal(stored.record.objectLists.length, 3);
      assert.deepEqual(stored.record.objects, ['s3://w/metadata/1.avro']);
      assert.deepEqual(await readAll(stored.objects()), [...names, 's3://w/metadata/1.avro']);
    });

    test('workers of one run name their objects side by side', async () => {
      const { run } = await openRun('run.workers');
      const workers = [run, await requireRun('run.workers', run.runId)];
      const names = Array.from({ length: 10 }, (_, index) => `s3://w/${index}`);

      await Promise.all(names.map((name, index) => workers[index % 2]!.nameObjects([name])));

      const stored = await requireRun('run.workers', run.runId);
      assert.deepEqual((await readAll(stored.objects())).sort(), names);
    });

    test('an intent is found, with all that settling it needs, until it is closed', async () => {
      const { run } = await openRun('intent.open');
      const write = pointerWrite(1);

      await run.recordIntent(write);

      const [found] = await subject.harness.other.runs.listOpen('intent.open');
      assert.deepEqual(found?.run.openIntent, {
        ...write,
        recordedAtMs: clock.nowMs(),
        state: 'open',
      });

      assert.equal(await run.closeIntent(write.version, 'not-applied'), 'not-applied');

      const [settled] = await subject.harness.other.runs.listOpen('intent.open');
      assert.equal(settled?.run.openIntent, undefined);
      assert.deepEqual(
        settled?.run.record.intents.map(({ state }) => state),
        ['not-applied'],
      );
    });

    test('an intent may lack a table uuid and a snapshot', async () => {
      const { run } = await openRun('intent.bare');
      const { tableUuid: _, snapshotId: __, ...bare } = pointerWrite(1);

      await run.recordIntent(bare);

      const stored = await requireRun('intent.bare', run.runId);
      assert.deepEqual(stored.openIntent, {
        ...bare,
        recordedAtMs: clock.nowMs(),
        state: 'open',
      });
    });

    test('of many attempts, the last 20 that were not applied are kept beside the open one', async () => {
      const { run } = await openRun('intent.many');
      for (let attempt = 1; attempt <= 30; attempt++) {
        await run.recordIntent(pointerWrite(attempt));
        if (attempt < 30) await run.closeIntent(pointerWrite(attempt).version, 'not-applied');
      }

      const { record } = await requireRun('intent.many', run.runId);

      assert.equal(record.intents.length, 21);
      assert.equal(record.intents[0]?.version, pointerWrite(10).version);
      assert.equal(record.intents.at(-1)?.state, 'open');
    });

    test("a second intent beside an open one is the caller's mistake", async () => {
      const { run } = await openRun('intent.two');
      await run.recordIntent(pointerWrite(1));

      await assert.rejects(run.recordIntent(pointerWrite(2)), { name: 'AssertionFailed' });
      await assert.rejects(run.closeIntent('nonsense', 'applied'), { name: 'AssertionFailed' });
    });

    test('what was recorded of an intent first counts; only unknown gives way', async () => {
      const { run } = await openRun('intent.first');
      const settler = await requireRun('intent.first', run.runId);
      await run.recordIntent(pointerWrite(1));
      await run.closeIntent(pointerWrite(1).version, 'unknown');
      const { version } = pointerWrite(1);
      const late = await requireRun('intent.first', run.runId);

      assert.equal(await late.closeIntent(version, 'applied'), 'applied');
      assert.equal(await run.closeIntent(version, 'applied'), 'applied');
      assert.equal(await run.closeIntent(version, 'not-applied'), 'applied');

      await settler.nameObjects(['s3://w/x']);
      assert.equal(await settler.closeIntent(version, 'not-applied'), 'applied');
    });

    test('a run with an open intent cannot be closed, not even by who has not seen it', async () => {
      const { run } = await openRun('run.unsettled');
      const [found] = await subject.harness.other.runs.listOpen('run.unsettled');
      await run.recordIntent(pointerWrite(1));

      await assert.rejects(found!.run.close('abandoned'), errorOfKind('commit-conflict', /settle/));
      await assert.rejects(run.close('committed'), errorOfKind('commit-conflict', /settle/));

      assert.equal((await subject.harness.ledger.runs.listOpen('run.unsettled')).length, 1);
    });

    test('a run that names more objects while it is being settled is not abandoned without them', async () => {
      const { run } = await openRun('run.still-naming');
      await run.nameObjects(['s3://w/a']);
      const settler = await requireRun('run.still-naming', run.runId);
      await run.nameObjects(['s3://w/b']);

      await assert.rejects(
        settler.close('abandoned'),
        errorOfKind('commit-conflict', /has named more objects/),
      );
      assert.deepEqual(await readAll(settler.objects()), ['s3://w/a', 's3://w/b']);

      assert.equal(await settler.close('abandoned'), 'abandoned');
    });

    test('once another process has closed a run, it takes no object and no intent', async () => {
      const { run } = await openRun('run.taken-over');
      await run.nameObjects(['s3://w/a']);
      clock.advanceMs(LEASE_MS);
      const [found] = await subject.harness.other.runs.listOpen('run.taken-over');
      await found!.run.close('abandoned');

      const refused = errorOfKind('commit-conflict', /was closed as abandoned/);
      await assert.rejects(run.nameObjects(['s3://w/b']), refused);
      await assert.rejects(run.recordIntent(pointerWrite(1)), refused);
      assert.equal(await run.close('committed'), 'abandoned');

      const stored = await requireRun('run.taken-over', run.runId);
      assert.deepEqual(await readAll(stored.objects()), ['s3://w/a']);
    });

    test('a run that was closed before it was opened is not opened', async () => {
      const lease = await requireLease('run.zombie');
      const first = await subject.harness.ledger.runs.open(lease, 'rewrite-data-files');
      await first.close('abandoned');

      await assert.rejects(
        subject.harness.other.runs.open(lease, 'rewrite-data-files'),
        errorOfKind('commit-conflict', /was closed as abandoned/),
      );
      assert.deepEqual(await subject.harness.ledger.runs.listOpen('run.zombie'), []);
    });
  });
}
