import { readdirSync } from 'node:fs';
import { print } from './report.ts';

/** A bench file exports `run`, which prints its report and says whether every bound holds. */
interface Bench {
  run(): Promise<boolean>;
}

const NOT_BENCHES = new Set(['run.ts', 'report.ts']);

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !NOT_BENCHES.has(file) && !file.includes('.child.'))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

const name = process.argv[2];
if (name === undefined || !names.includes(name)) {
  print(`usage: npm run bench -- NAME, one of: ${names.join(', ')}`);
  process.exit(2);
}

const bench = (await import(`./${name}.ts`)) as Bench;
process.exit((await bench.run()) ? 0 : 1);
