import { html } from '../core/dom.js';
import { textObject } from '../text/mrkdwn.js';
import { button, feedbackButtons, iconButton, overflow, workflowButton } from './buttons.js';
import { imageUrl, text } from './fields.js';
import { fileInput, picker, textInput } from './inputs.js';
import { choices, select } from './selects.js';

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Element_} Element_ @typedef {import('../core/types.js').Child} Child */

/**
 * One block element. Unknown kinds say so instead of disappearing.
 * @param {Ctx} ctx
 * @param {Block} block the block it stands in
 * @param {Element_} element
 * @param {{ id?: string, invalid?: boolean }} [field]
 * @returns {Child}
 */
export function blockElement(ctx, block, element, field = {}) {
  const type = String(element?.type ?? '');
  if (type.endsWith('_select')) return select(ctx, block, element);
  switch (type) {
    case 'button':
      return button(ctx, block, element);
    case 'workflow_button':
      return workflowButton(element);
    case 'overflow':
      return overflow(ctx, block, element);
    case 'feedback_buttons':
      return feedbackButtons(ctx, block, element);
    case 'icon_button':
      return iconButton(ctx, block, element);
    case 'checkboxes':
    case 'radio_buttons':
      return choices(ctx, block, element);
    case 'plain_text_input':
    case 'rich_text_input':
    case 'email_text_input':
    case 'url_text_input':
    case 'number_input':
      return textInput(ctx, block, element, field);
    case 'datepicker':
    case 'timepicker':
    case 'datetimepicker':
      return picker(ctx, block, element, field);
    case 'file_input':
      return fileInput();
    case 'image':
      return thumbnail(ctx, element, 'accessory-image');
    case 'mrkdwn':
    case 'plain_text':
      return textObject(ctx, element);
    default:
      return html`<span class="unknown">Unsupported element “${type}”</span>`;
  }
}

/** A small image. @param {Ctx} ctx @param {any} image @param {string} className */
export function thumbnail(ctx, image, className) {
  const url = imageUrl(image);
  return html`<img class=${className} src=${url} alt=${text(image?.alt_text)} title=${text(image?.alt_text) || undefined}
    loading="lazy" referrerpolicy="no-referrer" onError=${broken} />`;
}

/** An image that cannot be loaded shows its alternative text in a frame. @param {Event} event */
export function broken(event) {
  /** @type {HTMLElement} */ (event.currentTarget).classList.add('is-broken');
}
