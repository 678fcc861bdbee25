import type { Encoding } from './metadata-types.ts';

/** What wrote a file, as parquet-java's `VersionParser` understands `created_by`. */
export interface CreatedBy {
  readonly application: string;
  readonly version?: string;
  readonly build?: string;
}

/** Longer texts are no version, and parsing takes time quadratic in the length. */
const CREATED_BY_LENGTH_MAX = 1024;

const VERSION_WORD = /\s+version/g;
const BUILD = /^\(\s*build([^)]*)\)$/;

/**
 * Parses `<application> version <version> (build <hash>)`; version and build may be missing. `undefined` for
 * anything else.
 */
export function parseCreatedBy(createdBy: string): CreatedBy | undefined {
  if (createdBy.length > CREATED_BY_LENGTH_MAX) return undefined;
  for (const match of createdBy.matchAll(VERSION_WORD)) {
    const application = createdBy.slice(0, match.index);
    if (application === '' || /[\r\n]/.test(application)) continue;
    const parsed = parseVersionAndBuild(createdBy.slice(match.index + match[0].length));
    if (parsed !== undefined) return { application, ...parsed };
  }
  return undefined;
}

/**
 * Whether parquet-java ignores deprecated bounds of byte arrays in a file: parquet-mr before 1.8.0 kept
 * references to buffers that it reused (PARQUET-251; repaired in CDH 5.5's build of 1.5.0).
 *
 * @see parquet-java, `CorruptStatistics`
 */
export function hasCorruptByteArrayBounds(createdBy: string | undefined): boolean {
  const semver = suspectVersion(createdBy);
  if (semver === 'sound') return false;
  if (semver === 'suspect') return true;
  const isRepairedCdh =
    compareVersions(semver, CDH_5_5) >= 0 && compareVersions(semver, VERSION_1_5_0) < 0;
  return compareVersions(semver, VERSION_1_8_0) < 0 && !isRepairedCdh;
}

/**
 * Whether pages must be decoded and encoded anew instead of copied: before 1.8.0 parquet-mr's DELTA_BYTE_ARRAY
 * pages depended on the page before (PARQUET-246), and readers only know that from `created_by`.
 *
 * @see parquet-java, `CorruptDeltaByteArrays`
 */
export function needsRecode(
  createdBy: string | undefined,
  encodings: readonly Encoding[],
): boolean {
  if (!encodings.includes('DELTA_BYTE_ARRAY')) return false;
  const semver = suspectVersion(createdBy);
  if (semver === 'sound') return false;
  return semver === 'suspect' || compareVersions(semver, VERSION_1_8_0) < 0;
}

interface SemanticVersion {
  readonly numbers: readonly [number, number, number];
  /** Text right after the patch number, such as `rc2` in 1.8.0rc2. */
  readonly hasUnknownPart: boolean;
  /** What follows the hyphen. */
  readonly prerelease?: readonly string[];
}

const VERSION_1_8_0: SemanticVersion = { numbers: [1, 8, 0], hasUnknownPart: false };
const VERSION_1_5_0: SemanticVersion = { numbers: [1, 5, 0], hasUnknownPart: false };
const CDH_5_5: SemanticVersion = { ...VERSION_1_5_0, prerelease: ['cdh5', '5', '0'] };

const SEMANTIC_VERSION = /^(\d+)\.(\d+)\.(\d+)([^-+]*)(?:-([^+]*))?(?:\+.*)?$/;
const INT32_MAX = 2 ** 31 - 1;

/** The version of parquet-mr to be judged; `suspect` when it cannot be told, `sound` for other writers. */
function suspectVersion(createdBy: string | undefined): SemanticVersion | 'sound' | 'suspect' {
  const parsed = createdBy === undefined ? undefined : parseCreatedBy(createdBy);
  if (parsed === undefined) return 'suspect';
  if (parsed.application !== 'parquet-mr') return 'sound';
  return parseSemanticVersion(parsed.version ?? '') ?? 'suspect';
}

function parseVersionAndBuild(text: string): Omit<CreatedBy, 'application'> | undefined {
  const parenthesis = text.indexOf('(');
  const version = (parenthesis < 0 ? text : text.slice(0, parenthesis)).trim();
  const withVersion = version === '' ? {} : { version };
  if (parenthesis < 0) return withVersion;
  const build = BUILD.exec(text.slice(parenthesis))?.[1]?.trim();
  if (build === undefined) return undefined;
  return build === '' ? withVersion : { ...withVersion, build };
}

function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const match = SEMANTIC_VERSION.exec(text);
  if (match === null) return undefined;
  const [major, minor, patch] = match.slice(1, 4).map((digits) => Number(digits));
  const numbers = [major!, minor!, patch!] as const;
  const prerelease = match[5]?.split('.');
  const isTooLarge = (number: number) => number > INT32_MAX;
  if (
    numbers.some(isTooLarge) ||
    prerelease?.some((part) => isNumeric(part) && isTooLarge(Number(part)))
  ) {
    return undefined;
  }
  return {
    numbers,
    hasUnknownPart: match[4] !== '',
    ...(prerelease === undefined ? {} : { prerelease }),
  };
}

/** As parquet-java's `SemanticVersion.compareTo`: any unknown part or prerelease comes before the release. */
function compareVersions(one: SemanticVersion, other: SemanticVersion): number {
  for (const index of [0, 1, 2] as const) {
    const difference = one.numbers[index] - other.numbers[index];
    if (difference !== 0) return difference;
  }
  if (one.hasUnknownPart !== other.hasUnknownPart) return one.hasUnknownPart ? -1 : 1;
  if (one.prerelease === undefined || other.prerelease === undefined) {
    return Number(one.prerelease === undefined) - Number(other.prerelease === undefined);
  }
  return comparePrereleases(one.prerelease, other.prerelease);
}

function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const difference = compareIdentifiers(one[index]!, other[index]!);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Numbers come before words. */
function compareIdentifiers(one: string, other: string): number {
  if (isNumeric(one) !== isNumeric(other)) return isNumeric(one) ? -1 : 1;
  if (isNumeric(one)) return Number(one) - Number(other);
  return one < other ? -1 : one > other ? 1 : 0;
}

function isNumeric(text: string): boolean {
  return /^\d+$/.test(text);
}
