import type { Readable } from 'node:stream';
import { type ErrorContext, IcebergError } from '../../shared/base/index.ts';
import { element, xmlDocument } from './xml.ts';

/** What goes back to the client. */
export interface S3Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** XML text, or the bytes of an object. */
  readonly body?: string | Readable;
}

/** An answer whose body is an XML document with the given root element. */
export function xmlAnswer(rootName: string, content: string): S3Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: xmlDocument(rootName, content),
  };
}

/** An error to throw: the server turns it into S3's error answer with this status and code. */
export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): IcebergError {
  const context: ErrorContext = { ...headers, [STATUS]: status, [CODE]: code };
  return new IcebergError(status < 500 ? 'invalid-data' : 'unsupported', message, context);
}

const STATUS = '#status';
const CODE = '#code';

/** S3's error answer for whatever a handler threw; what is no refusal is a mistake of ours. */
export function errorAnswer(error: unknown, resource: string): S3Answer {
  const { context, message } =
    error instanceof IcebergError ? error : { context: {}, message: String(error) };
  const {
    [STATUS]: status = 500,
    [CODE]: code = 'InternalError',
    ...headers
  } = context as {
    readonly [name: string]: string | number;
  };
  const content =
    element('Code', String(code)) + element('Message', message) + element('Resource', resource);
  return {
    status: Number(status),
    headers: { ...headers, 'content-type': 'application/xml' },
    // A body after 304 would be taken for the next answer.
    ...(status === 304 ? {} : { body: xmlDocument('Error', content, '') }),
  };
}

export function noSuchKey(key: string): IcebergError {
  return refusal(404, 'NoSuchKey', `${key}: no such key`);
}

export function preconditionFailed(condition: string): IcebergError {
  return refusal(412, 'PreconditionFailed', `${condition}: does not hold`);
}
