/**
 * A process that counts: takes a folder, a seed and a count from its command line, and adds one that many times
 * to the number that the table `db.counter` has for its metadata location.
 */
import { argv } from 'node:process';
import { isIcebergError, randomUuid, seededRandom, systemClock } from '../../shared/base/index.ts';
import { FileCatalog, parseTableIdentifier } from '../../shared/catalog/index.ts';

const [folder = '', seed = '', commitCount = ''] = argv.slice(2);
const random = seededRandom(1000 + Number(seed));
const catalog = new FileCatalog({ folder, clock: systemClock, random });

for (let committed = 0; committed < Number(commitCount); ) {
  const base = await catalog.loadTable(parseTableIdentifier('db.counter'));
  const metadataLocation = String(Number(base.metadataLocation) + 1);
  try {
    await catalog.commitTable({ base, metadataLocation, version: randomUuid(random) });
    committed++;
  } catch (error) {
    if (!isIcebergError(error, 'commit-conflict')) throw error;
  }
}
