import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { objectStoreConformance } from './object-store.conformance.ts';

objectStoreConformance('MemoryObjectStore', {
  open: () =>
    Promise.resolve({
      store: new MemoryObjectStore(),
      root: 's3://bucket/run',
      close: () => Promise.resolve(),
    }),
});
