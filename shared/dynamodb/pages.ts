import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { IcebergError } from '../base/index.ts';

/** One item, by attribute. */
export type DynamoDbItem = Readonly<Record<string, AttributeValue>>;

/** One answer of a query or scan. */
export interface ItemPage {
  readonly Items?: DynamoDbItem[] | undefined;
  readonly LastEvaluatedKey?: Record<string, AttributeValue> | undefined;
}

/** Pages of up to 1 MB: some hundred million keys. */
const PAGES_MAX = 10_000;

/**
 * The items of page after page, each page read when the one before is used up.
 *
 * @throws unsupported — when there are more than 10,000 pages
 */
export async function* readPages(
  readPage: (startKey: Record<string, AttributeValue> | undefined) => Promise<ItemPage>,
  subject: string,
): AsyncIterable<DynamoDbItem> {
  let startKey: Record<string, AttributeValue> | undefined;
  for (let pageCount = 0; pageCount < PAGES_MAX; pageCount++) {
    const page = await readPage(startKey);
    yield* page.Items ?? [];
    startKey = page.LastEvaluatedKey;
    if (startKey === undefined) return;
  }
  throw new IcebergError('unsupported', `${subject}: the answer exceeds ${PAGES_MAX} pages`);
}
