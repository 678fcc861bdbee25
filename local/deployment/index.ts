/**
 * All of Firn on the local cloud: the functions as a deployment has them, their queues, the stream of the catalog
 * table and the schedules, in one process. What a template would say of them (timeouts, batch sizes, concurrency) is
 * said here. Leaves out alarms and rights.
 */
export {
  deployLocally,
  type LocalDeployment,
  type LocalDeploymentOptions,
} from './deploy-locally.ts';
