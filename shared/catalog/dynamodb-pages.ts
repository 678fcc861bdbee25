import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { IcebergError } from '../base/index.ts';
import type { CatalogItem } from './dynamodb-layout.ts';

/** One answer of a query or scan. */
export interface ItemPage {
  readonly Items?: CatalogItem[] | undefined;
  readonly LastEvaluatedKey?: Record<string, AttributeValue> | undefined;
}

/** Pages of up to 1 MB of keys: some hundred million tables. */
const PAGES_MAX = 10_000;

/**
 * The items of page after page, each page read when the one before is used up.
 *
 * @throws unsupported — when there are more than 10,000 pages
 */
export async function* readPages(
  readPage: (startKey: Record<string, AttributeValue> | undefined) => Promise<ItemPage>,
  subject: string,
): AsyncIterable<CatalogItem> {
  let startKey: Record<string, AttributeValue> | undefined;
  for (let pageCount = 0; pageCount < PAGES_MAX; pageCount++) {
    const page = await readPage(startKey);
    yield* page.Items ?? [];
    startKey = page.LastEvaluatedKey;
    if (startKey === undefined) return;
  }
  throw new IcebergError('unsupported', `${subject}: the answer exceeds ${PAGES_MAX} pages`);
}
