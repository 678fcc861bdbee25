import { refusal } from './answers.ts';

/** Longer lines (a chunk's size with its signature, a trailer) do not occur. */
const LINE_BYTES_MAX = 8192;

/**
 * Takes the framing of `Content-Encoding: aws-chunked` off a body: chunks of `size[;extensions]\r\n` bytes `\r\n`,
 * one of size 0, then trailers. Signatures are not checked.
 *
 * @param trailers receives the trailers, names in lower case, once the last byte has been taken
 */
export async function* decodeAwsChunked(
  source: AsyncIterable<Uint8Array>,
  trailers: Map<string, string>,
): AsyncGenerator<Uint8Array> {
  const input = new FramedInput(source);
  for (;;) {
    const lengthBytes = parseChunkSize(await input.line());
    if (lengthBytes === 0) break;
    yield* input.take(lengthBytes);
    if ((await input.line()) !== '') throw broken('chunk does not end where its size says');
  }
  for (let line = await input.line(); line !== ''; line = await input.line()) {
    const colon = line.indexOf(':');
    if (colon < 1) throw broken('trailer without a name');
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}

function parseChunkSize(line: string): number {
  const [size = ''] = line.split(';');
  if (!/^[0-9a-fA-F]{1,8}$/.test(size)) throw broken('chunk without a size');
  return Number.parseInt(size, 16);
}

/** Cuts a stream of arrays into lines and runs of known length. */
class FramedInput {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The text up to the next CRLF; at the end of the body the rest, which some clients leave open. */
  async line(): Promise<string> {
    let seen = Buffer.alloc(0);
    for (;;) {
      seen = Buffer.concat([seen, this.#rest]);
      this.#rest = new Uint8Array(0);
      const end = seen.indexOf('\r\n');
      if (end >= 0) {
        this.#rest = seen.subarray(end + 2);
        return seen.toString('latin1', 0, end);
      }
      if (seen.length > LINE_BYTES_MAX) throw broken(`line of more than ${LINE_BYTES_MAX} bytes`);
      if (!(await this.#fill())) return seen.toString('latin1');
    }
  }

  async *take(lengthBytes: number): AsyncGenerator<Uint8Array> {
    for (let left = lengthBytes; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#fill())) {
        throw broken(`body ends ${left} bytes before the end of a chunk`);
      }
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async #fill(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#rest = next.value;
    return true;
  }
}

function broken(what: string): Error {
  return refusal(400, 'IncompleteBody', `aws-chunked body: ${what}`);
}
