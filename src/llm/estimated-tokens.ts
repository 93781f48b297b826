/** A little pessimistic for English and JSON. */
export const BYTES_PER_TOKEN = 4;

/** For servers that have no way to count. */
export function estimatedTokens(body: object): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(body)) / BYTES_PER_TOKEN);
}
