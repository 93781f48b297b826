import { list } from '../blocks/fields.js';
import { html } from '../core/dom.js';
import { codeBlock } from './code-block.js';
import { emojiFor } from './emoji.js';
import { broadcastMention, channelMention, dateText, groupMention, link, userMention } from './entities.js';
import { emojiNode } from './mrkdwn.js';

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Child} Child */

/** A `rich_text` block → nodes. @param {Ctx} ctx @param {any} block */
export function richText(ctx, block) {
  return html`<div class="rich-text">${list(block?.elements).map((element) => richElement(ctx, element))}</div>`;
}

/** @param {Ctx} ctx @param {any} element @returns {Child} */
function richElement(ctx, element) {
  const inner = () => list(element.elements).map((leaf) => richLeaf(ctx, leaf));
  switch (element.type) {
    case 'rich_text_section':
      return html`<div class="rich-section">${inner()}</div>`;
    case 'rich_text_quote':
      return html`<blockquote class="quote">${inner()}</blockquote>`;
    case 'rich_text_preformatted':
      return codeBlock(inner());
    case 'rich_text_list':
      return richList(ctx, element);
    default:
      return richLeaf(ctx, element);
  }
}

/** @param {Ctx} ctx @param {any} element */
function richList(ctx, element) {
  const indent = Math.max(0, Math.min(8, Number(element.indent) || 0));
  const offset = Number(element.offset) || 0;
  return html`<${element.style === 'ordered' ? 'ol' : 'ul'}
    class="rich-list rich-list-${indent % 3}${element.border ? ' rich-border' : ''}"
    style=${{ '--indent': String(indent) }} start=${offset > 0 ? offset + 1 : undefined}>
    ${list(element.elements).map((item) =>
      html`<li>${list(item.elements).map((leaf) => richLeaf(ctx, leaf))}</li>`,
    )}
  <//>`;
}

/** @param {Ctx} ctx @param {any} leaf @returns {Child} */
function richLeaf(ctx, leaf) {
  return styled(leaf.style, leafBody(ctx, leaf));
}

/** @param {Ctx} ctx @param {any} leaf @returns {Child} */
function leafBody(ctx, leaf) {
  switch (leaf.type) {
    case 'text':
      return broken(String(leaf.text ?? ''));
    case 'link':
      return link(ctx, String(leaf.url ?? ''), [String(leaf.text ?? leaf.url ?? '')]);
    case 'user':
      return userMention(ctx, String(leaf.user_id ?? ''));
    case 'channel':
      return channelMention(ctx, String(leaf.channel_id ?? ''));
    case 'usergroup':
      return groupMention(ctx, String(leaf.usergroup_id ?? ''));
    case 'team':
      return html`<span class="mention">@${String(leaf.team_id ?? 'team')}</span>`;
    case 'broadcast':
      return broadcastMention(String(leaf.range ?? 'here'));
    case 'emoji':
      return emojiLeaf(leaf);
    case 'date':
      return dateLeaf(ctx, leaf);
    case 'color':
      return colorLeaf(String(leaf.value ?? ''));
    default:
      return typeof leaf.text === 'string' ? leaf.text : null;
  }
}

/** @param {any} leaf */
function emojiLeaf(leaf) {
  const name = String(leaf.name ?? '');
  const char = emojiFor(name) ?? fromCodePoints(leaf.unicode);
  return char === undefined ? `:${name}:` : emojiNode(char, name);
}

/** @param {unknown} unicode hyphen-separated code points, "1f468-200d-1f4bb" */
function fromCodePoints(unicode) {
  if (typeof unicode !== 'string' || !/^[0-9a-f]{2,6}(-[0-9a-f]{2,6})*$/i.test(unicode)) return undefined;
  const points = unicode.split('-').map((part) => Number.parseInt(part, 16));
  return points.every((point) => point <= 0x10ffff) ? String.fromCodePoint(...points) : undefined;
}

/** @param {Ctx} ctx @param {any} leaf */
function dateLeaf(ctx, leaf) {
  const text = dateText(Number(leaf.timestamp), String(leaf.format ?? '{date} {time}'), String(leaf.fallback ?? ''));
  const node = html`<time class="date">${text}</time>`;
  return typeof leaf.url === 'string' ? link(ctx, leaf.url, [node]) : node;
}

/** @param {string} value */
function colorLeaf(value) {
  const valid = /^#[0-9a-f]{3,8}$/i.test(value);
  return [value, valid && html`<span class="color-chip" style=${{ '--chip': value }} aria-hidden="true" />`];
}

/** @param {string} text @returns {Child[]} */
function broken(text) {
  return text.split('\n').map((line, i) => [i > 0 && '\n', line]);
}

/** @param {any} style @param {Child} body @returns {Child} */
function styled(style, body) {
  if (style === null || typeof style !== 'object') return body;
  let node = body;
  if (style.code) node = html`<code class="code">${node}</code>`;
  if (style.strike) node = html`<s>${node}</s>`;
  if (style.italic) node = html`<em>${node}</em>`;
  if (style.bold) node = html`<strong>${node}</strong>`;
  if (style.underline) node = html`<u>${node}</u>`;
  return node;
}
