import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  FIRN_REQUEST_DETAIL_TYPE,
  type Parsed,
  parseFirnRequest,
  parseMaintenanceRequest,
  parseRewriteExecution,
  parseSweepRequest,
  serializeMaintenanceRequest,
} from '../../events/index.ts';
import { readSamples, type Sample } from './read-samples.ts';

/** Every contract with what its function calls first. */
const CONTRACTS: Readonly<Record<string, (sample: Sample) => Parsed<unknown>>> = {
  'maintenance-request/v2': ({ text }) => parseMaintenanceRequest(text),
  'sweep-request/v1': ({ value }) => parseSweepRequest(value),
  'firn-request/v1': ({ value }) => parseFirnRequest(value),
  'rewrite-execution/v1': ({ value }) => parseRewriteExecution(value),
};

/** A part of the reason for each invalid sample. */
const REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'maintenance-request/v2': {
    'empty-level.json': 'table: table name "demo..events": has an empty part',
    'fraction-of-a-round.json': 'round: Invalid input: expected int, received number',
    'negative-round.json': 'round: Too small: expected number to be >=0',
    'no-namespace.json': 'table: table name "events": has no namespace, such as db.orders',
    'no-object.json': 'maintenance request: Invalid input: expected object, received array',
    'no-reason.json': 'reason: Too small: expected string to have >=1 characters',
    'no-round.json': 'round: Invalid input: expected number, received undefined',
    'round-in-version-1.json': 'maintenance request: Unrecognized key: "round"',
    'too-many-rounds.json': 'round: Too big: expected number to be <=1000',
    'unknown-key.json': 'maintenance request: Unrecognized key: "force"',
    'unknown-operation.json':
      'operation: Invalid option: expected one of "rewrite-data-files"|"rewrite-deletes"',
    'unknown-version.json': "version: Invalid discriminator value. Expected '1' | '2'",
  },
  'sweep-request/v1': {
    'schedule-without-input.json': 'sweep: Invalid option: expected one of "due"|"catalog"',
    'unknown-key.json': 'sweep request: Unrecognized key: "table"',
    'unknown-sweep.json': 'sweep: Invalid option: expected one of "due"|"catalog"',
    'unknown-version.json': 'version: Invalid input: expected 1',
  },
  'firn-request/v1': {
    'detail-is-text.json': 'detail: Invalid input: expected object, received string',
    'no-namespace.json': 'detail.table: table name "events": has no namespace, such as db.orders',
    'no-reason.json': 'detail.reason: Invalid input: expected string, received undefined',
    'other-detail-type.json': 'detail-type: Invalid input: expected "firn.request"',
    'unknown-key.json': 'detail: Unrecognized key: "force"',
    'unknown-operation.json':
      'detail.operation: Invalid option: expected one of "compact"|"stats"|"expire"',
    'unknown-version.json': 'detail.version: Invalid input: expected 1',
  },
  'rewrite-execution/v1': {
    'no-groups.json': 'groupCount: Too small: expected number to be >=1',
    'no-run-id.json': 'runId: Invalid UUID',
    'plan-in-a-file.json': 'planLocation: must be s3://BUCKET/KEY',
    'unknown-key.json': 'rewrite execution: Unrecognized key: "groups"',
  },
};

for (const [contract, parse] of Object.entries(CONTRACTS)) {
  describe(contract, () => {
    for (const sample of readSamples(contract, 'samples')) {
      test(`accepts ${sample.name}`, () => {
        const parsed = parse(sample);

        assert.ok(parsed.isValid, parsed.isValid ? '' : parsed.reason);
      });
    }

    const invalid = readSamples(contract, 'samples/invalid');
    for (const sample of invalid) {
      test(`refuses ${sample.name} for its reason`, () => {
        const parsed = parse(sample);

        assert.ok(!parsed.isValid);
        const expected = REASONS[contract]?.[sample.name] ?? 'a reason for each sample';
        assert.ok(parsed.reason.includes(expected), parsed.reason);
      });
    }

    test('has a reason listed for each invalid sample, and no other', () => {
      assert.deepEqual(
        Object.keys(REASONS[contract] ?? {}),
        invalid.map(({ name }) => name).sort(),
      );
    });
  });
}

describe('maintenance requests', () => {
  const request = {
    operation: 'rewrite-data-files',
    table: 'demo.events',
    reason: 'commits',
    correlationId: 'c',
    round: 2,
  } as const;

  test('come back from a body as they were', () => {
    assert.deepEqual(parseMaintenanceRequest(serializeMaintenanceRequest(request)), {
      isValid: true,
      value: request,
    });
  });

  test('of version 1 are read as the first round', () => {
    const { round: _, ...rest } = request;

    assert.deepEqual(parseMaintenanceRequest(JSON.stringify({ version: 1, ...rest })), {
      isValid: true,
      value: { ...rest, round: 0 },
    });
  });

  test('that are no JSON are refused with the place', () => {
    const parsed = parseMaintenanceRequest('{"version": 2,');

    assert.ok(!parsed.isValid);
    assert.match(parsed.reason, /^maintenance request: /);
  });
});

test('a firn.request carries its event id on, and who sent it', () => {
  const [sample] = readSamples('firn-request/v1', 'samples');
  assert.equal(FIRN_REQUEST_DETAIL_TYPE, 'firn.request');

  assert.deepEqual(parseFirnRequest(sample?.value), {
    isValid: true,
    value: {
      operation: 'compact',
      table: 'demo.events',
      reason: 'backfill of 2025 finished',
      correlationId: '6a7e8feb-b491-4cf7-a9f1-bf3703467718',
      source: 'pipelines.backfill',
    },
  });
});
