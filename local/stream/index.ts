/**
 * A DynamoDB stream of one table on this machine: item changes become records as Lambda gets them, of any view type,
 * in shards, in order, each once; on demand some are lost, doubled or late, by seeded chance. Leaves out the API by
 * which others than Lambda read streams, and that records are gone after a day.
 */
export {
  ItemStream,
  type ItemStreamOptions,
  type StreamFaults,
  type StreamShard,
} from './item-stream.ts';
export type { StreamViewType } from './stream-record.ts';
