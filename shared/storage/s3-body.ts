import { Readable } from 'node:stream';
import { IcebergError } from '../base/index.ts';

/** The parts of an answer to GetObject that tell how to take its body. */
export interface BodyAnswer {
  readonly Body?: unknown;
  readonly ContentLength?: number | undefined;
}

/**
 * Reads a body of exactly `lengthBytes` bytes.
 *
 * @throws unavailable — when the body ends earlier or goes on
 */
export async function readBody(
  { Body }: BodyAnswer,
  location: string,
  lengthBytes: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(lengthBytes);
  let filled = 0;
  if (Body instanceof Readable) {
    for await (const chunk of Body as AsyncIterable<Uint8Array>) {
      if (filled + chunk.length <= lengthBytes) bytes.set(chunk, filled);
      filled += chunk.length;
      if (filled > lengthBytes) break;
    }
  }
  if (filled === lengthBytes) return bytes;
  throw new IcebergError(
    'unavailable',
    `s3:GetObject ${location}: body of ${filled} bytes, ${lengthBytes} were announced`,
    { location },
  );
}

/** Gives up a body unread, and its connection with it. */
export function discardBody({ Body }: BodyAnswer): void {
  if (!(Body instanceof Readable)) return;
  // What a body that nobody waits for still has to say.
  Body.on('error', () => {});
  Body.destroy();
}
