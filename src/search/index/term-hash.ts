/**
 * A term as the index has it: 32 bits, signed as PostgreSQL's integer. FNV-1a with MurmurHash3's finalizer. Among
 * 500,000 different terms about thirty pairs meet, and then lend each other a little weight: cheaper than a dictionary
 * that all writers would have to share.
 */
export function termHash(term: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < term.length; i += 1) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}
