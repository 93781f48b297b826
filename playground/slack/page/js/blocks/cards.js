import { h } from '../core/vdom.js';
import { plain, textObject } from '../text/mrkdwn.js';
import { richText } from '../text/rich-text.js';
import { button } from './buttons.js';
import { thumbnail } from './elements.js';
import { list, text } from './fields.js';

/** card, carousel, container. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Child} Child */

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function card(ctx, block) {
  return h(
    'div',
    { class: 'b-card' },
    block.hero_image && thumbnail(ctx, block.hero_image, 'card-hero'),
    h(
      'div',
      { class: 'card-head' },
      block.icon && thumbnail(ctx, block.icon, 'card-icon'),
      h(
        'div',
        null,
        block.title && h('div', { class: 'card-title' }, textObject(ctx, block.title)),
        block.subtitle && h('div', { class: 'card-subtitle' }, textObject(ctx, block.subtitle)),
      ),
    ),
    block.body && h('div', { class: 'card-body b-text' }, textObject(ctx, block.body)),
    list(block.actions).length > 0 &&
      h(
        'div',
        { class: 'b-actions' },
        list(block.actions).map((element) => button(ctx, block, element)),
      ),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function carousel(ctx, block) {
  return h(
    'div',
    { class: 'b-carousel', tabindex: '0', role: 'region', 'aria-label': 'Cards' },
    list(block.elements).map((one) => card(ctx, { ...one, block_id: one.block_id ?? block.block_id })),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 * @param {(ctx: Ctx, block: Block) => Child} renderBlock
 */
export function container(ctx, block, renderBlock) {
  const title = block.rich_text_title ? richText(ctx, block.rich_text_title) : plain(block.title);
  const head = h(
    'div',
    { class: 'container-head' },
    block.icon && thumbnail(ctx, block.icon, 'card-icon'),
    h(
      'div',
      null,
      h('div', { class: 'container-title' }, title),
      block.subtitle && h('div', { class: 'container-subtitle' }, textObject(ctx, block.subtitle)),
    ),
  );
  const body = h(
    'div',
    { class: 'container-body' },
    list(block.child_blocks).map((child) => renderBlock(ctx, child)),
  );
  const width = ['narrow', 'standard', 'wide', 'full'].includes(block.width) ? text(block.width) : 'standard';
  if (block.is_collapsible !== true) {
    return h(
      'div',
      { class: `b-container width-${width}${block.has_header_divider ? ' has-divider' : ''}` },
      head,
      body,
    );
  }
  const key = `container:${text(block.block_id)}`;
  const open = ctx.local.get(key) ?? block.default_collapsed !== true;
  return h(
    'div',
    { class: `b-container width-${width} is-collapsible` },
    h(
      'button',
      {
        type: 'button',
        class: 'container-toggle',
        'aria-expanded': open ? 'true' : 'false',
        onClick: () => ctx.local.set(key, !open),
      },
      h('span', { class: `chevron${open ? ' is-open' : ''}`, 'aria-hidden': 'true' }),
      head,
    ),
    open && body,
  );
}
