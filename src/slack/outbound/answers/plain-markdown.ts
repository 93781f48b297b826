import { escape, printable } from '../../views/blocks/text.ts';

const ADDRESS = /([a-z][a-z0-9+.-]*:\/\/\S+|\bmailto:\S+|\bwww\.\S+)/i;
/** Breaks the marks it stands between, and shows as nothing. */
const NOTHING = '\u200b';

/**
 * Words of a model as Slack's markdown, in which nothing can mention, ring, hide an address behind other words, or have
 * Slack fetch one: `<…>` is text, `[…](…)` is no link and no image, an address is code. Bold, lists and the like stay.
 * Of pieces that end with a space the same comes out as of the whole.
 */
export function plainMarkdown(text: string): string {
  return printable(text)
    .replaceAll('`', 'ʼ')
    .split(ADDRESS)
    .map((piece, at) => (at % 2 === 1 ? `\`${piece}\`` : unmarked(piece)))
    .join('');
}

function unmarked(text: string): string {
  return escape(text).replace(/\](?=[([:]|$)/g, `]${NOTHING}`);
}
