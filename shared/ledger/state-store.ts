import {
  type JsonObject,
  parseJson,
  type Random,
  randomUuid,
  serializeJson,
} from '../base/index.ts';
import { decodeUtf8, encodeUtf8 } from '../bytes/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { newBody, type RecordFields, readFields } from './record.ts';

/** Where state goes that is too large for an item. */
export interface StateStore {
  readonly store: ObjectStore;
  /** Such as `s3://firn-state/ledger/`, with the closing slash; outside of every table's location. */
  readonly prefix: string;
}

const STATE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Writes a record as an object of its own, under a new name in `folder` below the prefix, and returns its
 * location. One PUT. An object whose location got into no item is never read.
 */
export async function writeState(
  { folder, fields }: { readonly folder: string; readonly fields: JsonObject },
  { state, random }: { readonly state: StateStore; readonly random: Random },
): Promise<string> {
  const location = `${state.prefix}${folder}/${randomUuid(random)}.json`;
  await state.store.write(location, encodeUtf8(serializeJson(newBody(fields))));
  return location;
}

/** One GET. @throws invalid-data, unsupported, not-found */
export async function readState(location: string, state: StateStore): Promise<RecordFields> {
  const bytes = await state.store.read(location, STATE_BYTES_MAX);
  return readFields(parseJson(decodeUtf8(bytes, location), location), location);
}
