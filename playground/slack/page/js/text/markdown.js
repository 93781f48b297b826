import { html } from '../core/dom.js';
import { codeBlock } from './code-block.js';
import { withEmoji } from './emoji.js';
import { link } from './entities.js';
import { unescape } from './mrkdwn.js';

/**
 * Standard Markdown (the `markdown` block, `markdown_text`) → nodes. The parts models write: headings, lists,
 * tasks, tables, code, quotes, emphasis, links. Raw HTML stays text.
 */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Child} Child */

const FENCE = /^\s*(```+|~~~+)\s*([\w+#.-]*)\s*$/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*$/;
const MAX_DEPTH = 6;

/** @param {Ctx} ctx @param {string} source @returns {Child} */
export function markdown(ctx, source) {
  return html`<div class="markdown">${blocks(ctx, source.replace(/\r\n?/g, '\n').split('\n'), 0)}</div>`;
}

/** @param {Ctx} ctx @param {string[]} all @param {number} depth @returns {Child[]} */
function blocks(ctx, all, depth) {
  /** @type {Child[]} */
  const out = [];
  let at = 0;
  while (at < all.length) {
    const line = all[at] ?? '';
    const read = line.trim() === '' ? { node: null, next: at + 1 } : readBlock(ctx, all, at, depth);
    out.push(read.node);
    at = read.next;
  }
  return out;
}

/**
 * @param {Ctx} ctx
 * @param {string[]} all
 * @param {number} at
 * @param {number} depth
 * @returns {{ node: Child, next: number }}
 */
function readBlock(ctx, all, at, depth) {
  const line = all[at] ?? '';
  const fence = FENCE.exec(line);
  if (fence) return readFence(all, at, fence[1] ?? '```', fence[2] ?? '');
  const heading = HEADING.exec(line);
  if (heading) {
    const level = Math.min(6, (heading[1] ?? '#').length + 2);
    return { node: html`<${`h${level}`} class="md-heading">${spans(ctx, heading[2] ?? '', 0)}<//>`, next: at + 1 };
  }
  if (RULE.test(line)) return { node: html`<hr class="divider" />`, next: at + 1 };
  if (/^\s*>/.test(line) && depth < MAX_DEPTH) return readQuote(ctx, all, at, depth);
  if (ITEM.test(line) && depth < MAX_DEPTH) return readList(ctx, all, at, depth);
  if (line.includes('|') && TABLE_RULE.test(all[at + 1] ?? '') && (all[at + 1] ?? '').includes('-')) {
    return readTable(ctx, all, at);
  }
  return readParagraph(ctx, all, at);
}

/** @param {string[]} all @param {number} at @param {string} marker @param {string} language */
function readFence(all, at, marker, language) {
  const body = [];
  let next = at + 1;
  while (next < all.length && !(all[next] ?? '').trim().startsWith(marker)) body.push(all[next++] ?? '');
  return { node: codeBlock(body.join('\n'), language), next: next + 1 };
}

/** @param {Ctx} ctx @param {string[]} all @param {number} at @param {number} depth */
function readQuote(ctx, all, at, depth) {
  const quoted = [];
  let next = at;
  while (next < all.length && /^\s*>/.test(all[next] ?? '')) quoted.push((all[next++] ?? '').replace(/^\s*> ?/, ''));
  return { node: html`<blockquote class="quote">${blocks(ctx, quoted, depth + 1)}</blockquote>`, next };
}

/** @param {Ctx} ctx @param {string[]} all @param {number} at @param {number} depth */
function readList(ctx, all, at, depth) {
  const first = ITEM.exec(all[at] ?? '');
  const indent = (first?.[1] ?? '').length;
  const ordered = /\d/.test(first?.[2] ?? '');
  /** @type {string[][]} */
  const items = [];
  let next = at;
  for (; next < all.length; next++) {
    const line = all[next] ?? '';
    const item = ITEM.exec(line);
    const own = item !== null && (item[1] ?? '').length <= indent + 1;
    if (own && /\d/.test(item[2] ?? '') === ordered) items.push([item[3] ?? '']);
    else if (own || (line.trim() !== '' && !/^\s+/.test(line))) break;
    else if (line.trim() === '' && !/^\s+\S/.test(all[next + 1] ?? '') && !ITEM.test(all[next + 1] ?? '')) break;
    else items.at(-1)?.push(line.replace(new RegExp(`^\\s{0,${indent + 3}}`), ''));
  }
  const start = ordered ? Number.parseInt(first?.[2] ?? '1', 10) : undefined;
  const node = html`<${ordered ? 'ol' : 'ul'} class="md-list" start=${start === 1 ? undefined : start}>
    ${items.map((item) => listItem(ctx, item, depth))}
  <//>`;
  return { node, next };
}

/** @param {Ctx} ctx @param {string[]} item @param {number} depth */
function listItem(ctx, item, depth) {
  const [head = '', ...rest] = item;
  const task = /^\[([ xX])\]\s+(.*)$/.exec(head);
  const box = task && html`<input type="checkbox" disabled checked=${task[1] !== ' '} aria-label="task" />`;
  const text = spans(ctx, task ? (task[2] ?? '') : head, 0);
  return html`<li class=${task ? 'md-task' : undefined}>
    ${box}
    ${text}
    ${rest.length > 0 && blocks(ctx, rest, depth + 1)}
  </li>`;
}

