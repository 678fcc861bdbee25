/**
 * A small S3 server for this machine, for `npm start`, tests and interop: path-style REST, conditional writes that
 * are atomic, ranges, ordered listings, multipart uploads, checksums, faults on demand, request counters. Serves
 * the AWS SDKs for JavaScript, Java, Python and C++, and DuckDB. It checks no signature and so listens on
 * loopback only; it leaves out versions, tags, access lists, encryption and everything else of S3.
 */
export type { S3Fault, S3FaultHook, S3RequestFacts } from './faults.ts';
export type { S3Operation } from './operations.ts';
export {
  type S3Counters,
  type S3Endpoint,
  type S3EndpointOptions,
  startS3Endpoint,
} from './server.ts';
