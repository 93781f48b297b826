import { html } from '../core/dom.js';
import { plain, textObject } from '../text/mrkdwn.js';
import { richText } from '../text/rich-text.js';
import { button } from './buttons.js';
import { thumbnail } from './elements.js';
import { list, text } from './fields.js';

/** card, carousel, container. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Child} Child */

/** @param {Ctx} ctx @param {Block} block */
export function card(ctx, block) {
  return html`<div class="b-card">
    ${block.hero_image && thumbnail(ctx, block.hero_image, 'card-hero')}
    <div class="card-head">
      ${block.icon && thumbnail(ctx, block.icon, 'card-icon')}
      <div>
        ${block.title && html`<div class="card-title">${textObject(ctx, block.title)}</div>`}
        ${block.subtitle && html`<div class="card-subtitle">${textObject(ctx, block.subtitle)}</div>`}
      </div>
    </div>
    ${block.body && html`<div class="card-body b-text">${textObject(ctx, block.body)}</div>`}
    ${list(block.actions).length > 0 &&
      html`<div class="b-actions">${list(block.actions).map((element) => button(ctx, block, element))}</div>`}
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block */
export function carousel(ctx, block) {
  return html`<div class="b-carousel" tabindex="0" role="region" aria-label="Cards">
    ${list(block.elements).map((one) => card(ctx, { ...one, block_id: one.block_id ?? block.block_id }))}
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block @param {(ctx: Ctx, block: Block) => Child} renderBlock */
export function container(ctx, block, renderBlock) {
  const title = block.rich_text_title ? richText(ctx, block.rich_text_title) : plain(block.title);
  const head = html`<div class="container-head">
    ${block.icon && thumbnail(ctx, block.icon, 'card-icon')}
    <div>
      <div class="container-title">${title}</div>
      ${block.subtitle && html`<div class="container-subtitle">${textObject(ctx, block.subtitle)}</div>`}
    </div>
  </div>`;
  const body = html`<div class="container-body">${list(block.child_blocks).map((child) => renderBlock(ctx, child))}</div>`;
  const width = ['narrow', 'standard', 'wide', 'full'].includes(block.width) ? text(block.width) : 'standard';
  if (block.is_collapsible !== true) {
    return html`<div class="b-container width-${width}${block.has_header_divider ? ' has-divider' : ''}">
      ${head}
      ${body}
    </div>`;
  }
  const key = `container:${text(block.block_id)}`;
  const open = ctx.local.get(key) ?? block.default_collapsed !== true;
  return html`<div class="b-container width-${width} is-collapsible">
    <button type="button" class="container-toggle" data-testid="container-toggle" aria-expanded=${open} onClick=${() => ctx.local.set(key, !open)}>
      <span class="chevron${open ? ' is-open' : ''}" aria-hidden="true" />
      ${head}
    </button>
    ${open && body}
  </div>`;
}
