import { shorten } from '../../shared/display/index.ts';
import { formatDollars } from '../../shared/pricing/index.ts';

/** How the table stands at one moment. */
export interface Moment {
  readonly elapsedMs: number;
  readonly fileCount: number;
  readonly writerCommitCount: number;
  readonly firnCommitCount: number;
  readonly dollars: number;
  /** Whether Firn has committed since the moment before. */
  readonly hasCommitted: boolean;
}

const BAR_WIDTH = 32;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const INDENT = '         ';

export const TIMELINE_HEADING = `${INDENT}${'data files'.padEnd(BAR_WIDTH + 6)}writer   Firn   cost so far`;

/** One line: the files as a bar, whose full width is `fileCountMax`, and commits and dollars so far. */
export function momentLine(moment: Moment, fileCountMax: number): string {
  const { elapsedMs, fileCount, writerCommitCount, firnCommitCount, dollars } = moment;
  return [
    `${Math.round(elapsedMs / 1000)} s`.padStart(6),
    `${barOf(fileCount / fileCountMax)}${String(fileCount).padStart(4)}`,
    String(writerCommitCount).padStart(5),
    `${String(firnCommitCount).padStart(3)}${moment.hasCommitted ? ' ▼' : '  '}`,
    formatDollars(dollars),
  ].join('   ');
}

/** Something that happened in between, in one line of at most `widthMax` columns. */
export function noteLine(who: string, text: string, widthMax: number): string {
  return shorten(`${INDENT}${who}: ${text}`, widthMax);
}

/** Eighths of a column, so that a few files more can be seen. */
function barOf(fraction: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, fraction)) * BAR_WIDTH * 8);
  const bar = '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
  return bar.padEnd(BAR_WIDTH);
}
