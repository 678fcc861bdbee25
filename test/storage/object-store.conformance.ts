import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ErrorKind, isIcebergError, mapConcurrent } from '../../shared/base/index.ts';
import type { ObjectStore, ObjectWriter } from '../../shared/storage/index.ts';

export interface ConformanceSubject {
  readonly store: ObjectStore;
  /** An empty place of its own, without a closing slash, such as `s3://bucket/run-1`. */
  readonly root: string;
  close(): Promise<void>;
}

export interface ConformanceSuite {
  open(): Promise<ConformanceSubject>;
  /** The keys are paths of a file system: no `//`, no `.` segment, no key that is also a folder. */
  readonly keysArePaths?: boolean;
  /** Odd keys that the server behind the adapter itself gets wrong; say at the call what it does. */
  readonly keysBeyondServer?: RegExp;
  /** Objects written to be listed and deleted; by default one more than a page. */
  readonly pagedCount?: number;
}

const MIB = 2 ** 20;

/** Keys that get lost where a client or server decodes, escapes, trims or normalises. */
const PATH_KEYS = [
  'plus+and space',
  'percent%2Fencoded',
  'percent%20twice%2520',
  'ampersand&less<greater>"quote\'',
  'equals=value/comma,semicolon;at@colon:dollar$',
  'question?hash#bracket[brace{caret^tilde~bar|backslash\\',
  ' leading and trailing ',
  'tab\tand newline\nand return\r',
  'control\u0001\u001f\u007f',
  'umlaut-\u00fc-\u4e2d\u6587-\u{1f9ca}',
  'combining-u\u0308',
  '\uffee above the surrogates',
  'year=2024/month=__HIVE_DEFAULT_PARTITION__/part-0.parquet',
];

const OBJECT_KEYS = [
  ...PATH_KEYS,
  'double//slash',
  'trailing/slash/',
  'both',
  'both/file-and-folder',
  'dot/./segment',
  'dots/../segment',
  '/leading-slash',
];

/** What every `ObjectStore` promises, run against one adapter. */
export function objectStoreConformance(name: string, suite: ConformanceSuite): void {
  describe(`${name} as an object store`, () => {
    let subject: ConformanceSubject;
    before(async () => {
      subject = await suite.open();
    });
    after(() => subject.close());
    const at = (key: string): string => `${subject.root}/${key}`;

    wholeObjects(() => subject.store, at);
    ranges(() => subject.store, at);
    conditionalWrites(() => subject.store, at);
    writers(() => subject.store, at);
    listings(() => subject.store, at, suite.pagedCount ?? 1001);
    const keys = suite.keysArePaths ? PATH_KEYS : OBJECT_KEYS;
    const served = keys.filter((key) => suite.keysBeyondServer?.test(key) !== true);
    oddKeys(() => subject.store, at, served);
    deletes(() => subject.store, at);
    refusals(() => subject.store, at);
  });
}

type Store = () => ObjectStore;
type At = (key: string) => string;

function wholeObjects(store: Store, at: At): void {
  it('reads back what was written', async () => {
    const bytes = patternBytes(1000);

    await store().write(at('whole/object'), bytes);

    assert.deepEqual(await store().read(at('whole/object'), 1000), bytes);
  });

  it('holds an object of zero bytes', async () => {
    await store().write(at('whole/empty'), new Uint8Array(0));

    assert.equal((await store().head(at('whole/empty'))).fileSizeBytes, 0);
    assert.deepEqual(await store().read(at('whole/empty'), 0), new Uint8Array(0));
  });

  it('replaces an object', async () => {
    await store().write(at('whole/replaced'), patternBytes(2000));
    await store().write(at('whole/replaced'), patternBytes(10, 7));

    assert.deepEqual(await store().read(at('whole/replaced'), 10), patternBytes(10, 7));
  });

  it('tells length and modification time of an object, and its location as asked for', async () => {
    await store().write(at('whole/head'), patternBytes(17));

    const entry = await store().head(at('whole/head'));

    assert.equal(entry.location, at('whole/head'));
    assert.equal(entry.fileSizeBytes, 17);
    assert.ok(Number.isSafeInteger(entry.lastModifiedMs));
  });

  it('returns bytes that the caller may change', async () => {
    await store().write(at('whole/changed'), patternBytes(10));

    (await store().read(at('whole/changed'), 10)).fill(0);

    assert.deepEqual(await store().read(at('whole/changed'), 10), patternBytes(10));
  });

  it('refuses to read an object above the limit', async () => {
    await store().write(at('whole/large'), patternBytes(MIB));

    await rejectsWith(store().read(at('whole/large'), MIB - 1), 'unsupported', at('whole/large'));
    assert.equal((await store().read(at('whole/large'), MIB)).length, MIB);
  });

  it('says not-found for a missing object, whichever way it is read', async () => {
    const missing = at('whole/missing');

    await rejectsWith(store().head(missing), 'not-found', missing);
    await rejectsWith(store().read(missing, 10), 'not-found', missing);
    await rejectsWith(store().readRange(missing, 0, 10), 'not-found', missing);
    await rejectsWith(store().openRanged(missing, 10).read(0, 10), 'not-found', missing);
  });
}

