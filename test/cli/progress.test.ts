import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createProgress } from '../../cli/progress.ts';
import { ManualClock } from '../../shared/base/index.ts';

function streamOf(facts: { readonly isTTY?: boolean; readonly columns?: number }) {
  const written: string[] = [];
  return { ...facts, written, write: (text: string) => written.push(text) };
}

describe('progress on a terminal', () => {
  it('is one line that is replaced, and cleared before the answer', () => {
    const stream = streamOf({ isTTY: true, columns: 80 });
    const progress = createProgress(stream, new ManualClock(0));

    progress.update('one');
    progress.update('two');
    progress.clear();
    progress.clear();

    assert.deepEqual(stream.written, ['\r\u001b[Kone', '\r\u001b[Ktwo', '\r\u001b[K']);
  });

  it('never fills the last column, where a terminal would begin another line', () => {
    const stream = streamOf({ isTTY: true, columns: 10 });

    createProgress(stream, new ManualClock(0)).update('db.orders: reading manifests');

    assert.deepEqual(stream.written, ['\r\u001b[Kdb.o…ests']);
  });

  it('takes a terminal that does not tell its width for one of eighty columns', () => {
    const stream = streamOf({ isTTY: true, columns: 0 });

    createProgress(stream, new ManualClock(0)).update('x'.repeat(100));

    assert.equal(stream.written[0]?.length, '\r\u001b[K'.length + 79);
  });

  it('shows control characters of names as escapes', () => {
    const stream = streamOf({ isTTY: true });

    createProgress(stream, new ManualClock(0)).update('a\nb');

    assert.deepEqual(stream.written, ['\r\u001b[Ka\\u000ab']);
  });
});

describe('progress elsewhere', () => {
  it('is nothing for short work, then a line every five seconds at most', () => {
    const stream = streamOf({});
    const clock = new ManualClock(0);
    const progress = createProgress(stream, clock);

    progress.update('at 0 s');
    clock.advanceMs(4_999);
    progress.update('at 4.999 s');
    clock.advanceMs(1);
    progress.update('at 5 s');
    clock.advanceMs(4_999);
    progress.update('at 9.999 s');
    clock.advanceMs(5_000);
    progress.update('at 14.999 s');
    progress.clear();

    assert.deepEqual(stream.written, ['at 5 s\n', 'at 14.999 s\n']);
  });
});
