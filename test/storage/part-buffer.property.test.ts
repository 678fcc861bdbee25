import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PartBuffer } from '../../shared/storage/part-buffer.ts';

describe('PartBuffer', () => {
  it('gives back the bytes it was given, in any other lengths', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 20 })),
        fc.integer({ min: 1, max: 30 }),
        (chunks, partBytes) => {
          const buffer = new PartBuffer();
          const parts: Uint8Array[] = [];
          for (const chunk of chunks) {
            buffer.append(chunk);
            while (buffer.lengthBytes > partBytes) parts.push(buffer.take(partBytes));
          }
          parts.push(buffer.take(buffer.lengthBytes));

          assert.ok(Buffer.concat(parts).equals(Buffer.concat(chunks)));
          assert.ok(parts.slice(0, -1).every((part) => part.length === partBytes));
          assert.equal(buffer.lengthBytes, 0);
        },
      ),
      { seed: 5 },
    );
  });
});
