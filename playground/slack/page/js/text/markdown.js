import { Lexer } from '/vendor/marked.js';
import { html } from '../core/dom.js';
import { codeBlock } from './code-block.js';
import { withEmoji } from './emoji.js';
import { link } from './entities.js';
import { unescape } from './mrkdwn.js';

/**
 * Standard Markdown (the `markdown` block, `markdown_text`) → nodes. marked reads it; nothing of its HTML is used, so
 * that raw HTML stays text and an image is a link.
 *
 * @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Child} Child
 * @typedef {any} Token one of marked's
 */

/** Deeper than anybody writes; below it a token is shown as it was written, so that no message exhausts the stack. */
const MAX_DEPTH = 30;

/** @param {Ctx} ctx @param {string} source @returns {Child} */
export function markdown(ctx, source) {
  return html`<div class="markdown">${nodes(ctx, read(source), 0)}</div>`;
}

/** @param {string} source @returns {Token[]} */
function read(source) {
  try {
    return Lexer.lex(source, { gfm: true, breaks: true });
  } catch (error) {
    // marked recurses by nesting: thousands of ">" in a row are too much for it, and stay text.
    if (error instanceof RangeError) return [{ type: 'text', text: source }];
    throw error;
  }
}

/** @param {Ctx} ctx @param {Token[] | undefined} tokens @param {number} depth @returns {Child[]} */
function nodes(ctx, tokens = [], depth) {
  return tokens.map((token) => (depth > MAX_DEPTH ? token.raw : node(ctx, token, depth)));
}

/** @param {Ctx} ctx @param {Token} token @param {number} depth @returns {Child} */
function node(ctx, token, depth) {
  const inner = () => nodes(ctx, token.tokens, depth + 1);
  switch (token.type) {
    case 'space':
    case 'def':
    // The item draws its own box, in tight and loose lists alike.
    case 'checkbox':
      return null;
    case 'heading':
      return html`<${`h${Math.min(6, token.depth + 2)}`} class="md-heading">${inner()}<//>`;
    case 'paragraph':
      return html`<p>${inner()}</p>`;
    case 'hr':
      return html`<hr class="divider" />`;
    case 'code':
      return codeBlock(token.text, token.lang);
    case 'blockquote':
      return html`<blockquote class="quote">${inner()}</blockquote>`;
    case 'list':
      return list(ctx, token, depth);
    case 'table':
      return table(ctx, token, depth);
    case 'strong':
    case 'em':
      return html`<${token.type}>${inner()}<//>`;
    case 'del':
      return html`<s>${inner()}</s>`;
    case 'codespan':
      return html`<code class="code">${token.text}</code>`;
    case 'br':
      return html`<br />`;
    case 'link':
      return link(ctx, token.href, inner());
    case 'image':
      return link(ctx, token.href, [token.text || token.href]);
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens ? inner() : withEmoji(unescape(token.text));
    default: {
      const text = withEmoji(unescape(token.raw));
      return token.block ? html`<p>${text}</p>` : text;
    }
  }
}

/** @param {Ctx} ctx @param {Token} token @param {number} depth */
function list(ctx, token, depth) {
  const start = token.ordered && token.start !== 1 ? token.start : undefined;
  return html`<${token.ordered ? 'ol' : 'ul'} class="md-list" start=${start}>
    ${token.items.map((/** @type {Token} */ item) =>
      html`<li class=${item.task ? 'md-task' : undefined}>
        ${item.task && html`<input type="checkbox" disabled checked=${item.checked} aria-label="task" />`}
        ${nodes(ctx, item.tokens, depth + 1)}
      </li>`,
    )}
  <//>`;
}

/** @param {Ctx} ctx @param {Token} token @param {number} depth */
function table(ctx, token, depth) {
  const row = (/** @type {string} */ tag, /** @type {Token[]} */ cells) =>
    html`<tr>
      ${cells.map((cell) =>
        html`<${tag} class=${cell.align && cell.align !== 'left' ? `align-${cell.align}` : undefined}>${nodes(ctx, cell.tokens, depth + 1)}<//>`,
      )}
    </tr>`;
  return html`<div class="table-scroll" tabindex="0">
    <table class="table">
      <thead>${row('th', token.header)}</thead>
      <tbody>${token.rows.map((/** @type {Token[]} */ cells) => row('td', cells))}</tbody>
    </table>
  </div>`;
}