/** @param {Ctx} ctx @param {string[]} all @param {number} at */
function readTable(ctx, all, at) {
  const head = cells(all[at] ?? '');
  const align = cells(all[at + 1] ?? '').map((rule) =>
    /^:.*:$/.test(rule) ? 'align-center' : rule.endsWith(':') ? 'align-right' : undefined,
  );
  const rows = [];
  let next = at + 2;
  while (next < all.length && (all[next] ?? '').includes('|')) rows.push(cells(all[next++] ?? ''));
  const cell = (/** @type {string} */ tag, /** @type {string} */ text, /** @type {number} */ i) =>
    html`<${tag} class=${align[i]}>${spans(ctx, text, 0)}<//>`;
  const node = html`<div class="table-scroll" tabindex="0">
    <table class="table">
      <thead><tr>${head.map((text, i) => cell('th', text, i))}</tr></thead>
      <tbody>
        ${rows.map((row) =>
          html`<tr>${head.map((_, i) => cell('td', row[i] ?? '', i))}</tr>`,
        )}
      </tbody>
    </table>
  </div>`;
  return { node, next };
}

/** @param {string} line */
function cells(line) {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** @param {Ctx} ctx @param {string[]} all @param {number} at */
function readParagraph(ctx, all, at) {
  const own = [];
  let next = at;
  while (next < all.length) {
    const line = all[next] ?? '';
    const ends = line.trim() === '' || FENCE.test(line) || HEADING.test(line) || /^\s*>/.test(line) || ITEM.test(line);
    if (ends && next > at) break;
    own.push(line);
    next += 1;
  }
  const node = html`<p>${own.map((line, i) => [i > 0 && html`<br />`, spans(ctx, line.trimEnd(), 0)])}</p>`;
  return { node, next };
}

/** Inline Markdown. @param {Ctx} ctx @param {string} text @param {number} depth @returns {Child[]} */
function spans(ctx, text, depth) {
  if (depth > MAX_DEPTH) return [text];
  /** @type {Child[]} */
  const out = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const token = readSpan(ctx, text, at, depth);
    if (token) {
      out.push(words(text.slice(from, at)), token.node);
      at = token.end;
      from = at;
    } else {
      at += 1;
    }
  }
  out.push(words(text.slice(from)));
  return out;
}

/** @param {string} text */
function words(text) {
  return withEmoji(unescape(text));
}

/** @type {[RegExp, string][]} */
const EMPHASIS = [
  [/^\*\*\*(?=\S)(.+?\S|\S)\*\*\*(?!\*)/, 'strong'],
  [/^\*\*(?=\S)(.+?\S|\S)\*\*(?!\*)/, 'strong'],
  [/^__(?=\S)(.+?\S|\S)__(?![\p{L}\p{N}_])/u, 'strong'],
  [/^~~(?=\S)(.+?\S|\S)~~/, 's'],
  [/^\*(?=[^\s*])(.*?[^\s*])\*(?!\*)/, 'em'],
  [/^_(?=[^\s_])(.*?[^\s_])_(?![\p{L}\p{N}_])/u, 'em'],
];
const CODE_SPAN = /^(`+)(.+?)(?<!`)\1(?!`)/;
const LINK_SPAN = /^!?\[([^\]\n]*)\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/;
const BARE = /^https?:\/\/[^\s<>`"|]+/;
const AUTO = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/;

/**
 * @param {Ctx} ctx
 * @param {string} text
 * @param {number} at
 * @param {number} depth
 * @returns {{ node: Child, end: number } | undefined}
 */
function readSpan(ctx, text, at, depth) {
  const char = text[at] ?? '';
  if (!'\\`![<*_~h'.includes(char)) return undefined;
  const rest = text.slice(at);
  if (char === '\\' && /[!-/:-@[-`{-~]/.test(rest[1] ?? '')) return { node: rest[1] ?? '', end: at + 2 };
  if (char === '`') {
    const code = CODE_SPAN.exec(rest);
    return code ? { node: html`<code class="code">${(code[2] ?? '').trim()}</code>`, end: at + code[0].length } : undefined;
  }
  if (char === '[' || char === '!') {
    const found = LINK_SPAN.exec(rest);
    if (!found) return undefined;
    return {
      node: link(ctx, found[2] ?? '', spans(ctx, found[1] || (found[2] ?? ''), depth + 1)),
      end: at + found[0].length,
    };
  }
  if (char === '<') {
    const auto = AUTO.exec(rest);
    return auto ? { node: link(ctx, auto[1] ?? '', [auto[1] ?? '']), end: at + auto[0].length } : undefined;
  }
  const wordBefore = /[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ');
  if (char === 'h') {
    const bare = wordBefore ? null : BARE.exec(rest);
    const url = bare?.[0].replace(/[.,;:!?)\]}'*_~]+$/, '');
    return url ? { node: link(ctx, url, [url]), end: at + url.length } : undefined;
  }
  if (char === '_' && wordBefore) return undefined;
  for (const [pattern, tag] of EMPHASIS) {
    const found = pattern.exec(rest);
    if (!found) continue;
    const inner = spans(ctx, found[1] ?? '', depth + 1);
    return { node: html`<${tag}>${found[0].startsWith('***') ? html`<em>${inner}</em>` : inner}<//>`, end: at + found[0].length };
  }
  return undefined;
}
