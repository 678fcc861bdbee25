import type { Clock } from '../shared/base/index.ts';
import { printable, shorten } from '../shared/display/index.ts';

/** Where long work says how far it is, beside the answer. */
export interface Progress {
  /** Replaces the last progress line on a terminal; elsewhere a line at most every few seconds. */
  update(text: string): void;
  /** Clears the line, before an answer is printed. */
  clear(): void;
}

/** The part of a stream that progress needs. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Lines of a log are read later: one every few seconds says enough. */
const LOG_INTERVAL_MS = 5_000;

/** Some terminals do not tell their width, or tell 0. */
const COLUMNS_DEFAULT = 80;

export function createProgress(stream: ProgressStream, clock: Clock): Progress {
  return stream.isTTY ? terminalProgress(stream) : logProgress(stream, clock);
}

function terminalProgress(stream: ProgressStream): Progress {
  let isShown = false;
  return {
    update(text) {
      const width = (stream.columns || COLUMNS_DEFAULT) - 1;
      stream.write(`\r\u001b[K${shorten(printable(text), width)}`);
      isShown = true;
    },
    clear() {
      if (isShown) stream.write('\r\u001b[K');
      isShown = false;
    },
  };
}

function logProgress(stream: ProgressStream, clock: Clock): Progress {
  let lastMs = clock.nowMs();
  return {
    update(text) {
      if (clock.nowMs() - lastMs < LOG_INTERVAL_MS) return;
      lastMs = clock.nowMs();
      stream.write(`${printable(text)}\n`);
    },
    clear() {},
  };
}
