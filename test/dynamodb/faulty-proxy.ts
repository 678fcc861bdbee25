import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the proxy does with one request. */
export type ProxyFault =
  | { readonly kind: 'pass' }
  /** Answers itself; the service never sees the request. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  /** The service applies the request; the answer is replaced. */
  | { readonly kind: 'apply-then-answer'; readonly status: number; readonly body: string }
  /** The service applies the request; the connection is cut before, or within, the answer. */
  | { readonly kind: 'apply-then-cut'; readonly afterBytes: 0 | 5 }
  /** Cuts the connection; the service never sees the request. */
  | { readonly kind: 'cut' }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Answers with a head and half a body, and then nothing. */
  | { readonly kind: 'hang-in-body' };

export interface FaultyProxy {
  readonly endpoint: string;
  /** Operations that arrived, such as `UpdateItem`, in order. */
  readonly operations: string[];
  /** Faults for the requests to come, in order; once used up, requests pass. */
  readonly faults: ProxyFault[];
  close(): Promise<void>;
}

/** An error body as DynamoDB sends it. */
export function serviceError(name: string): string {
  return JSON.stringify({
    __type: `com.amazonaws.dynamodb.v20120810#${name}`,
    message: `the reason for ${name}`,
  });
}

/** Stands before the service at `targetEndpoint`, counts requests and makes them fail on demand. */
export async function startFaultyProxy(targetEndpoint: string): Promise<FaultyProxy> {
  const operations: string[] = [];
  const faults: ProxyFault[] = [];
  const server = createServer((incoming, outgoing) => {
    operations.push(String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '');
    void serve(targetEndpoint, faults.shift() ?? { kind: 'pass' }, incoming, outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    operations,
    faults,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function serve(
  targetEndpoint: string,
  fault: ProxyFault,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const requestBody = await text(incoming);
  const forwarded = () => forward(targetEndpoint, incoming, requestBody);
  switch (fault.kind) {
    case 'pass': {
      const { status, body } = await forwarded();
      return answer(outgoing, status, body);
    }
    case 'answer':
      return answer(outgoing, fault.status, fault.body);
    case 'apply-then-answer':
      await forwarded();
      return answer(outgoing, fault.status, fault.body);
    case 'apply-then-cut':
      await forwarded();
      if (fault.afterBytes > 0) {
        outgoing.writeHead(200, { 'content-length': '100' });
        await new Promise<void>((resolve) => outgoing.write('{"a":', () => resolve()));
      }
      incoming.socket.destroy();
      return;
    case 'cut':
      incoming.socket.destroy();
      return;
    case 'hang':
      return;
    case 'hang-in-body':
      outgoing.writeHead(200, { 'content-length': '100' });
      outgoing.write('{"a":');
      return;
  }
}

function answer(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  outgoing.end(body);
}

async function forward(
  targetEndpoint: string,
  incoming: IncomingMessage,
  body: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const outgoing = request(targetEndpoint, { method: 'POST', headers: incoming.headers });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}
