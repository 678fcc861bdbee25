import { systemClock, systemRandom } from '../../shared/base/index.ts';
import { openWarehouse, type Warehouse } from '../../shared/warehouse/index.ts';

/** The bucket that the local cloud of a bench has. */
export const BENCH_BUCKET = 'bench';

/** The warehouse of a local cloud in another process, reached over HTTP as the deployed function reaches AWS. */
export function openBenchWarehouse(catalogUrl: string): Warehouse {
  return openWarehouse({
    catalogUrl,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    clock: systemClock,
    random: systemRandom,
  });
}
