/** Texts of Block Kit blocks in reading order; `links` are the URLs of their buttons and links. */
export interface BlockText {
  readonly headers: readonly string[];
  readonly lines: readonly string[];
  readonly links: readonly string[];
}

/** Deep enough for lists in quotes in rich text; a block nested deeper than this is not a message Slack accepts. */
const MAX_DEPTH = 8;

export function blockText(blocks: readonly Readonly<Record<string, unknown>>[]): BlockText {
  const found = { headers: [] as string[], lines: [] as string[], links: [] as string[] };
  for (const block of blocks) walk(block, found, 0);
  return found;
}

function walk(
  node: unknown,
  found: { headers: string[]; lines: string[]; links: string[] },
  depth: number,
): void {
  if (depth > MAX_DEPTH || typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const part of node) walk(part, found, depth + 1);
    return;
  }
  const part = node as Readonly<Record<string, unknown>>;
  if (typeof part['url'] === 'string') found.links.push(part['url']);
  if (part['type'] === 'button') return;
  if (part['type'] === 'rich_text_section' || part['type'] === 'rich_text_preformatted') {
    found.lines.push(runs(part['elements'], found.links));
    return;
  }
  const text = part['text'];
  if (part['type'] === 'header') found.headers.push(plain(text));
  else if (typeof text === 'string') found.lines.push(text);
  else walk(text, found, depth + 1);
  if (Array.isArray(part['fields'])) for (const field of part['fields']) found.lines.push(fieldOf(field));
  for (const key of ['elements', 'accessory', 'rows', 'title']) walk(part[key], found, depth + 1);
}

/** `*Service:*\nCheckout`: a name above its value. */
const fieldOf = (field: unknown): string =>
  plain(field).replace(/^\*?([^*:\n]{1,40}):?\*?[^\S\n]*\n(?=[^\n]*$)/, '*$1:* ');

function plain(text: unknown): string {
  return typeof text === 'object' && text !== null && 'text' in text ? String(text.text) : '';
}

/** The runs of a rich text line, joined. */
function runs(elements: unknown, links: string[]): string {
  if (!Array.isArray(elements)) return '';
  return elements
    .map((run: Readonly<Record<string, unknown>>) => {
      if (typeof run['url'] === 'string') links.push(run['url']);
      return [run['text'], run['url']].find((text) => typeof text === 'string') ?? '';
    })
    .join('');
}
