/**
 * A 32-bit hash of a partition key. Two partitions of one hash are looked at together, and that is all: a plan then
 * reads a manifest more than it had to.
 *
 * @see FNV-1a over UTF-16 units, and the last steps of Murmur3, which spread neighbouring keys
 */
export function partitionHash(partitionKey: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < partitionKey.length; index++) {
    hash = Math.imul(hash ^ partitionKey.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
