// Makes test/fixtures/iceberg-java anew, all but its README: `node test/interop/golden.ts`.

import { readdir, rm } from 'node:fs/promises';
import { runSuccessfully } from './child.ts';
import { rootFolder } from './config.ts';
import { installTools, javaClassPath } from './install.ts';

const folder = `${rootFolder}test/fixtures/iceberg-java/`;

await installTools();
for (const name of await readdir(folder)) {
  if (name !== 'README.md') await rm(folder + name, { recursive: true });
}
const classPath = await javaClassPath('iceberg');
await runSuccessfully('java', ['-cp', classPath, 'firn.interop.GoldenMain', folder]);
