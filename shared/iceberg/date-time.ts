import { IcebergError } from '../base/index.ts';

export const MICROS_PER_HOUR = 3_600_000_000n;
export const MICROS_PER_DAY = 86_400_000_000n;
export const NANOS_PER_MICRO = 1000n;

const NANOS_PER_SECOND = 1_000_000_000n;
const SECONDS_PER_DAY = 86_400n;
const DAYS_PER_ERA = 146_097;
/** Days from 0000-03-01, where the calendar's 400-year eras begin, to 1970-01-01. */
const EPOCH_DAYS = 719_468;

export interface CalendarDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/** Division that rounds toward negative infinity; `divisor` must be positive. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

/** The date of the proleptic Gregorian calendar that lies `days` after 1970-01-01. */
export function dateFromDays(days: number): CalendarDate {
  const shifted = days + EPOCH_DAYS;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  };
}

/** Days from 1970-01-01 to a date. */
export function daysFromDate({ year, month, day }: CalendarDate): number {
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - EPOCH_DAYS;
}

/** ISO-8601 date; years beyond 9999 carry a plus sign, as Java's ISO formatter writes them. */
export function isoDate(days: number): string {
  const { year, month, day } = dateFromDays(days);
  return `${isoYear(year)}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** ISO-8601 time of day with seconds, and as many fraction digits as needed. */
export function isoTime(nanosOfDay: bigint): string {
  const fraction = nanosOfDay % NANOS_PER_SECOND;
  const digits = fraction.toString().padStart(9, '0').replace(/0+$/, '');
  return `${clockText(nanosOfDay / NANOS_PER_SECOND)}${digits === '' ? '' : `.${digits}`}`;
}

/** ISO-8601 timestamp without zone, of nanoseconds from 1970-01-01T00:00:00. */
export function isoTimestamp(nanos: bigint): string {
  const nanosPerDay = SECONDS_PER_DAY * NANOS_PER_SECOND;
  const days = floorDivide(nanos, nanosPerDay);
  return `${isoDate(Number(days))}T${isoTime(nanos - days * nanosPerDay)}`;
}

/** Java's `LocalTime.toString`: seconds only where needed, fractions in groups of three digits. */
export function shortTime(nanosOfDay: bigint): string {
  const full = isoTime(nanosOfDay);
  const [clock = '', fraction] = full.split('.');
  if (fraction !== undefined) {
    return `${clock}.${fraction.padEnd(Math.ceil(fraction.length / 3) * 3, '0')}`;
  }
  return clock.endsWith(':00') ? clock.slice(0, -3) : clock;
}

const DATE = /^([+-]\d{4,9}|\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/;

/**
 * Days from 1970-01-01 to an ISO-8601 date.
 *
 * @throws invalid-data — when the text is no date of the calendar
 */
export function parseIsoDate(text: string, subject: string): number {
  const match = DATE.exec(text);
  if (match === null) throw notA('date', text, subject);
  const date = { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
  const days = daysFromDate(date);
  const { month, day } = dateFromDays(days);
  if (month !== date.month || day !== date.day) throw notA('date', text, subject);
  return days;
}

/**
 * Nanoseconds from midnight of an ISO-8601 time of day.
 *
 * @throws invalid-data — when the text is no time of day
 */
export function parseIsoTime(text: string, subject: string): bigint {
  const match = TIME.exec(text);
  if (match === null) throw notA('time', text, subject);
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) throw notA('time', text, subject);
  const seconds = BigInt((hour * 60 + minute) * 60 + second);
  return seconds * NANOS_PER_SECOND + BigInt((match[4] ?? '').padEnd(9, '0'));
}

/**
 * Nanoseconds from 1970-01-01T00:00:00 of an ISO-8601 timestamp without zone.
 *
 * @throws invalid-data — when the text is no timestamp
 */
export function parseIsoTimestamp(text: string, subject: string): bigint {
  const separator = text.search(/[Tt]/);
  if (separator < 0) throw notA('timestamp', text, subject);
  const days = BigInt(parseIsoDate(text.slice(0, separator), subject));
  const nanos = parseIsoTime(text.slice(separator + 1), subject);
  return days * SECONDS_PER_DAY * NANOS_PER_SECOND + nanos;
}

export function twoDigits(value: number): string {
  return value.toString().padStart(2, '0');
}

function clockText(secondOfDay: bigint): string {
  const seconds = Number(secondOfDay);
  const minutes = Math.floor(seconds / 60);
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`;
}

function isoYear(year: number): string {
  const digits = Math.abs(year).toString().padStart(4, '0');
  if (year < 0) return `-${digits}`;
  return year > 9999 ? `+${digits}` : digits;
}

function notA(kind: string, text: string, subject: string): IcebergError {
  return new IcebergError('invalid-data', `${subject}: ${text.slice(0, 60)} is not a ${kind}`);
}
