/**
 * DynamoDB for this machine, by dynalite: conditional writes, queries, scans, secondary indexes. It knows no
 * transactions or time to live, and checks no signature, so it listens on loopback only. It tells what writes change
 * in tables that it is asked to watch; the records of a stream are made of that by `local/stream`.
 */
import dynalite from 'dynalite';
import { assert } from '../../shared/base/index.ts';
import type { RequestListener } from './in-process.ts';
import { type ItemChangeOptions, watchItemChanges } from './item-changes.ts';

export type { ItemChange, ItemChangeOptions } from './item-changes.ts';

export interface DynamoDbEndpoint {
  /** Such as `http://127.0.0.1:43210`. */
  readonly endpoint: string;
  /** Stops; what was in it is gone. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** Starts a DynamoDB server in memory on a free port; tables are there as soon as they are created. */
export async function startDynamoDbEndpoint(watch?: ItemChangeOptions): Promise<DynamoDbEndpoint> {
  const server = dynalite({
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
  });
  if (watch !== undefined) {
    const [listener] = server.listeners('request') as RequestListener[];
    assert(listener !== undefined, 'dynalite listens to requests');
    server.removeAllListeners('request');
    server.on('request', watchItemChanges(listener, watch));
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  const address = server.address();
  assert(typeof address === 'object' && address !== null, 'server has no port');
  return {
    endpoint: `http://${HOST}:${address.port}`,
    close: async () => {
      const closed = new Promise<void>((resolve, reject) =>
        // dynalite answers null where Node answers undefined.
        server.close((error) => (error ? reject(error) : resolve())),
      );
      server.closeAllConnections();
      await closed;
    },
  };
}
