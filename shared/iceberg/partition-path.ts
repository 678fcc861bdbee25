import { humanText } from './human-text.ts';
import type { PartitionType } from './partition-spec.ts';
import type { Partition, PartitionSpec } from './types.ts';

/** Characters that Java's `URLEncoder` escapes and `encodeURIComponent` does not. */
const LEFT_BY_JAVASCRIPT = /[!~'()]/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * The path of a partition, `name=value` joined by `/`, both URL-encoded; equal to Iceberg Java's
 * `PartitionSpec.partitionToPath`. Empty for a spec without fields.
 *
 * @param type the type that `partitionType` gives for the spec
 */
export function partitionPath(
  spec: PartitionSpec,
  type: PartitionType,
  partition: Partition,
): string {
  return spec.fields
    .map((field, index) => {
      const resultType = type.fields[index]?.type ?? { kind: 'unknown' };
      const text = humanText(field.transform, resultType, partition[index] ?? null);
      return `${urlEncode(field.name)}=${urlEncode(text)}`;
    })
    .join('/');
}

function urlEncode(text: string): string {
  return encodeURIComponent(text.replace(LONE_SURROGATE, '?'))
    .replace(
      LEFT_BY_JAVASCRIPT,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    )
    .replaceAll('%20', '+');
}
