import { html } from '../core/dom.js';
import { plain } from '../text/mrkdwn.js';
import { text, typed } from './fields.js';
import { changed } from './selects.js';

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Element_} Element_ */

/** @type {Record<string, string>} */
const INPUT_TYPES = {
  email_text_input: 'email',
  url_text_input: 'url',
  number_input: 'number',
  plain_text_input: 'text',
};

/**
 * Text, number, email, address and rich-text inputs.
 * @param {Ctx} ctx
 * @param {Block} block
 * @param {Element_} element
 * @param {{ id?: string, invalid?: boolean }} [field] ids that connect it to its label
 */
export function textInput(ctx, block, element, field = {}) {
  const blockId = text(block.block_id);
  const actionId = text(element.action_id);
  const entered = ctx.form.get(blockId, actionId);
  const initial = entered && 'value' in entered ? String(entered.value) : initialText(element);
  const triggers = element.dispatch_action_config?.trigger_actions_on;
  const onEnter = !Array.isArray(triggers) || triggers.includes('on_enter_pressed');
  const onCharacter = Array.isArray(triggers) && triggers.includes('on_character_entered');
  const multiline = element.multiline === true || element.type === 'rich_text_input';
  const dispatches = block.type !== 'input' || block.dispatch_action === true;
  return html`<${multiline ? 'textarea' : 'input'} key="${ctx.scope}:${blockId}:${actionId}"
    ...${(multiline ? { rows: '5' } : { type: INPUT_TYPES[element.type] ?? 'text' })}
    ...${(element.type === 'number_input'
      ? { step: element.is_decimal_allowed ? 'any' : '1', min: element.min_value, max: element.max_value }
      : {})}
    class="text-input" id=${field.id} aria-invalid=${field.invalid ? 'true' : undefined}
    aria-describedby=${field.id ? `${field.id}-hint` : undefined} value=${initial}
    placeholder=${plain(element.placeholder) || undefined}
    maxlength=${Number(element.max_length) > 0 ? String(element.max_length) : undefined}
    data-autofocus=${element.focus_on_load === true ? 'true' : undefined} data-testid="action-${actionId}"
    onInput=${(/** @type {Event} */ event) => {
      const value = typed(event);
      ctx.form.set(blockId, actionId, { kind: 'text', value });
      if (dispatches && onCharacter) ctx.act(block, element, { kind: 'text', value });
    }}
    onKeydown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Enter' || multiline || !dispatches || !onEnter || event.isComposing) return;
      event.preventDefault();
      ctx.act(block, element, { kind: 'text', value: typed(event) });
    }} />`;
}

/** @param {Element_} element */
function initialText(element) {
  if (element.type !== 'rich_text_input') return text(element.initial_value);
  const sections = Array.isArray(element.initial_value?.elements) ? element.initial_value.elements : [];
  return sections
    .map((/** @type {any} */ section) => (Array.isArray(section?.elements) ? section.elements : []))
    .map((/** @type {any[]} */ leaves) => leaves.map((leaf) => text(leaf?.text)).join(''))
    .join('\n');
}

/**
 * Date, time and date-time pickers, as the browser's own.
 * @param {Ctx} ctx
 * @param {Block} block
 * @param {Element_} element
 * @param {{ id?: string }} [field]
 */
export function picker(ctx, block, element, field = {}) {
  const kind = element.type === 'datepicker' ? 'date' : element.type === 'timepicker' ? 'time' : 'datetime';
  const entered = ctx.form.get(text(block.block_id), text(element.action_id));
  const initial = element.initial_date ?? element.initial_time ?? element.initial_date_time;
  const value = entered && 'value' in entered ? entered.value : initial;
  return html`<input type=${kind === 'datetime' ? 'datetime-local' : kind} class="text-input picker" id=${field.id}
    aria-label=${field.id ? undefined : plain(element.placeholder) || kind}
    value=${kind === 'datetime' ? localDateTime(Number(value)) : text(value)}
    data-testid="action-${text(element.action_id)}"
    onChange=${(/** @type {Event} */ event) => {
      const entry = typed(event);
      if (entry === '') return;
      if (kind !== 'datetime') return changed(ctx, block, element, { kind, value: entry });
      changed(ctx, block, element, { kind, value: Math.floor(new Date(entry).getTime() / 1000) });
    }} />`;
}

/** @param {number} seconds */
function localDateTime(seconds) {
  if (!Number.isFinite(seconds) || seconds <= 0) return '';
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The local workspace takes no uploads: said instead of pretended. */
export function fileInput() {
  return html`<p class="hint">Files cannot be uploaded in the local workspace.</p>`;
}
