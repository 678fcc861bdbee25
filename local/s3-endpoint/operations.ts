import { refusal } from './answers.ts';

/** The requests of the S3 API that are served, by their names there. */
export const S3_OPERATIONS = [
  'AbortMultipartUpload',
  'CompleteMultipartUpload',
  'CopyObject',
  'CreateBucket',
  'CreateMultipartUpload',
  'DeleteBucket',
  'DeleteObject',
  'DeleteObjects',
  'GetBucketLocation',
  'GetObject',
  'HeadBucket',
  'HeadObject',
  'ListBuckets',
  'ListMultipartUploads',
  'ListObjects',
  'ListObjectsV2',
  'ListParts',
  'PutObject',
  'UploadPart',
  'UploadPartCopy',
] as const;

export type S3Operation = (typeof S3_OPERATIONS)[number];

/** Parts of the API that are named in the query and not served; ignoring the name would do something else. */
const SUBRESOURCES_NOT_SERVED = [
  'accelerate',
  'acl',
  'analytics',
  'attributes',
  'cors',
  'encryption',
  'inventory',
  'legal-hold',
  'lifecycle',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'ownershipControls',
  'partNumber',
  'policy',
  'policyStatus',
  'publicAccessBlock',
  'replication',
  'requestPayment',
  'restore',
  'retention',
  'select',
  'tagging',
  'torrent',
  'versionId',
  'versioning',
  'versions',
  'website',
];

export interface RequestLine {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly isCopy: boolean;
}

/** Which operation a request asks for. */
export function operationOf(line: RequestLine): S3Operation {
  const { query } = line;
  const isPart = query.has('uploadId') && query.has('partNumber');
  const unserved = SUBRESOURCES_NOT_SERVED.find(
    (name) => query.has(name) && !(name === 'partNumber' && isPart),
  );
  const operation = unserved === undefined ? choose(line, isPart) : undefined;
  if (operation !== undefined) return operation;
  const subject = unserved === undefined ? line.method : `${line.method} ?${unserved}`;
  throw refusal(501, 'NotImplemented', `${subject}: is not served`);
}

function choose(line: RequestLine, isPart: boolean): S3Operation | undefined {
  if (line.bucket === '') return line.method === 'GET' ? 'ListBuckets' : undefined;
  return line.key === '' ? chooseForBucket(line) : chooseForKey(line, isPart);
}

function chooseForBucket({ method, query }: RequestLine): S3Operation | undefined {
  switch (method) {
    case 'PUT':
      return 'CreateBucket';
    case 'HEAD':
      return 'HeadBucket';
    case 'DELETE':
      return 'DeleteBucket';
    case 'POST':
      return query.has('delete') ? 'DeleteObjects' : undefined;
    case 'GET':
      if (query.has('location')) return 'GetBucketLocation';
      if (query.has('uploads')) return 'ListMultipartUploads';
      return query.get('list-type') === '2' ? 'ListObjectsV2' : 'ListObjects';
    default:
      return undefined;
  }
}

function chooseForKey(
  { method, query, isCopy }: RequestLine,
  isPart: boolean,
): S3Operation | undefined {
  switch (method) {
    case 'PUT':
      if (isPart) return isCopy ? 'UploadPartCopy' : 'UploadPart';
      return isCopy ? 'CopyObject' : 'PutObject';
    case 'HEAD':
      return 'HeadObject';
    case 'DELETE':
      return query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject';
    case 'POST':
      if (query.has('uploads')) return 'CreateMultipartUpload';
      return query.has('uploadId') ? 'CompleteMultipartUpload' : undefined;
    case 'GET':
      return query.has('uploadId') ? 'ListParts' : 'GetObject';
    default:
      return undefined;
  }
}
