import { isIcebergError } from '../shared/base/index.ts';
import { demonstrate } from './demo/demonstrate.ts';

/** In a file, in a pipe, and where a terminal does not say; a narrower terminal had better wrap. */
const WIDTH_MAX_DEFAULT = 160;
const WIDTH_MIN = 80;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const { columns = 0 } = process.stdout;
try {
  await demonstrate({ print, widthMax: columns < WIDTH_MIN ? WIDTH_MAX_DEFAULT : columns });
} catch (error) {
  if (!isIcebergError(error)) throw error;
  print(`\nFAILED: ${error.message}`);
  process.exitCode = 1;
}
