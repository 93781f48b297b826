import { html } from '../core/dom.js';
import { markdown } from '../text/markdown.js';
import { richText } from '../text/rich-text.js';
import { actions, alert, context, contextActions, divider, header, input, section } from './basic.js';
import { card, carousel, container } from './cards.js';
import { chart } from './chart.js';
import { list, text } from './fields.js';
import { file, image, video } from './media.js';
import { dataTable, table } from './tables.js';
import { plan, taskCard } from './tasks.js';

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Child} Child */

/**
 * Block Kit blocks → nodes. Pure: the same blocks and context give the same nodes.
 * @param {Ctx} ctx
 * @param {any} blocks
 * @returns {Child}
 */
export function renderBlocks(ctx, blocks) {
  return html`<div class="blocks">
    ${list(blocks).map((block, i) => html`<div class="block block-${kind(block)}" key=${i}>${renderBlock(ctx, block)}</div>`)}
  </div>`;
}

/** @param {Block} block */
function kind(block) {
  return text(block.type).replace(/[^a-z_]/g, '') || 'unknown';
}

/** @param {Ctx} ctx @param {Block} block @returns {Child} */
export function renderBlock(ctx, block) {
  switch (block.type) {
    case 'header':
      return header(block);
    case 'section':
      return section(ctx, block);
    case 'context':
      return context(ctx, block);
    case 'actions':
      return actions(ctx, block);
    case 'context_actions':
      return contextActions(ctx, block);
    case 'divider':
      return divider();
    case 'input':
      return input(ctx, block);
    case 'alert':
      return alert(ctx, block);
    case 'image':
      return image(ctx, block);
    case 'video':
      return video(ctx, block);
    case 'file':
      return file(ctx, block);
    case 'rich_text':
      return richText(ctx, block);
    case 'markdown':
      return markdown(ctx, text(block.text));
    case 'table':
      return table(ctx, block);
    case 'data_table':
      return dataTable(ctx, block);
    case 'data_visualization':
      return chart(block);
    case 'plan':
      return plan(ctx, block);
    case 'task_card':
      return taskCard(ctx, block);
    case 'card':
      return card(ctx, block);
    case 'carousel':
      return carousel(ctx, block);
    case 'container':
      return container(ctx, block, renderBlock);
    default:
      return html`<p class="unknown">This client cannot show a “${text(block.type)}” block.</p>`;
  }
}
