import { h } from '../core/vdom.js';
import { plain, textObject } from '../text/mrkdwn.js';
import { blockElement, thumbnail } from './elements.js';
import { list, text } from './fields.js';

/** header, section, context, actions, context_actions, divider, input, alert. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block */

/** @param {Block} block */
export function header(block) {
  return h('h3', { class: 'b-header' }, plain(block.text));
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function section(ctx, block) {
  const fields = list(block.fields);
  return h(
    'div',
    { class: 'b-section' },
    h(
      'div',
      { class: 'b-section-body' },
      block.text && h('div', { class: 'b-text' }, textObject(ctx, block.text)),
      fields.length > 0 &&
        h(
          'div',
          { class: 'b-fields' },
          fields.map((field) => h('div', { class: 'b-field' }, textObject(ctx, field))),
        ),
    ),
    block.accessory && h('div', { class: 'b-accessory' }, blockElement(ctx, block, block.accessory)),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function context(ctx, block) {
  return h(
    'div',
    { class: 'b-context' },
    list(block.elements).map((element) =>
      element.type === 'image'
        ? thumbnail(ctx, element, 'context-image')
        : h('span', { class: 'context-text' }, textObject(ctx, element)),
    ),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function actions(ctx, block) {
  return h(
    'div',
    { class: 'b-actions' },
    list(block.elements).map((element, i) =>
      h('div', { class: 'b-action', key: `${text(element.action_id)}-${i}` }, blockElement(ctx, block, element)),
    ),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function contextActions(ctx, block) {
  return h(
    'div',
    { class: 'b-context-actions' },
    list(block.elements).map((element) => blockElement(ctx, block, element)),
  );
}

export function divider() {
  return h('hr', { class: 'divider' });
}

/** @type {Record<string, string>} */
const ALERT_ICONS = { default: '💬', info: 'ℹ️', warning: '⚠️', error: '⛔', success: '✅' };

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function alert(ctx, block) {
  const level = text(block.level) in ALERT_ICONS ? text(block.level) : 'default';
  return h(
    'div',
    { class: `b-alert alert-${level}`, role: level === 'error' ? 'alert' : 'note' },
    h('span', { class: 'alert-icon', 'aria-hidden': 'true' }, ALERT_ICONS[level]),
    h('div', { class: 'b-text' }, textObject(ctx, block.text)),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function input(ctx, block) {
  const element = block.element ?? {};
  const id = `field-${ctx.scope}-${text(block.block_id)}`.replace(/[^\w-]/g, '-');
  const error = ctx.errors[text(block.block_id)];
  const hint = plain(block.hint);
  return h(
    'div',
    { class: `b-input${error ? ' has-error' : ''}` },
    h(
      'label',
      { class: 'input-label', for: id },
      plain(block.label),
      block.optional === true && h('span', { class: 'optional' }, ' (optional)'),
    ),
    blockElement(ctx, block, element, { id, invalid: error !== undefined }),
    h(
      'div',
      { id: `${id}-hint` },
      error && h('p', { class: 'input-error', role: 'alert', 'data-testid': `error-${text(block.block_id)}` }, error),
      hint !== '' && h('p', { class: 'hint' }, hint),
    ),
  );
}
