/** Text as PostgreSQL can store it: without NUL, and without halves of surrogate pairs, which jsonb refuses. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '').replace(/\p{Surrogate}/gu, '\uFFFD');
}
