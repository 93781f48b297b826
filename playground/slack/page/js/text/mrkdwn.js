import { html } from '../core/dom.js';
import { codeBlock as codeBlockNode } from './code-block.js';
import { emojiFor, withEmoji } from './emoji.js';
import { broadcastMention, channelMention, dateText, groupMention, link, userMention } from './entities.js';

/**
 * Slack's mrkdwn → nodes. Everything is untrusted: what is not understood stays text, and nothing here can
 * produce anything but text nodes and a fixed set of elements.
 */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Child} Child */

/** Beyond this a message is shown, but unformatted: emphasis is a scan per marker. */
const MAX_FORMATTED = 60_000;
const MAX_DEPTH = 6;

/** A text object (`plain_text` or `mrkdwn`) → nodes. @param {Ctx} ctx @param {any} object @returns {Child[]} */
export function textObject(ctx, object) {
  if (object === null || typeof object !== 'object' || typeof object.text !== 'string') return [];
  if (object.type === 'mrkdwn') return mrkdwn(ctx, object.text, { verbatim: object.verbatim === true });
  return [plain(object)];
}

/** The text of a plain_text object with its emoji. @param {any} object */
export function plain(object) {
  const text = typeof object?.text === 'string' ? object.text : '';
  return object?.emoji === false ? text : withEmoji(unescape(text));
}

/** @param {string} text */
export function unescape(text) {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'));
}

/**
 * @param {Ctx} ctx
 * @param {string} source
 * @param {{ verbatim?: boolean }} [options] `verbatim`: bare addresses stay text
 * @returns {Child[]}
 */
export function mrkdwn(ctx, source, options = {}) {
  const text = source.replace(/\r\n?/g, '\n');
  if (text.length > MAX_FORMATTED) return [unescape(text)];
  /** @type {Child[]} */
  const out = [];
  // ``` fences win over everything else, also in the middle of a line.
  const pieces = text.split('```');
  const closed = pieces.length % 2 === 1;
  pieces.forEach((piece, index) => {
    const inFence = index % 2 === 1 && (closed || index < pieces.length - 1);
    if (inFence) out.push(codeBlock(ctx, piece));
    else out.push(lines(ctx, fencePadding(index % 2 === 1 ? `\`\`\`${piece}` : piece, index, pieces.length), options));
  });
  return out;
}

/**
 * The line break next to a code block belongs to the block, not to the text.
 * @param {string} text
 * @param {number} index
 * @param {number} count
 */
function fencePadding(text, index, count) {
  let result = text;
  if (index > 0) result = result.replace(/^\n/, '');
  if (index < count - 1) result = result.replace(/\n$/, '');
  return result;
}

/** @param {Ctx} ctx @param {string} source */
function codeBlock(ctx, source) {
  const body = source.replace(/^\n/, '').replace(/\n$/, '');
  return codeBlockNode(entitiesOnly(ctx, body));
}

/** @param {Ctx} ctx @param {string} text @param {{ verbatim?: boolean }} options @returns {Child[]} */
function lines(ctx, text, options) {
  if (text === '') return [];
  /** @type {Child[]} */
  const out = [];
  const all = text.split('\n');
  for (let i = 0; i < all.length; i++) {
    const line = all[i] ?? '';
    if (/^(&gt;|>){3}/.test(line)) {
      const rest = [line.replace(/^(&gt;|>){3} ?/, ''), ...all.slice(i + 1)];
      out.push(quote(ctx, rest, options));
      break;
    }
    if (/^(&gt;|>)/.test(line)) {
      const quoted = [];
      while (i < all.length && /^(&gt;|>)/.test(all[i] ?? '')) quoted.push((all[i++] ?? '').replace(/^(&gt;|>) ?/, ''));
      i -= 1;
      out.push(quote(ctx, quoted, options));
      continue;
    }
    const bullet = /^(\s*)[•◦▪‣]\s+(.*)$/.exec(line);
    if (bullet) {
      const depth = Math.min(4, Math.floor((bullet[1] ?? '').length / 2));
      out.push(html`<span class="bullet-line bullet-${depth}">${inline(ctx, bullet[2] ?? '', options, 0)}</span>`);
      continue;
    }
    out.push(inline(ctx, line, options, 0));
    if (i < all.length - 1) out.push(html`<br />`);
  }
  return out;
}

/** @param {Ctx} ctx @param {string[]} quoted @param {{ verbatim?: boolean }} options */
function quote(ctx, quoted, options) {
  return html`<blockquote class="quote">
    ${quoted.map((line, i) => [i > 0 && html`<br />`, inline(ctx, line, options, 0)])}
  </blockquote>`;
}

