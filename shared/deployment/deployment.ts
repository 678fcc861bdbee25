import type { MaintenanceOperation } from '../../events/index.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../base/index.ts';
import { createSqsClient, type MessageQueue, SqsQueue } from '../queue/index.ts';
import { openWarehouse, parseCatalogUrl, type Warehouse } from '../warehouse/index.ts';
import type { DeploymentConfig, FunctionSettings } from './config.ts';

/** What every function works with. */
export interface Deployment {
  readonly settings: FunctionSettings;
  readonly warehouse: Warehouse;
  /** Of each operation, with its dead letters. */
  readonly queues: Readonly<Record<MaintenanceOperation, MessageQueue>>;
  /** Where events go that nobody understands. */
  readonly eventDeadLetters: Pick<MessageQueue, 'sendToDeadLetters'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Where log lines go; standard output if absent. */
  readonly logDestination?: { write(line: string): void };
}

/** Of queues, where neither the environment nor the catalog's URL has one. */
const REGION_DEFAULT = 'us-east-1';

/**
 * Opens what a deployed function works with; once, outside of its handler. No request is made yet.
 *
 * @throws invalid-config — when nothing says where the ledger's bulky state goes
 */
export function openDeployment(config: DeploymentConfig): Deployment {
  const clock = systemClock;
  const random = systemRandom;
  const { catalogUrl, s3Endpoint, ledgerTable, stateLocation, queueUrls } = config;
  const warehouse = openWarehouse({
    catalogUrl,
    ...(s3Endpoint === undefined ? {} : { s3Endpoint }),
    ...(ledgerTable === undefined ? {} : { ledgerTable }),
    ...(stateLocation === undefined ? {} : { stateLocation }),
    clock,
    random,
  });
  // Refused at start, and not at the first table.
  warehouse.openLedger();
  const client = createSqsClient({ region: regionOf(config) });
  const queue = (queueUrl: string, deadLetterQueueUrl: string): MessageQueue =>
    new SqsQueue({ client, queueUrl, deadLetterQueueUrl, clock, random });
  const eventDeadLetters = queueUrls['event-dead-letters'];
  return {
    settings: config,
    warehouse,
    queues: {
      'rewrite-data-files': queue(
        queueUrls['rewrite-data-files'],
        queueUrls['rewrite-data-files-dead-letters'],
      ),
      'rewrite-deletes': queue(
        queueUrls['rewrite-deletes'],
        queueUrls['rewrite-deletes-dead-letters'],
      ),
    },
    eventDeadLetters: queue(eventDeadLetters, eventDeadLetters),
    clock,
    random,
  };
}

function regionOf({ region, catalogUrl }: DeploymentConfig): string {
  if (region !== undefined) return region;
  const url = parseCatalogUrl(catalogUrl);
  return url.kind === 'dynamodb' ? url.region : REGION_DEFAULT;
}