function ranges(store: Store, at: At): void {
  const bytes = patternBytes(100);
  before(() => store().write(at('ranges/object'), bytes));

  for (const [offset, lengthBytes] of [
    [0, 100],
    [0, 1],
    [99, 1],
    [40, 20],
    [50, 50],
  ] as const) {
    it(`reads ${lengthBytes} of 100 bytes from offset ${offset}`, async () => {
      const expected = bytes.subarray(offset, offset + lengthBytes);

      assert.deepEqual(
        await store().readRange(at('ranges/object'), offset, lengthBytes),
        expected.slice(),
      );
    });
  }

  it('reads a range of zero bytes as nothing', async () => {
    assert.deepEqual(await store().readRange(at('ranges/object'), 10, 0), new Uint8Array(0));
  });

  for (const [offset, lengthBytes] of [
    [0, 101],
    [99, 2],
    [100, 1],
    [1000, 1],
    [-1, 2],
    [0, -1],
    [0.5, 1],
  ] as const) {
    it(`refuses ${lengthBytes} bytes from offset ${offset} of 100`, async () => {
      const location = at('ranges/object');

      await rejectsWith(store().readRange(location, offset, lengthBytes), 'invalid-data', location);
    });
  }

  it('reads ranges of an object whose length is known, and none beyond that length', async () => {
    const reader = store().openRanged(at('ranges/object'), 90);

    assert.equal(reader.fileSizeBytes, 90);
    assert.deepEqual(await reader.read(80, 10), bytes.slice(80, 90));
    await rejectsWith(reader.read(80, 11), 'invalid-data', at('ranges/object'));
  });

  it('refuses a range within the told length but beyond the true one', async () => {
    const reader = store().openRanged(at('ranges/object'), 200);

    await rejectsWith(reader.read(90, 20), 'invalid-data', at('ranges/object'));
  });
}

function conditionalWrites(store: Store, at: At): void {
  it('creates an object that must be new, once', async () => {
    const location = at('conditional/new');

    await store().write(location, patternBytes(10), { mustBeNew: true });

    await rejectsWith(
      store().write(location, patternBytes(10, 5), { mustBeNew: true }),
      'commit-conflict',
      location,
    );
    assert.deepEqual(await store().read(location, 10), patternBytes(10));
  });

  it('lets exactly one of 50 racing writers create an object', async () => {
    const location = at('conditional/race');
    const writers = Array.from({ length: 50 }, (_, index) => index);

    const outcomes = await mapConcurrent(writers, { concurrencyMax: 50 }, async (index) => {
      try {
        await store().write(location, patternBytes(100, index), { mustBeNew: true });
        return index;
      } catch (error) {
        assert.ok(isIcebergError(error, 'commit-conflict'));
        return undefined;
      }
    });

    const winners = outcomes.filter((index) => index !== undefined);
    assert.equal(winners.length, 1);
    assert.deepEqual(await store().read(location, 100), patternBytes(100, winners[0]));
  });

  it('creates an object again after it was deleted', async () => {
    const location = at('conditional/again');
    await store().write(location, patternBytes(10), { mustBeNew: true });
    await store().delete([location]);

    await store().write(location, patternBytes(11), { mustBeNew: true });

    assert.equal((await store().head(location)).fileSizeBytes, 11);
  });
}

