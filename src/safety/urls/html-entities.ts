/** The entities that documentation uses; unknown ones stay as they are written. */
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  para: '¶',
  sect: '§',
  times: '×',
  larr: '←',
  rarr: '→',
  le: '≤',
  ge: '≥',
  ne: '≠',
};

/** Character references to text, once: `&amp;lt;` becomes `&lt;`. A reference to no character becomes U+FFFD. */
export function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/giu,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? String(whole);
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      const noCharacter = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
      return noCharacter ? '\ufffd' : String.fromCodePoint(code);
    },
  );
}
