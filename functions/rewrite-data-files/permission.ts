import type { TableIdentifier } from '../../shared/catalog/index.ts';
import { formatTableIdentifier } from '../../shared/catalog/index.ts';
import { tableProperty } from '../../shared/iceberg/index.ts';
import type { FunctionConfig } from './config.ts';

/** Whether this deployment may change a table, and why. */
export interface Permission {
  readonly mode: 'observe' | 'commit';
  readonly reason: string;
}

/**
 * Off until allowed: the deployment's list or the table's `firn.enabled=true` allows, `firn.enabled=false` beats the
 * list, and an observing deployment beats both. An event is never permission.
 *
 * @throws invalid-config — when `firn.enabled` is neither true nor false
 */
export function permissionFor(
  identifier: TableIdentifier,
  properties: Readonly<Record<string, string>>,
  config: Pick<FunctionConfig, 'enabledTables' | 'isObserving'>,
): Permission {
  if (config.isObserving) return { mode: 'observe', reason: 'the deployment observes' };
  const enabled = tableProperty(properties, 'firn.enabled');
  if (enabled === true) return { mode: 'commit', reason: 'firn.enabled is true' };
  if (enabled === false) return { mode: 'observe', reason: 'firn.enabled is false' };
  return config.enabledTables.includes(formatTableIdentifier(identifier))
    ? { mode: 'commit', reason: 'the deployment names the table' }
    : { mode: 'observe', reason: 'neither the deployment nor the table allows it' };
}
