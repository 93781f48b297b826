/** For servers that have no way to count: four bytes a token, a little pessimistic for English and JSON. */
export function estimatedTokens(body: object): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(body)) / 4);
}
