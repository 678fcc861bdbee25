// The stand-ins for AWS that a run talks to: moto, which serves S3 and DynamoDB from one process, or our own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ItemChange, startDynamoDbEndpoint } from '../../local/dynamodb-endpoint/index.ts';
import { startS3Endpoint } from '../../local/s3-endpoint/index.ts';
import { childEnvironment, region } from './config.ts';
import { python } from './install.ts';

/** Where a run's S3 and DynamoDB are; URLs without a closing slash. */
export type Endpoints = Readonly<{
  s3Endpoint: string;
  dynamoDbEndpoint: string;
  region: string;
}>;

export type Servers = Readonly<{
  endpoints: Endpoints;
  /** Has every change of an item of the catalog told from now on; absent where the server has streams itself. */
  onCatalogChange?: (listener: CatalogListener) => void;
  close: () => Promise<void>;
}>;

export type CatalogListener = (change: ItemChange) => void;

/** The table of the catalog, on either. */
export const CATALOG_TABLE = 'iceberg';

/** Waits for a server at most this long, in milliseconds. */
const START_MS_MAX = 60_000;
const START_POLL_MS = 100;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

async function waitUntilUp(url: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < START_MS_MAX; waitedMs += START_POLL_MS) {
    const up = await fetch(url).then(
      (response) => response.body?.cancel().then(() => true),
      () => false,
    );
    if (up) return;
    await delay(START_POLL_MS);
  }
  assert.fail(`${url}: no answer in ${START_MS_MAX} ms`);
}

/** Starts moto on a free port of the loopback interface. */
export async function startMoto(): Promise<Servers> {
  const port = await freePort();
  const args = ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)];
  const child = spawn(python, args, { env: childEnvironment, stdio: 'ignore' });
  process.once('exit', () => child.kill());
  const url = `http://127.0.0.1:${port}`;
  await waitUntilUp(`${url}/moto-api/data.json`);
  const closed = new Promise((resolve) => child.once('close', resolve));
  return {
    endpoints: { s3Endpoint: url, dynamoDbEndpoint: url, region },
    close: async () => {
      child.kill();
      await closed;
    },
  };
}

/** Starts our own local S3 endpoint and dynalite, in this process. */
export async function startLocal(): Promise<Servers> {
  const listeners: CatalogListener[] = [];
  const [s3, dynamoDb] = await Promise.all([
    startS3Endpoint(),
    startDynamoDbEndpoint({
      tableNames: new Set([CATALOG_TABLE]),
      onChange: (change) => {
        for (const listener of listeners) listener(change);
      },
    }),
  ]);
  return {
    endpoints: { s3Endpoint: s3.endpoint, dynamoDbEndpoint: dynamoDb.endpoint, region },
    onCatalogChange: (listener) => void listeners.push(listener),
    close: async () => {
      await Promise.all([s3.close(), dynamoDb.close()]);
    },
  };
}

/** Makes a bucket; local endpoints take the request unsigned. */
export async function createBucket(endpoints: Endpoints, bucket: string): Promise<void> {
  const response = await fetch(`${endpoints.s3Endpoint}/${bucket}`, { method: 'PUT' });
  await response.body?.cancel();
  assert.ok(response.ok, `${bucket}: PUT bucket answered ${response.status}`);
}
