import { html, isSafeAddress } from '../core/dom.js';
import { emojiFor } from '../text/emoji.js';
import { plain } from '../text/mrkdwn.js';
import { list, menuOption, text } from './fields.js';

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Element_} Element_ */

/** @param {Ctx} ctx @param {Block} block @param {Element_} element */
export function button(ctx, block, element) {
  const style = element.style === 'primary' ? ' btn-primary' : element.style === 'danger' ? ' btn-danger' : '';
  const busy = ctx.busy(text(block.block_id), text(element.action_id));
  const url = text(element.url);
  return html`<button type="button" class="btn${style}${busy ? ' is-busy' : ''}" data-testid="action-${text(element.action_id)}"
    data-block-id=${text(block.block_id)} aria-label=${text(element.accessibility_label) || undefined}
    aria-busy=${busy ? 'true' : undefined}
    onClick=${() => {
      if (busy) return;
      ctx.act(block, element, { kind: 'press' });
      if (url !== '' && isSafeAddress(url) && !ctx.openLink(url)) window.open(url, '_blank', 'noopener,noreferrer');
    }}>
    ${busy && html`<span class="spinner" aria-hidden="true" />`}
    <span class="btn-text">${plain(element.text)}</span>
    ${url !== '' && html`<span class="btn-external" aria-hidden="true">↗</span>`}
  </button>`;
}

/**
 * A workflow button starts a workflow in Slack; there are none here, so it is shown but cannot be pressed.
 * @param {Element_} element
 */
export function workflowButton(element) {
  return html`<button type="button" class="btn" disabled title="Workflows do not run in the local workspace">
    ${plain(element.text)}
  </button>`;
}

/** @param {Ctx} ctx @param {Block} block @param {Element_} element */
export function overflow(ctx, block, element) {
  return html`<button type="button" class="btn btn-icon" aria-label="More options" aria-haspopup="listbox"
    data-testid="action-${text(element.action_id)}"
    onClick=${(/** @type {MouseEvent} */ event) => {
      ctx.openMenu(/** @type {Element} */ (event.currentTarget), {
        label: 'More options',
        groups: [{ options: list(element.options).map(menuOption) }],
        pick: ([value = '']) => {
          ctx.act(block, element, { kind: 'option', value });
          const chosen = list(element.options).find((option) => option.value === value);
          const url = text(chosen?.url);
          if (url !== '' && isSafeAddress(url) && !ctx.openLink(url))
            window.open(url, '_blank', 'noopener,noreferrer');
        },
      });
    }}>
    <span aria-hidden="true">•••</span>
  </button>`;
}

/** @param {Ctx} ctx @param {Block} block @param {Element_} element */
export function feedbackButtons(ctx, block, element) {
  const chosen = ctx.form.get(text(block.block_id), text(element.action_id));
  const one = (/** @type {any} */ choice, /** @type {string} */ symbol, /** @type {string} */ name) => {
    const value = text(choice?.value);
    const pressed = chosen?.kind === 'option' && chosen.value === value;
    return html`<button type="button" class="icon-button${pressed ? ' is-pressed' : ''}" aria-pressed=${pressed}
      aria-label=${text(choice?.accessibility_label) || plain(choice?.text) || name}
      title=${plain(choice?.text) || name} data-testid="action-${text(element.action_id)}-${name}"
      onClick=${() => {
        ctx.form.set(text(block.block_id), text(element.action_id), { kind: 'option', value });
        ctx.act(block, element, { kind: 'option', value });
      }}>
      ${symbol}
    </button>`;
  };
  return html`<span class="feedback" role="group" aria-label="Feedback">
    ${one(element.positive_button, '👍', 'positive')}
    ${one(element.negative_button, '👎', 'negative')}
  </span>`;
}

/** @type {Record<string, string>} */
const ICONS = { trash: '🗑️', delete: '🗑️', edit: '✏️', refresh: '🔄', copy: '📋', flag: '🚩', share: '📤', star: '⭐' };

/** @param {Ctx} ctx @param {Block} block @param {Element_} element */
export function iconButton(ctx, block, element) {
  const visible = Array.isArray(element.visible_to_user_ids) ? element.visible_to_user_ids : undefined;
  if (visible && !visible.includes(ctx.viewer)) return null;
  const icon = text(element.icon);
  return html`<button type="button" class="icon-button" aria-label=${text(element.accessibility_label) || plain(element.text)}
    title=${plain(element.text)} data-testid="action-${text(element.action_id)}"
    onClick=${() => ctx.act(block, element, { kind: 'press' })}>
    ${ICONS[icon] ?? emojiFor(icon) ?? plain(element.text)}
  </button>`;
}
