/** Words that only look like names: joined by a hyphen or a slash, as in prose. */
const JOINED_WORDS = /^\p{L}+(?:[-/]\p{L}+)+$/u;
const QUOTED = /[`"“”«»]([^`"“”«»\n]{2,80})[`"“”«»]|(?<![\p{L}\p{N}])'([^'\n]{2,80})'(?![\p{L}\p{N}])/gu;
const TOKEN = /[\p{L}\p{N}_/][\p{L}\p{N}_.:/@+-]*[\p{L}\p{N}_]/gu;

/** What a text quotes, word by word; an ellipsis stands for what was left out. `rest`: the text without it. */
export function quotedIn(text: string): { readonly quoted: readonly string[]; readonly rest: string } {
  const quoted: string[] = [];
  const rest = text.replace(QUOTED, (found, one: string | undefined, other: string | undefined) => {
    quoted.push(...(one ?? other ?? '').split(/…|\.\.\./).map((piece) => piece.trim()));
    return ' '.repeat(found.length);
  });
  return { quoted: quoted.filter((piece) => /[\p{L}\p{N}]/u.test(piece)), rest };
}

/**
 * The names and identifiers of a text: what is written as programs write names (`orders_pkey`, `public.orders`, `v2.1.0`,
 * `FreeStorageSpace`), and hyphened words of a family of names that was shown (`shop-billing` beside `shop-checkout`).
 *
 * @param families first parts of the hyphened names that were shown
 */
export function namesIn(text: string, families: Pick<ReadonlySet<string>, 'has'>): readonly string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => token).filter((token) => isName(token, families));
}

function isName(token: string, families: Pick<ReadonlySet<string>, 'has'>): boolean {
  if (token.startsWith('/')) return true;
  if (JOINED_WORDS.test(token))
    return token.includes('-') && families.has(token.split('-')[0]?.toLowerCase() ?? '');
  // `e.g.`, `i.e.`
  if (/^(?:\p{L}\.)+\p{L}$/u.test(token)) return false;
  if (/[\p{L}]/u.test(token) && /[\p{N}_]/u.test(token)) return true;
  if (/[\p{L}\p{N}][.:@][\p{L}\p{N}]/u.test(token)) return true;
  return /\p{Ll}{2,}\p{Lu}\p{Ll}/u.test(token);
}
