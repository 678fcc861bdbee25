import type { S3Answer } from './answers.ts';
import {
  createBucket,
  deleteBucket,
  deleteObjects,
  getBucketLocation,
  headBucket,
  listBuckets,
} from './bucket-requests.ts';
import type { S3Call } from './call.ts';
import { listObjects, listObjectsV2 } from './listing-requests.ts';
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
  uploadPartCopy,
} from './multipart-requests.ts';
import { copyObject, deleteObject, getObject, headObject, putObject } from './object-requests.ts';
import type { S3Operation } from './operations.ts';

/** What answers each operation. */
export const HANDLERS: Readonly<
  Record<S3Operation, (call: S3Call) => S3Answer | Promise<S3Answer>>
> = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CopyObject: copyObject,
  CreateBucket: createBucket,
  CreateMultipartUpload: createMultipartUpload,
  DeleteBucket: deleteBucket,
  DeleteObject: deleteObject,
  DeleteObjects: deleteObjects,
  GetBucketLocation: getBucketLocation,
  GetObject: getObject,
  HeadBucket: headBucket,
  HeadObject: headObject,
  ListBuckets: listBuckets,
  ListMultipartUploads: listMultipartUploads,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  ListParts: listParts,
  PutObject: putObject,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
};
