import type { Clock, Deadline, Logger, Random } from '../base/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import type { ManifestReader } from './manifest-reader.ts';
import type { TableRun } from './table-run.ts';

/** What a commit needs of the world. */
export interface CommitPorts {
  readonly catalog: Catalog;
  /** The run's own. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly deadline: Deadline;
  readonly logger: Logger;
  /** The run's own, so that manifests read while planning are not fetched again. */
  readonly reader: ManifestReader;
  /** Told of every object and of every pointer write, before and after. */
  readonly run: TableRun;
}
