const MATCH_LENGTH_MIN = 4;
const NIBBLE_MAX = 15;

/**
 * Decodes an LZ4 block into `output` from `start`, and returns where it ends there; `undefined` when the block is
 * corrupt or would go beyond `end`. Matches may reach back to `historyStart`, which lies before `start` where blocks
 * depend on one another: the block decoder of the library has no such history.
 *
 * @see LZ4 block format, "Compressed block format"
 */
export function decodeLz4Block(
  block: Uint8Array,
  output: Uint8Array,
  place: { readonly start: number; readonly end: number; readonly historyStart: number },
): number | undefined {
  const { end, historyStart } = place;
  let written = place.start;
  let offset = 0;
  while (offset < block.length) {
    const token = block[offset++]!;
    let literals = token >>> 4;
    if (literals === NIBBLE_MAX) {
      const extra = extraLength(block, offset);
      if (extra === undefined) return undefined;
      literals += extra.length;
      offset = extra.end;
    }
    if (offset + literals > block.length || written + literals > end) return undefined;
    output.set(block.subarray(offset, offset + literals), written);
    offset += literals;
    written += literals;
    // Only the last sequence ends with its literals.
    if (offset === block.length) return written;
    if (offset + 2 > block.length) return undefined;
    const distance = block[offset]! | (block[offset + 1]! << 8);
    offset += 2;
    let matched = (token & NIBBLE_MAX) + MATCH_LENGTH_MIN;
    if ((token & NIBBLE_MAX) === NIBBLE_MAX) {
      const extra = extraLength(block, offset);
      if (extra === undefined) return undefined;
      matched += extra.length;
      offset = extra.end;
    }
    const isWithin = written - distance >= historyStart && written + matched <= end;
    if (distance === 0 || !isWithin) return undefined;
    // Byte by byte: a match may overlap what it writes.
    for (const matchEnd = written + matched; written < matchEnd; written++) {
      output[written] = output[written - distance]!;
    }
  }
  return undefined;
}

/** Bytes of 255 and one below, added up; `undefined` when the block ends before. */
function extraLength(
  block: Uint8Array,
  start: number,
): { readonly length: number; readonly end: number } | undefined {
  let length = 0;
  for (let offset = start; offset < block.length; offset++) {
    const byte = block[offset]!;
    length += byte;
    if (byte !== 0xff) return { length, end: offset + 1 };
  }
  return undefined;
}
