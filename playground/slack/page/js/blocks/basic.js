import { html } from '../core/dom.js';
import { plain, textObject } from '../text/mrkdwn.js';
import { blockElement, thumbnail } from './elements.js';
import { list, text } from './fields.js';

/** header, section, context, actions, context_actions, divider, input, alert. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block */

/** @param {Block} block */
export function header(block) {
  return html`<h3 class="b-header">${plain(block.text)}</h3>`;
}

/** @param {Ctx} ctx @param {Block} block */
export function section(ctx, block) {
  const fields = list(block.fields);
  return html`<div class="b-section">
    <div class="b-section-body">
      ${block.text && html`<div class="b-text">${textObject(ctx, block.text)}</div>`}
      ${fields.length > 0 &&
        html`<div class="b-fields">${fields.map((field) => html`<div class="b-field">${textObject(ctx, field)}</div>`)}</div>`}
    </div>
    ${block.accessory && html`<div class="b-accessory">${blockElement(ctx, block, block.accessory)}</div>`}
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block */
export function context(ctx, block) {
  return html`<div class="b-context">
    ${list(block.elements).map((element) =>
      element.type === 'image'
        ? thumbnail(ctx, element, 'context-image')
        : html`<span class="context-text">${textObject(ctx, element)}</span>`,
    )}
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block */
export function actions(ctx, block) {
  return html`<div class="b-actions">
    ${list(block.elements).map((element, i) =>
      html`<div class="b-action" key="${text(element.action_id)}-${i}">${blockElement(ctx, block, element)}</div>`,
    )}
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block */
export function contextActions(ctx, block) {
  return html`<div class="b-context-actions">${list(block.elements).map((element) => blockElement(ctx, block, element))}</div>`;
}

export function divider() {
  return html`<hr class="divider" />`;
}

/** @type {Record<string, string>} */
const ALERT_ICONS = { default: '💬', info: 'ℹ️', warning: '⚠️', error: '⛔', success: '✅' };

/** @param {Ctx} ctx @param {Block} block */
export function alert(ctx, block) {
  const level = text(block.level) in ALERT_ICONS ? text(block.level) : 'default';
  return html`<div class="b-alert alert-${level}" role=${level === 'error' ? 'alert' : 'note'}>
    <span class="alert-icon" aria-hidden="true">${ALERT_ICONS[level]}</span>
    <div class="b-text">${textObject(ctx, block.text)}</div>
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block */
export function input(ctx, block) {
  const element = block.element ?? {};
  const id = `field-${ctx.scope}-${text(block.block_id)}`.replace(/[^\w-]/g, '-');
  const error = ctx.errors[text(block.block_id)];
  const hint = plain(block.hint);
  return html`<div class="b-input${error ? ' has-error' : ''}">
    <label class="input-label" for=${id}>
      ${plain(block.label)}
      ${block.optional === true && html`<span class="optional">${' (optional)'}</span>`}
    </label>
    ${blockElement(ctx, block, element, { id, invalid: error !== undefined })}
    <div id="${id}-hint">
      ${error && html`<p class="input-error" role="alert" data-testid="error-${text(block.block_id)}">${error}</p>`}
      ${hint !== '' && html`<p class="hint">${hint}</p>`}
    </div>
  </div>`;
}