function writers(store: Store, at: At): void {
  for (const { title, lengths } of [
    { title: 'no bytes', lengths: [] },
    { title: 'a few small pieces', lengths: [3, 0, 100, 4096] },
    { title: 'exactly 8 MiB', lengths: [8 * MIB] },
    { title: '20 MiB in one piece', lengths: [20 * MIB] },
    { title: '20 MiB and a bit in many pieces', lengths: [...Array(40).fill(MIB / 2), 13] },
  ]) {
    it(`streams an object of ${title}`, async () => {
      const location = at(`writers/${title}`);
      const lengthBytes = lengths.reduce((sum, length) => sum + length, 0);
      const bytes = patternBytes(lengthBytes);
      const writer = store().openWriter(location);

      await writeAll(writer, bytes, lengths);

      assert.equal(await writer.close(), lengthBytes);
      assert.equal((await store().head(location)).fileSizeBytes, lengthBytes);
      assert.ok(Buffer.from(bytes).equals(await store().read(location, lengthBytes)));
    });
  }

  it('shows nothing of an object before it is closed', async () => {
    const location = at('writers-open/object');
    const writer = store().openWriter(location);
    await writeAll(writer, patternBytes(9 * MIB), [9 * MIB]);

    await rejectsWith(store().head(location), 'not-found', location);
    assert.deepEqual(await locationsOf(store(), at('writers-open/')), []);

    await writer.close();
    assert.deepEqual(await locationsOf(store(), at('writers-open/')), [location]);
  });

  for (const lengthBytes of [0, 100, 20 * MIB]) {
    it(`leaves nothing of an object aborted after ${lengthBytes} bytes`, async () => {
      const location = at(`writers-aborted/${lengthBytes}`);
      const writer = store().openWriter(location);
      await writeAll(writer, patternBytes(lengthBytes), [lengthBytes]);

      await writer.abort();

      await rejectsWith(store().head(location), 'not-found', location);
      assert.deepEqual(await locationsOf(store(), at('writers-aborted/')), []);
    });
  }

  it('keeps the object that was there when its replacement is aborted', async () => {
    const location = at('writers/kept');
    await store().write(location, patternBytes(10));
    const writer = store().openWriter(location);
    await writer.write(patternBytes(20));

    await writer.abort();

    assert.equal((await store().head(location)).fileSizeBytes, 10);
  });

  it('keeps an object that was closed before abort was called', async () => {
    const location = at('writers/closed');
    const writer = store().openWriter(location);
    await writer.write(patternBytes(20));
    await writer.close();

    await writer.abort();

    assert.equal((await store().head(location)).fileSizeBytes, 20);
  });
}

function listings(store: Store, at: At, pagedCount: number): void {
  it('lists nothing where nothing is', async () => {
    assert.deepEqual(await locationsOf(store(), at('list-nothing/')), []);
  });

  it('lists by prefix, not by folder, with length and time of each object', async () => {
    for (const key of ['table/data/a', 'table/data/b', 'table2/c', 'tab', 'other/d']) {
      await store().write(at(`list-prefix/${key}`), patternBytes(key.length));
    }

    const entries = await entriesOf(store(), at('list-prefix/table'));

    assert.deepEqual(
      entries.map(({ location, fileSizeBytes }) => [location, fileSizeBytes]),
      [
        [at('list-prefix/table/data/a'), 12],
        [at('list-prefix/table/data/b'), 12],
        [at('list-prefix/table2/c'), 8],
      ],
    );
    assert.ok(entries.every(({ lastModifiedMs }) => Number.isSafeInteger(lastModifiedMs)));
  });

  it('lists in the order of UTF-8 bytes across folders', async () => {
    const keys = ['a-b', 'a.b', 'a/b', 'a/c/d', 'a0', 'ab', '\u00e9', '\uffee', '\u{1f9ca}'];
    for (const key of keys.toReversed())
      await store().write(at(`list-order/${key}`), patternBytes(1));

    assert.deepEqual(
      await locationsOf(store(), at('list-order/')),
      keys.map((key) => at(`list-order/${key}`)),
    );
  });

  it(`lists and deletes ${pagedCount} objects`, async () => {
    const keys = Array.from({ length: pagedCount }, (_, index) => `${index}`.padStart(5, '0'));
    const locations = keys.map((key) => at(`list-pages/${key}`));
    await mapConcurrent(locations, { concurrencyMax: 16 }, (location) =>
      store().write(location, new Uint8Array(0)),
    );

    assert.deepEqual(await locationsOf(store(), at('list-pages/')), locations);

    const outcome = await store().delete(locations);
    assert.deepEqual(outcome.deleted.toSorted(), locations);
    assert.deepEqual(outcome.failed, []);
    assert.deepEqual(await locationsOf(store(), at('list-pages/')), []);
  });
}

