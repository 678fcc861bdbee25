import type { DynamoDBRecord } from 'aws-lambda';
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/base/index.ts';
import type { ItemChange } from '../dynamodb-endpoint/index.ts';

export type StreamViewType = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES';

export interface RecordFrame {
  readonly region: string;
  readonly viewType: StreamViewType;
  readonly streamArn: string;
  readonly eventId: string;
  readonly sequenceNumber: string;
  readonly nowMs: number;
}

/**
 * The record of a change as Lambda hands it over: images by the stream's view type, the time in whole seconds.
 *
 * @see DynamoDB Streams API, "Record" and "StreamRecord"
 */
export function newStreamRecord(change: ItemChange, frame: RecordFrame): DynamoDBRecord {
  const { region, viewType, streamArn, eventId, sequenceNumber, nowMs } = frame;
  const { keys } = change;
  const newImage = viewType.includes('NEW_') ? change.newImage : undefined;
  const oldImage = viewType.includes('OLD_') ? change.oldImage : undefined;
  const sizeBytes = [keys, newImage, oldImage].reduce((sum, image) => sum + itemBytes(image), 0);
  return {
    eventID: eventId,
    eventName: eventNameOf(change),
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: region,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(nowMs / 1000),
      Keys: attributes(keys),
      ...(newImage === undefined ? {} : { NewImage: attributes(newImage) }),
      ...(oldImage === undefined ? {} : { OldImage: attributes(oldImage) }),
      SequenceNumber: sequenceNumber,
      SizeBytes: sizeBytes,
      StreamViewType: viewType,
    },
    eventSourceARN: streamArn,
  };
}

type Attributes = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['Keys']>;

function eventNameOf({ oldImage, newImage }: ItemChange): 'INSERT' | 'MODIFY' | 'REMOVE' {
  if (oldImage === undefined) return 'INSERT';
  return newImage === undefined ? 'REMOVE' : 'MODIFY';
}

/** On the wire an item is what a record holds. */
function attributes(item: JsonObject): Attributes {
  return item as unknown as Attributes;
}

/** Names and values; what types and nesting add is left out. */
function itemBytes(value: JsonValue | undefined): number {
  if (value === undefined) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + itemBytes(each), 0);
  if (!isJsonObject(value)) return Buffer.byteLength(String(value));
  return Object.entries(value).reduce((sum, [name, each]) => {
    const isType = /^(?:S|N|B|BOOL|NULL|M|L|SS|NS|BS)$/.test(name);
    return sum + (isType ? 0 : Buffer.byteLength(name)) + itemBytes(each);
  }, 0);
}
