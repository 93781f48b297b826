import { decodeEntities } from './html-entities.ts';

/** Elements whose content is not for readers. */
const silent = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'head',
  'nav',
  'form',
]);
/** Of these the content is text up to the end tag, whatever it looks like. */
const raw = new Set(['script', 'style', 'noscript', 'iframe', 'textarea', 'title', 'xmp']);
/** Deeper nesting than any page has; looking up the end of an element stays cheap. */
const MAX_QUIET = 200;
/** Elements without an end tag. */
const empty = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
]);
const block =
  /^(?:address|article|aside|blockquote|br|dd|div|dl|dt|fieldset|figure|footer|h[1-6]|header|hr|li|main|ol|p|pre|section|table|tr|ul)$/u;
/** Text that the page hides from people is a place for instructions to models. */
const hidden =
  /\shidden(?:[\s=>/]|$)|aria-hidden\s*=\s*["']?true|style\s*=\s*["'][^"']*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?:[;"'\s]|$))/iu;

/**
 * The text of an HTML page that a person would see: no scripts, styles, comments, hidden parts or markup. One pass over
 * the input, linear in its length, for any input; not an HTML parser: broken nesting loses formatting, nothing else.
 */
export function htmlToText(html: string): string {
  const lower = html.toLowerCase();
  // Lower case may change the length (U+0130); then end tags are found as they are written.
  const search = lower.length === html.length ? lower : html;
  const parts: string[] = [];
  /** Open elements from the first silent one on; while there is any, nothing is taken. */
  const quiet: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open === -1 ? html.length : open;
    if (quiet.length === 0 && end > at) parts.push(decodeEntities(html.slice(at, end)));
    if (open === -1) break;
    at = readMarkup(html, search, open, parts, quiet);
  }
  return tidy(parts.join(''));
}

/** Reads one tag, comment or stray `<`; returns where it ends. */
function readMarkup(html: string, search: string, open: number, parts: string[], quiet: string[]): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + 4);
  const next = html[open + 1] ?? '';
  if (next === '!' || next === '?') return after(html, '>', open);
  const name = /[a-z/]/iu.test(next)
    ? /^<\/?([a-z][a-z0-9-]{0,40})/iu.exec(html.slice(open, open + 45))?.[1]?.toLowerCase()
    : undefined;
  if (name === undefined) {
    if (quiet.length === 0) parts.push('<');
    return open + 1;
  }
  const end = endOfTag(html, open);
  const tag = html.slice(open, end);
  if (quiet.length === 0 && block.test(name)) parts.push(/^<li/iu.test(tag) ? '\n- ' : '\n');
  if (tag[1] === '/') closeElement(name, quiet);
  else if (!empty.has(name) && !tag.endsWith('/>')) {
    const starts = quiet.length > 0 || silent.has(name) || hidden.test(tag.slice(0, 2000));
    if (raw.has(name)) {
      const close = search.indexOf(`</${name}`, end);
      if (!starts) parts.push(decodeEntities(html.slice(end, close === -1 ? html.length : close)));
      return close === -1 ? html.length : after(html, '>', close);
    }
    if (starts && quiet.length < MAX_QUIET) quiet.push(name);
  }
  return end;
}

function closeElement(name: string, quiet: string[]): void {
  const at = quiet.lastIndexOf(name);
  if (at !== -1) quiet.length = at;
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + mark.length;
}

/** Behind the `>` that is not inside a quoted attribute. */
function endOfTag(html: string, open: number): number {
  let quote = '';
  for (let at = open + 1; at < html.length; at += 1) {
    const character = html[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if ((character === '"' || character === "'") && html[at - 1] === '=') quote = character;
    else if (character === '>') return at + 1;
  }
  return html.length;
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replaceAll(/[ \t\r\f\u00a0]+/gu, ' ').trim())
    .join('\n')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}