function oddKeys(store: Store, at: At, keys: readonly string[]): void {
  it('keeps odd keys apart and as they are: written, read, listed, deleted', async () => {
    const locations = keys.map((key) => at(`odd/${key}`));
    for (const [index, location] of locations.entries()) {
      await store().write(location, patternBytes(index + 1, index));
    }

    for (const [index, location] of locations.entries()) {
      assert.equal((await store().head(location)).fileSizeBytes, index + 1, location);
      assert.deepEqual(await store().read(location, 100), patternBytes(index + 1, index), location);
    }
    const listed = await locationsOf(store(), at('odd/'));
    assert.deepEqual(listed.toSorted(), locations.toSorted());
    assert.deepEqual(listed, listed.toSorted(compareAsBytes));

    const outcome = await store().delete(locations);
    assert.deepEqual(outcome.failed, []);
    assert.deepEqual(outcome.deleted.toSorted(), locations.toSorted());
    assert.deepEqual(await locationsOf(store(), at('odd/')), []);
  });

  it('lists below an odd prefix', async () => {
    const prefix = 'odd-prefix/a+b c%2F&\u00fc\u0001';
    await store().write(at(`${prefix}/x y`), patternBytes(1));
    await store().write(at('odd-prefix/a b'), patternBytes(1));

    assert.deepEqual(await locationsOf(store(), at(prefix)), [at(`${prefix}/x y`)]);
  });
}

function deletes(store: Store, at: At): void {
  it('deletes what it is told and nothing else', async () => {
    for (const key of ['a', 'b', 'ab', 'a+'])
      await store().write(at(`delete/${key}`), patternBytes(1));

    const outcome = await store().delete([at('delete/a')]);

    assert.deepEqual(outcome, { deleted: [at('delete/a')], failed: [] });
    assert.deepEqual(await locationsOf(store(), at('delete/')), [
      at('delete/a+'),
      at('delete/ab'),
      at('delete/b'),
    ]);
  });

  it('counts a missing object as deleted', async () => {
    const location = at('delete-missing/never-there');

    assert.deepEqual(await store().delete([location]), { deleted: [location], failed: [] });
  });

  it('tells the outcome of a location given twice once', async () => {
    const location = at('delete-twice/object');
    await store().write(location, patternBytes(1));

    assert.deepEqual(await store().delete([location, location]), {
      deleted: [location],
      failed: [],
    });
  });

  it('deletes nothing when told nothing', async () => {
    assert.deepEqual(await store().delete([]), { deleted: [], failed: [] });
  });
}

function refusals(store: Store, at: At): void {
  it('refuses a location of a scheme it does not serve', async () => {
    const location = 'gopher://bucket/key';

    await rejectsWith(store().head(location), 'invalid-config', location);
    await rejectsWith(store().read(location, 1), 'invalid-config', location);
    await rejectsWith(store().readRange(location, 0, 1), 'invalid-config', location);
    await rejectsWith(store().write(location, patternBytes(1)), 'invalid-config', location);
    await rejectsWith(store().delete([location]), 'invalid-config', location);
    await rejectsWith(entriesOf(store(), location), 'invalid-config', location);
    assert.throws(() => store().openWriter(location), isInvalidConfig);
  });

  it('refuses a key that is not valid Unicode', async () => {
    const location = at('lone-\ud800-surrogate');

    await rejectsWith(store().write(location, patternBytes(1)), 'invalid-data', location);
  });

  it('deletes nothing when one of the locations is refused', async () => {
    const location = at('refusals/kept');
    await store().write(location, patternBytes(1));

    await assert.rejects(store().delete([location, 'gopher://bucket/key']), isInvalidConfig);

    assert.equal((await store().head(location)).fileSizeBytes, 1);
  });
}

function isInvalidConfig(error: unknown): boolean {
  return isIcebergError(error, 'invalid-config');
}

/** Repeatable bytes without a short period, so that a shifted or swapped part shows. */
export function patternBytes(lengthBytes: number, seed = 0): Uint8Array {
  const words = new Uint32Array(Math.ceil(lengthBytes / 4));
  for (let index = 0; index < words.length; index++) {
    words[index] = Math.imul(index + seed * 7919 + 1, 2654435761);
  }
  return new Uint8Array(words.buffer, 0, lengthBytes).slice();
}

/** Asserts kind and that the message names the location. */
export async function rejectsWith(
  answer: Promise<unknown>,
  kind: ErrorKind,
  location: string,
): Promise<void> {
  await assert.rejects(answer, (error) => {
    assert.ok(isIcebergError(error), `${error} is not an IcebergError`);
    assert.equal(error.kind, kind, error.message);
    assert.ok(error.message.includes(location), `${error.message} does not name ${location}`);
    return true;
  });
}

async function writeAll(
  writer: ObjectWriter,
  bytes: Uint8Array,
  lengths: readonly number[],
): Promise<void> {
  let offset = 0;
  for (const length of lengths) {
    await writer.write(bytes.slice(offset, offset + length));
    offset += length;
  }
}

async function entriesOf(store: ObjectStore, prefix: string) {
  return await Array.fromAsync(store.list(prefix));
}

async function locationsOf(store: ObjectStore, prefix: string): Promise<string[]> {
  return (await entriesOf(store, prefix)).map(({ location }) => location);
}

function compareAsBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
