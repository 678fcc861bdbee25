import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { IcebergError, isJsonObject, type JsonObject, parseJson } from '../../shared/base/index.ts';

/** What dynalite does with a request. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** As much of a request as dynalite looks at; the body is not part of it. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** A whole answer that nobody has seen yet. */
export interface HeldAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string | number])[];
  readonly body: string;
}

/** It checks that there is a signature, not what it is. */
const SIGNATURE = 'AWS4-HMAC-SHA256 Credential=local/1/us-east-1/dynamodb/aws4_request';

/** Has `listener` answer a request whose body was read already, and keeps the answer. */
export function answerOf(
  listener: RequestListener,
  head: RequestHead,
  body: Uint8Array,
): Promise<HeldAnswer> {
  const { method, url, headers } = head;
  const request = Object.assign(Readable.from([body]), { method, url, headers });
  return new Promise((resolve) => {
    const kept: [string, string | number][] = [];
    const response = {
      statusCode: 200,
      setHeader: (name: string, value: string | number) => void kept.push([name, value]),
      end: (text = '') =>
        resolve({ status: response.statusCode, headers: kept, body: String(text) }),
    };
    listener(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
}

/**
 * Has `listener` carry out an operation of the API, as no client could see or hold up.
 *
 * @throws invalid-data — when it refuses
 */
export async function operate(
  listener: RequestListener,
  operation: string,
  input: object,
): Promise<JsonObject> {
  const head = {
    method: 'POST',
    url: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      authorization: `${SIGNATURE}, SignedHeaders=host, Signature=local`,
      'x-amz-date': '20260101T000000Z',
    },
  };
  const { status, body } = await answerOf(listener, head, Buffer.from(JSON.stringify(input)));
  const output = parseJson(body, `dynalite: answer to ${operation}`);
  if (status === 200 && isJsonObject(output)) return output;
  throw new IcebergError('invalid-data', `dynalite: ${operation} ended with ${status}: ${body}`);
}
