import {
  IcebergError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toCount,
  toInt64,
} from '../base/index.ts';
import type { Item } from './item-store.ts';

/** What every record's JSON begins with; a reader takes its own version and the one before (there is none yet). */
const RECORD_VERSION = 1;

/** A record's JSON, with its format version. */
export function newBody(fields: JsonObject): JsonObject {
  return { 'format-version': RECORD_VERSION, ...fields };
}

/** A reader of the fields of an item's record. @throws as `readFields` */
export function itemFields(item: Item): RecordFields {
  return readFields(item.body, `ledger item ${item.sort} of ${item.partition}`);
}

/**
 * A reader of a record's fields.
 *
 * @throws unsupported — for a later format version
 * @throws invalid-data — when it is no record
 */
export function readFields(body: JsonValue, subject: string): RecordFields {
  const fields = new RecordFields(body, subject);
  const formatVersion = fields.count('format-version');
  if (formatVersion === RECORD_VERSION) return fields;
  throw new IcebergError(
    formatVersion > RECORD_VERSION ? 'unsupported' : 'invalid-data',
    `${subject}: format version is ${formatVersion}, not ${RECORD_VERSION}`,
  );
}

/** Fields of a JSON object by type; each method throws `invalid-data` naming subject and field. */
export class RecordFields {
  readonly #fields: JsonObject;
  readonly #subject: string;

  constructor(value: JsonValue | undefined, subject: string) {
    if (!isJsonObject(value)) throw new IcebergError('invalid-data', `${subject}: is no object`);
    this.#fields = value;
    this.#subject = subject;
  }

  has(field: string): boolean {
    return Object.hasOwn(this.#fields, field);
  }

  text(field: string): string {
    const value = this.#fields[field];
    if (typeof value !== 'string' || value === '') throw this.#malformed(field, 'a text');
    return value;
  }

  oneOf<Text extends string>(field: string, allowed: readonly Text[]): Text {
    const value = allowed.find((text) => text === this.#fields[field]);
    if (value === undefined) throw this.#malformed(field, `one of ${allowed.join(', ')}`);
    return value;
  }

  /** A whole number that is not negative. */
  count(field: string): number {
    const value = this.#fields[field];
    if (typeof value !== 'number' && typeof value !== 'bigint') {
      throw this.#malformed(field, 'a number');
    }
    return toCount(value, `${this.#subject}: ${field}`);
  }

  boolean(field: string): boolean {
    const value = this.#fields[field];
    if (typeof value !== 'boolean') throw this.#malformed(field, 'true or false');
    return value;
  }

  int64(field: string): bigint {
    const value = this.#fields[field];
    if (typeof value !== 'number' && typeof value !== 'bigint') {
      throw this.#malformed(field, 'a number');
    }
    if (typeof value === 'number' && !Number.isInteger(value)) {
      throw this.#malformed(field, 'a whole number');
    }
    return toInt64(BigInt(value), `${this.#subject}: ${field}`);
  }

  texts(field: string): readonly string[] {
    const value = this.#fields[field];
    const isTexts =
      Array.isArray(value) && value.every((text) => typeof text === 'string' && text !== '');
    if (!isTexts) throw this.#malformed(field, 'an array of texts');
    return value as readonly string[];
  }

  object(field: string): JsonObject {
    const value = this.#fields[field];
    if (!isJsonObject(value)) throw this.#malformed(field, 'an object');
    return value;
  }

  objects(field: string): readonly RecordFields[] {
    const value = this.#fields[field];
    if (!Array.isArray(value)) throw this.#malformed(field, 'an array');
    return (value as readonly JsonValue[]).map(
      (element, index) => new RecordFields(element, `${this.#subject}: ${field}[${index}]`),
    );
  }

  #malformed(field: string, expected: string): IcebergError {
    return new IcebergError('invalid-data', `${this.#subject}: ${field} is not ${expected}`);
  }
}
