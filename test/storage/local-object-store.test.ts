import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { LocalObjectStore } from '../../shared/storage/index.ts';
import { objectStoreConformance } from './object-store.conformance.ts';

for (const spelling of ['file:', '']) {
  objectStoreConformance(`LocalObjectStore below "${spelling}/"`, {
    keysArePaths: true,
    pagedCount: 50,
    open: async () => {
      const root = await mkdtemp(`${tmpdir()}/firn-storage-`);
      return {
        store: new LocalObjectStore({ root }),
        root: spelling + root,
        close: () => rm(root, { recursive: true }),
      };
    },
  });
}
