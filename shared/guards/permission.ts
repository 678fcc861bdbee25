import { type Properties, tableProperty } from '../iceberg/index.ts';

/** Stable: which switch decided. */
export type PermissionRule =
  | 'deployment-observes'
  | 'table-enabled'
  | 'table-disabled'
  | 'deployment-list'
  | 'not-allowed'
  | 'person';

/** Whether a run may change a table, and why. */
export interface Permission {
  readonly mode: 'observe' | 'commit';
  readonly rule: PermissionRule;
  /** For people. */
  readonly reason: string;
}

/** What a deployment says of all tables. */
export interface DeploymentSwitches {
  /** Names as `namespace.table`. */
  readonly enabledTables: readonly string[];
  /** Plans and explains only, whatever else is allowed. */
  readonly isObserving: boolean;
}

/**
 * Off until allowed: the deployment's list or the table's `firn.enabled=true` allows, `firn.enabled=false` beats the
 * list, and an observing deployment beats both. An event is never permission.
 *
 * @param tableName as in the deployment's list
 * @throws invalid-config — when `firn.enabled` is neither true nor false
 */
export function permissionFor(
  tableName: string,
  properties: Properties,
  { enabledTables, isObserving }: DeploymentSwitches,
): Permission {
  if (isObserving) return observe('deployment-observes', 'the deployment observes');
  const enabled = tableProperty(properties, 'firn.enabled');
  if (enabled === true) return commit('table-enabled', 'firn.enabled is true');
  if (enabled === false) return observe('table-disabled', 'firn.enabled is false');
  return enabledTables.includes(tableName)
    ? commit('deployment-list', 'the deployment names the table')
    : observe('not-allowed', 'neither the deployment nor the table allows it');
}

/**
 * A person's call is permission for that run, and only that: the other rules hold for it, too. The reason tells whoever
 * turned maintenance off; a malformed `firn.enabled` turns nothing off.
 */
export function permissionOfPerson(properties: Properties): Permission {
  const isOff = properties['firn.enabled']?.trim().toLowerCase() === 'false';
  const overruled = isOff ? 'the table has firn.enabled=false; ' : '';
  return commit('person', `${overruled}this call was permission for this run only`);
}

function commit(rule: PermissionRule, reason: string): Permission {
  return { mode: 'commit', rule, reason };
}

function observe(rule: PermissionRule, reason: string): Permission {
  return { mode: 'observe', rule, reason };
}
