/**
 * What everything stands on: assertions, the one error class, clocks, chance, deadlines, the logger port,
 * bounded concurrency, lossless JSON and the ranged-read port. Knows nothing of formats or services.
 */
export { assert, assertNever } from './assert.ts';
export { type Clock, ManualClock, nextTurn, systemClock } from './clock.ts';
export { type Deadline, deadlineAfter, NO_DEADLINE, requireTime } from './deadline.ts';
export {
  ERROR_KINDS,
  type ErrorContext,
  type ErrorKind,
  IcebergError,
  isIcebergError,
} from './errors.ts';
export {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  parseJson,
  serializeJson,
} from './json.ts';
export { type LogFields, type Logger, silentLogger } from './logger.ts';
export { mapConcurrent } from './map-concurrent.ts';
export { toCount, toInt64, toSafeNumber } from './numbers.ts';
export {
  type Random,
  randomFraction,
  randomInt63,
  randomUuid,
  seededRandom,
  systemRandom,
} from './random.ts';
export type { ByteSink, RangedReader } from './ranged-reader.ts';
export { createTurns, type Turns } from './turns.ts';
