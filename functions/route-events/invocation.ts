import type { Deadline, Logger } from '../../shared/base/index.ts';
import type { Deployment } from '../../shared/deployment/index.ts';

/** One call of the function. */
export interface Invocation {
  readonly deployment: Deployment;
  /** Follows what is sent through logs and reports, unless the event has one of its own. */
  readonly correlationId: string;
  readonly deadline: Deadline;
  readonly logger: Logger;
}
