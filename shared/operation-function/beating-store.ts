import type { Heartbeat } from '../queue/index.ts';
import type { ObjectStore } from '../storage/index.ts';

/**
 * A store that keeps the message hidden while it is read from. Every run reads all the time: its inputs, and its outputs again. A
 * run that hangs, or whose process is gone, does not.
 */
export function beatingStore(store: ObjectStore, heartbeat: Pick<Heartbeat, 'beat'>): ObjectStore {
  const afterBeat = async <Answer>(request: () => Promise<Answer>): Promise<Answer> => {
    await heartbeat.beat();
    return request();
  };
  return {
    head: (location) => afterBeat(() => store.head(location)),
    read: (location, bytesMax) => afterBeat(() => store.read(location, bytesMax)),
    readRange: (location, offset, lengthBytes) =>
      afterBeat(() => store.readRange(location, offset, lengthBytes)),
    openRanged: (location, fileSizeBytes) => {
      const reader = store.openRanged(location, fileSizeBytes);
      const read = (offset: number, lengthBytes: number): Promise<Uint8Array> =>
        afterBeat(() => reader.read(offset, lengthBytes));
      return { location, fileSizeBytes, read };
    },
    write: (location, bytes, options) => store.write(location, bytes, options),
    openWriter: (location) => store.openWriter(location),
    list: (prefix) => store.list(prefix),
    delete: (locations) => store.delete(locations),
  };
}