/** @type {Record<string, string>} */
const STYLES = { '*': 'strong', _: 'em', '~': 's' };
const SPECIAL = /[<`*_~:&]|https?:\/\//g;

/**
 * @param {Ctx} ctx
 * @param {string} text
 * @param {{ verbatim?: boolean }} options
 * @param {number} depth
 * @returns {Child[]}
 */
function inline(ctx, text, options, depth) {
  /** @type {Child[]} */
  const out = [];
  let plainFrom = 0;
  let at = 0;
  const flush = (/** @type {number} */ end) => {
    if (end > plainFrom) out.push(unescape(text.slice(plainFrom, end)));
  };
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const hit = SPECIAL.exec(text);
    if (!hit) break;
    at = hit.index;
    const token = readToken(ctx, text, at, options, depth);
    if (token) {
      flush(at);
      out.push(token.node);
      at = token.end;
      plainFrom = at;
    } else {
      at += hit[0].length;
    }
  }
  flush(text.length);
  return out;
}

/**
 * @param {Ctx} ctx
 * @param {string} text
 * @param {number} at
 * @param {{ verbatim?: boolean }} options
 * @param {number} depth
 * @returns {{ node: Child, end: number } | undefined}
 */
function readToken(ctx, text, at, options, depth) {
  const char = text[at] ?? '';
  if (char === '<') {
    const close = text.indexOf('>', at);
    if (close === -1) return undefined;
    const node = entity(ctx, text.slice(at + 1, close));
    return node === undefined ? undefined : { node, end: close + 1 };
  }
  if (char === '`') {
    const close = text.indexOf('`', at + 1);
    if (close <= at + 1) return undefined;
    const node = html`<code class="code">${entitiesOnly(ctx, text.slice(at + 1, close))}</code>`;
    return { node, end: close + 1 };
  }
  if (char === ':') return emojiToken(text, at);
  if (char === 'h') return options.verbatim ? undefined : bareLink(ctx, text, at);
  const tag = STYLES[char];
  if (tag === undefined || depth >= MAX_DEPTH || !opens(text, at)) return undefined;
  const close = closing(text, at, char);
  if (close === -1) return undefined;
  return { node: html`<${tag}>${inline(ctx, text.slice(at + 1, close), options, depth + 1)}<//>`, end: close + 1 };
}

/**
 * A marker opens after the start, a space or punctuation, and before something visible.
 * @param {string} text
 * @param {number} at
 */
function opens(text, at) {
  const before = text[at - 1];
  const after = text[at + 1];
  if (after === undefined || /\s/.test(after) || after === text[at]) return false;
  return before === undefined || !/[\p{L}\p{N}]/u.test(before);
}

/**
 * Where the emphasis ends: the next marker after something visible and before no letter. Code and `<…>` are skipped.
 * @param {string} text
 * @param {number} at
 * @param {string} marker
 */
function closing(text, at, marker) {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === '<' || char === '`') {
      const end = text.indexOf(char === '<' ? '>' : '`', i + 1);
      if (end !== -1) i = end;
      continue;
    }
    if (char !== marker || i === at + 1) continue;
    const after = text[i + 1];
    if (!/\s/.test(text[i - 1] ?? ' ') && (after === undefined || !/[\p{L}\p{N}]/u.test(after))) return i;
  }
  return -1;
}

/** @param {string} text @param {number} at */
function emojiToken(text, at) {
  const match = /^:([a-z0-9_+-]+(?:::skin-tone-\d)?):/.exec(text.slice(at, at + 60));
  const char = match?.[1] === undefined ? undefined : emojiFor(match[1]);
  if (!match || char === undefined) return undefined;
  return { node: emojiNode(char, match[1] ?? ''), end: at + match[0].length };
}

/** @param {string} char @param {string} name */
export function emojiNode(char, name) {
  return html`<span class="emoji" role="img" aria-label=${name.replaceAll('_', ' ')} title=":${name}:">${char}</span>`;
}

/** @param {Ctx} ctx @param {string} text @param {number} at */
function bareLink(ctx, text, at) {
  if (/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ')) return undefined;
  const match = /^https?:\/\/[^\s<>`|"]+/.exec(text.slice(at, at + 3000));
  if (!match) return undefined;
  const url = match[0].replace(/[.,;:!?)\]}'*_~]+$/, '');
  return { node: link(ctx, unescape(url), [unescape(url)]), end: at + url.length };
}

/** What stands between `<` and `>`. @param {Ctx} ctx @param {string} body @returns {Child | undefined} */
function entity(ctx, body) {
  const bar = body.indexOf('|');
  const target = bar === -1 ? body : body.slice(0, bar);
  const label = bar === -1 ? undefined : unescape(body.slice(bar + 1));
  if (target.startsWith('@')) return userMention(ctx, target.slice(1), label);
  if (target.startsWith('#')) return channelMention(ctx, target.slice(1), label);
  if (target.startsWith('!')) return special(ctx, target.slice(1), label);
  if (!/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const url = unescape(target);
  return link(ctx, url, [label === undefined || label === '' ? url.replace(/^mailto:/, '') : withEmoji(label)]);
}

/** @param {Ctx} ctx @param {string} target @param {string | undefined} label @returns {Child} */
function special(ctx, target, label) {
  if (target.startsWith('subteam^')) return groupMention(ctx, target.slice(8), label);
  if (target.startsWith('date^')) {
    const [, seconds = '', format = '', url] = target.split('^');
    const text = dateText(Number(seconds), format, label ?? '');
    const title = Number.isFinite(Number(seconds)) ? new Date(Number(seconds) * 1000).toString() : undefined;
    const time = html`<time class="date" title=${title}>${text}</time>`;
    return url === undefined || url === '' ? time : link(ctx, unescape(url), [time]);
  }
  return broadcastMention(label?.replace(/^@/, '') || target);
}

/** Inside code only `<…>` has a meaning. @param {Ctx} ctx @param {string} text @returns {Child[]} */
function entitiesOnly(ctx, text) {
  /** @type {Child[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(/<([^<>\n]+)>/g)) {
    const node = /^(https?:|mailto:|[@#]|!(subteam\^|here$|channel$|everyone$))/.test(match[1] ?? '')
      ? entity(ctx, match[1] ?? '')
      : undefined;
    if (node === undefined) continue;
    out.push(unescape(text.slice(from, match.index)), node);
    from = match.index + match[0].length;
  }
  out.push(unescape(text.slice(from)));
  return out;
}
