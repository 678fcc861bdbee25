import { IcebergError } from '../base/index.ts';
import { type Containers, ContainersBuilder } from './containers.ts';
import { CONTAINER_POSITIONS, POSITION_MAX } from './layout.ts';

/** Positions as a column or a computation gives them. */
export type PositionArray =
  | readonly number[]
  | Float64Array
  | Int32Array
  | Uint32Array
  | BigInt64Array;

/**
 * The set of some positions, in any order and any number of times; sorted ones are quicker.
 *
 * @throws invalid-data — when one is not an integer or is negative
 * @throws unsupported — when one is beyond 2^53 - 1
 */
export function containersOfPositions(positions: PositionArray, subject: string): Containers {
  const given = toNumbers(positions);
  const numbers = isAscending(given, subject) ? given : given.slice().sort();
  const builder = new ContainersBuilder();
  for (let start = 0; start < numbers.length; ) {
    const key = Math.floor(numbers[start]! / CONTAINER_POSITIONS);
    const keyEnd = (key + 1) * CONTAINER_POSITIONS;
    let end = start + 1;
    while (end < numbers.length && numbers[end]! < keyEnd) end++;
    builder.appendValues(key, distinctValues(numbers.subarray(start, end), keyEnd));
    start = end;
  }
  return builder.finish();
}

/** Whether no position is less than the one before; all of them are checked. */
function isAscending(positions: Float64Array, subject: string): boolean {
  let isSorted = true;
  let before = 0;
  for (let index = 0; index < positions.length; index++) {
    const position = positions[index]!;
    if (!(position >= 0 && position <= POSITION_MAX && position === Math.floor(position))) {
      throw positionError(position, subject);
    }
    if (position < before) isSorted = false;
    before = position;
  }
  return isSorted;
}

function positionError(position: number, subject: string): IcebergError {
  return new IcebergError(
    position > POSITION_MAX ? 'unsupported' : 'invalid-data',
    `${subject}: position ${position} is not an integer between 0 and ${POSITION_MAX}`,
  );
}

/** May be the given array itself. */
function toNumbers(positions: PositionArray): Float64Array {
  if (positions instanceof Float64Array) return positions;
  if (!(positions instanceof BigInt64Array)) return new Float64Array(positions);
  const numbers = new Float64Array(positions.length);
  for (let index = 0; index < positions.length; index++) numbers[index] = Number(positions[index]!);
  return numbers;
}

/** Values within the container that ends before `keyEnd` of its ascending positions, which may repeat. */
function distinctValues(positions: Float64Array, keyEnd: number): Uint16Array {
  const base = keyEnd - CONTAINER_POSITIONS;
  const values = new Uint16Array(positions.length);
  let count = 0;
  for (let index = 0; index < positions.length; index++) {
    const value = positions[index]! - base;
    if (count === 0 || value !== values[count - 1]) values[count++] = value;
  }
  return values.subarray(0, count);
}
