import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import {
  isIcebergError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../shared/base/index.ts';
import { answerOf, type HeldAnswer, operate, type RequestListener } from './in-process.ts';

/** One write that changed one item, with both images whole; values as they are on the wire. */
export interface ItemChange {
  readonly tableName: string;
  readonly keys: JsonObject;
  /** Absent for a new item. */
  readonly oldImage?: JsonObject;
  /** Absent for an item that was deleted. */
  readonly newImage?: JsonObject;
}

export interface ItemChangeOptions {
  /** Writes to other tables are not looked at. */
  readonly tableNames: ReadonlySet<string>;
  /** Called for each change, in the order of the writes to its table, before the writer has its answer. */
  readonly onChange: (change: ItemChange) => void;
}

const WRITES: readonly string[] = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'];

/** As DynamoDB's own limit. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** One item that a request is about to write. */
interface ItemReference {
  readonly tableName: string;
  /** Its key, or a whole item. */
  readonly item: JsonObject;
}

/**
 * Lets `listener` answer every request, and tells what the writes among them changed. Writes to the tables looked at
 * take turns, each between two reads of its items: so the images are exact, whoever writes and from where. What
 * changes nothing is not told, as a DynamoDB stream has no record of it.
 */
export function watchItemChanges(
  listener: RequestListener,
  { tableNames, onChange }: ItemChangeOptions,
): RequestListener {
  const images = new ImageReader(listener);
  let turn: Promise<unknown> = Promise.resolve();

  const writeWatched = async (
    request: IncomingMessage,
    body: Uint8Array,
    references: readonly ItemReference[],
  ): Promise<HeldAnswer> => {
    const before = await images.read(references);
    const answer = await answerOf(listener, request, body);
    if (answer.status !== 200) return answer;
    const after = await images.read(references);
    for (const [index, { tableName, keys, image: oldImage }] of before.entries()) {
      const newImage = after[index]?.image;
      if (isDeepStrictEqual(oldImage, newImage)) continue;
      onChange({
        tableName,
        keys,
        ...(oldImage === undefined ? {} : { oldImage }),
        ...(newImage === undefined ? {} : { newImage }),
      });
    }
    return answer;
  };

  const write = (request: IncomingMessage, body: Uint8Array): Promise<HeldAnswer> => {
    const references = writtenItems(operationOf(request), body);
    const watched = references.filter(({ tableName }) => tableNames.has(tableName));
    if (watched.length === 0) return answerOf(listener, request, body);
    const answered = turn.then(() => writeWatched(request, body, watched));
    turn = answered.catch(() => undefined);
    return answered;
  };

  return (request, response) => {
    if (!WRITES.includes(operationOf(request))) return listener(request, response);
    readBody(request, response, (body) => {
      write(request, body).then(
        (answer) => sendAnswer(response, answer),
        (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
      );
    });
  };
}

interface ItemImage {
  readonly tableName: string;
  readonly keys: JsonObject;
  /** Undefined when there is no such item. */
  readonly image: JsonObject | undefined;
}

/** Reads items by requests of its own; what is not there is for the write itself to refuse. */
class ImageReader {
  readonly #listener: RequestListener;
  readonly #keyNames = new Map<string, readonly string[]>();

  constructor(listener: RequestListener) {
    this.#listener = listener;
  }

  async read(references: readonly ItemReference[]): Promise<ItemImage[]> {
    const images: ItemImage[] = [];
    for (const { tableName, item } of references) {
      const names = await this.#readKeyNames(tableName);
      const keys = Object.fromEntries(names.map((name) => [name, item[name] ?? null]));
      images.push({ tableName, keys, image: await this.#readImage(tableName, keys) });
    }
    return images;
  }

  async #readImage(tableName: string, keys: JsonObject): Promise<JsonObject | undefined> {
    if (Object.values(keys).some((key) => !isJsonObject(key))) return undefined;
    const input = { TableName: tableName, Key: keys, ConsistentRead: true };
    const answer = await operate(this.#listener, 'GetItem', input).catch(ignoreRefusal);
    return objectOf(answer?.['Item']);
  }

  async #readKeyNames(tableName: string): Promise<readonly string[]> {
    const known = this.#keyNames.get(tableName);
    if (known !== undefined) return known;
    const input = { TableName: tableName };
    const answer = await operate(this.#listener, 'DescribeTable', input).catch(ignoreRefusal);
    const names = objectsOf(objectOf(answer?.['Table'])?.['KeySchema']).map((key) =>
      String(key['AttributeName']),
    );
    if (names.length > 0) this.#keyNames.set(tableName, names);
    return names;
  }
}

function operationOf(request: IncomingMessage): string {
  return String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
}

/** What a request would write; nothing when it is malformed, which is for dynalite to say. */
function writtenItems(operation: string, body: Uint8Array): ItemReference[] {
  const input = parseInput(body);
  if (operation === 'BatchWriteItem') return batchItems(objectOf(input?.['RequestItems']) ?? {});
  const tableName = input?.['TableName'];
  const item = objectOf(input?.[operation === 'PutItem' ? 'Item' : 'Key']);
  return typeof tableName === 'string' && item !== undefined ? [{ tableName, item }] : [];
}

function batchItems(requestsOfTables: JsonObject): ItemReference[] {
  return Object.entries(requestsOfTables).flatMap(([tableName, requests]) =>
    objectsOf(requests).flatMap((request) => {
      const item =
        objectOf(objectOf(request['PutRequest'])?.['Item']) ??
        objectOf(objectOf(request['DeleteRequest'])?.['Key']);
      return item === undefined ? [] : [{ tableName, item }];
    }),
  );
}

function parseInput(body: Uint8Array): JsonObject | undefined {
  try {
    return objectOf(parseJson(Buffer.from(body).toString(), 'request'));
  } catch (error) {
    return ignoreRefusal(error);
  }
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function ignoreRefusal(error: unknown): undefined {
  if (!isIcebergError(error)) throw error;
}

function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  onBody: (body: Uint8Array) => void,
): void {
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  request.on('data', (chunk: Uint8Array) => {
    lengthBytes += chunk.length;
    if (lengthBytes > BODY_BYTES_MAX) response.writeHead(413).end();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    if (lengthBytes <= BODY_BYTES_MAX) onBody(Buffer.concat(chunks));
  });
}

function sendAnswer(response: ServerResponse, { status, headers, body }: HeldAnswer): void {
  response.statusCode = status;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.end(body);
}
