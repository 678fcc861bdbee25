import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { permissionFor, permissionOfPerson } from '../../shared/guards/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const NOBODY = { enabledTables: [], isObserving: false };
const LISTED = { enabledTables: ['db.orders'], isObserving: false };

function permission(properties: Record<string, string>, switches: typeof LISTED | typeof NOBODY) {
  const { mode, rule } = permissionFor('db.orders', properties, switches);
  return `${mode} ${rule}`;
}

describe('permissionFor', () => {
  it('observes where nobody allows', () => {
    assert.equal(permission({}, NOBODY), 'observe not-allowed');
  });

  it('lets the table decide against the list, both ways', () => {
    assert.equal(permission({ 'firn.enabled': 'true' }, NOBODY), 'commit table-enabled');
    assert.equal(permission({ 'firn.enabled': 'false' }, LISTED), 'observe table-disabled');
    assert.equal(permission({}, LISTED), 'commit deployment-list');
  });

  it('lets an observing deployment beat both', () => {
    const observing = { ...LISTED, isObserving: true };

    assert.equal(permission({ 'firn.enabled': 'true' }, observing), 'observe deployment-observes');
  });

  it('refuses a switch that is neither on nor off', () => {
    assert.throws(
      () => permission({ 'firn.enabled': 'ja' }, LISTED),
      errorOfKind('invalid-config', /ja/),
    );
  });
});

describe('permissionOfPerson', () => {
  it('allows one run, and says against what', () => {
    assert.deepEqual(permissionOfPerson({ 'firn.enabled': ' FALSE ' }), {
      mode: 'commit',
      rule: 'person',
      reason: 'the table has firn.enabled=false; this call was permission for this run only',
    });
    assert.deepEqual(permissionOfPerson({}), {
      mode: 'commit',
      rule: 'person',
      reason: 'this call was permission for this run only',
    });
  });
});
