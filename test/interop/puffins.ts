// Makes test/fixtures/deletion-vectors and test/fixtures/puffin anew, all but their READMEs:
// `node test/interop/puffins.ts`.

import { readdir, rm } from 'node:fs/promises';
import { runSuccessfully } from './child.ts';
import { rootFolder } from './config.ts';
import { installTools, javaClassPath } from './install.ts';

const folders = ['deletion-vectors', 'puffin'].map((name) => `${rootFolder}test/fixtures/${name}/`);

await installTools();
for (const folder of folders) {
  for (const name of await readdir(folder)) {
    if (name !== 'README.md') await rm(folder + name, { recursive: true });
  }
}
const classPath = await javaClassPath('iceberg');
const main = 'org.apache.iceberg.deletes.GoldenPuffins';
await runSuccessfully('java', ['-cp', classPath, main, ...folders]);
