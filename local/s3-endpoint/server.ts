import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import {
  assert,
  type Clock,
  randomUuid,
  systemClock,
  systemRandom,
} from '../../shared/base/index.ts';
import { errorAnswer, refusal, type S3Answer } from './answers.ts';
import { addBucket } from './bucket-requests.ts';
import { parseTarget, type S3Call } from './call.ts';
import type { S3Fault, S3FaultHook } from './faults.ts';
import { folderBodyStore } from './folder-body-store.ts';
import { HANDLERS } from './handlers.ts';
import { memoryBodyStore } from './memory-body-store.ts';
import { operationOf, S3_OPERATIONS, type S3Operation } from './operations.ts';
import { loadState, type S3State } from './state.ts';

export interface S3EndpointOptions {
  /** By default a free one. */
  readonly port?: number;
  /** Keeps everything in this folder; by default in memory. */
  readonly folder?: string;
  /** Made at the start where they are missing. */
  readonly buckets?: readonly string[];
  readonly faults?: S3FaultHook;
  /** Gives modification times and lets latency pass. */
  readonly clock?: Clock;
}

export interface S3Counters {
  /** Requests by operation, also failed ones. */
  readonly requests: Readonly<Record<S3Operation, number>>;
  /** Bytes of bodies as they came in, without framing. */
  readonly bytesReceived: number;
  /** Bytes of objects that were asked for. */
  readonly bytesSent: number;
}

export interface S3Endpoint {
  /** Such as `http://127.0.0.1:43210`. */
  readonly endpoint: string;
  /** Live: they go on counting. */
  readonly counters: S3Counters;
  /** Breaks open connections and stops. What is in a folder stays there. */
  close(): Promise<void>;
}

/** Loopback only: requests are not authenticated. */
const HOST = '127.0.0.1';

/** Longer than clients keep idle connections, so that none is closed just as a request comes. */
const KEEP_ALIVE_MS = 120_000;

type Counting = { -readonly [Name in keyof S3Counters]: S3Counters[Name] } & {
  readonly requests: Record<S3Operation, number>;
};

/** Starts an S3 server for this machine. */
export async function startS3Endpoint(options: S3EndpointOptions = {}): Promise<S3Endpoint> {
  const clock = options.clock ?? systemClock;
  const bodies =
    options.folder === undefined ? memoryBodyStore() : await folderBodyStore(options.folder);
  const state = await loadState(bodies, clock);
  for (const bucket of options.buckets ?? []) {
    if (!state.buckets.has(bucket)) addBucket(state, bucket);
  }
  const counters: Counting = {
    requests: Object.fromEntries(S3_OPERATIONS.map((name) => [name, 0])) as Counting['requests'],
    bytesReceived: 0,
    bytesSent: 0,
  };
  const served: Served = { state, counters, faults: options.faults ?? (() => undefined) };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void serve(served, request, response);
  });
  const port = await listen(server, options.port ?? 0);
  return {
    endpoint: `http://${HOST}:${port}`,
    counters,
    close: () => closeServer(server),
  };
}

interface Served {
  readonly state: S3State;
  readonly counters: Counting;
  readonly faults: S3FaultHook;
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  assert(typeof address === 'object' && address !== null, 'server has no port');
  return address.port;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

async function serve(
  served: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let answer: S3Answer | 'dropped';
  try {
    answer = await answerRequest(served, request);
  } catch (error) {
    answer = errorAnswer(error, request.url ?? '');
  }
  try {
    if (answer === 'dropped') request.socket.destroy();
    else await send(served, answer, request, response);
  } catch {
    // The client went away; there is nobody to tell.
    response.destroy();
  }
}

async function answerRequest(
  served: Served,
  request: IncomingMessage,
): Promise<S3Answer | 'dropped'> {
  const { state, counters, faults } = served;
  const { bucket, key, query } = parseTarget(request.url ?? '/');
  const isCopy = request.headers['x-amz-copy-source'] !== undefined;
  const operation = operationOf({ method: request.method ?? '', bucket, key, query, isCopy });
  const operationIndex = counters.requests[operation]++;
  const fault = faults({ operation, bucket, key, operationIndex }) ?? {};
  if (fault.latencyMs !== undefined) await state.clock.sleepMs(fault.latencyMs);
  const endpoint = `http://${request.headers.host ?? HOST}`;
  const countReceived = (lengthBytes: number): void => {
    counters.bytesReceived += lengthBytes;
  };
  const call: S3Call = { state, bucket, key, query, request, endpoint, countReceived };
  if (fault.answer === undefined) return await HANDLERS[operation](call);
  return await failRequest(call, operation, fault);
}

async function failRequest(
  call: S3Call,
  operation: S3Operation,
  { answer, takesEffect }: S3Fault,
): Promise<S3Answer | 'dropped'> {
  if (takesEffect === true) {
    const trueAnswer = await HANDLERS[operation](call);
    if (typeof trueAnswer.body === 'object') trueAnswer.body.destroy();
  }
  if (answer === undefined || answer === 'dropped') return 'dropped';
  throw refusal(answer.status, answer.code, 'fault: injected');
}

async function send(
  { counters }: Served,
  { status, headers, body }: S3Answer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const common = { 'x-amz-request-id': randomUuid(systemRandom), server: 'firn-local-s3' };
  if (body === undefined || typeof body === 'string') {
    const text = body ?? '';
    const lengthBytes = Buffer.byteLength(text);
    const length = status === 204 || status === 304 ? {} : { 'content-length': lengthBytes };
    response.writeHead(status, { ...common, ...length, ...headers });
    response.end(request.method === 'HEAD' ? undefined : text);
    return;
  }
  response.writeHead(status, { ...common, ...headers });
  counters.bytesSent += Number(headers?.['content-length'] ?? 0);
  await pipeline(body, response);
}
