import type { LogFields, Logger } from '../base/index.ts';
import { createJsonLogger } from '../logging/index.ts';
import type { Deployment } from './deployment.ts';

/** A logger with the deployment's level and destination, and fields for every line. */
export function functionLogger(
  { settings, logDestination }: Pick<Deployment, 'settings' | 'logDestination'>,
  fields: LogFields,
): Logger {
  return createJsonLogger({
    level: settings.logLevel,
    fields,
    ...(logDestination === undefined ? {} : { destination: logDestination }),
  });
}
