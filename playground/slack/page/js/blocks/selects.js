import { html } from '../core/dom.js';
import { displayName } from '../text/entities.js';
import { plain, textObject } from '../text/mrkdwn.js';
import { list, menuOption, text } from './fields.js';

/**
 * @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block
 * @typedef {import('../core/types.js').Element_} Element_ @typedef {import('../core/types.js').MenuOption} MenuOption
 * @typedef {import('../core/types.js').ElementInput} ElementInput
 */

/**
 * Remembers an entry and, where the block sends them, tells the app.
 * @param {Ctx} ctx
 * @param {Block} block
 * @param {Element_} element
 * @param {ElementInput} input
 */
export function changed(ctx, block, element, input) {
  ctx.form.set(text(block.block_id), text(element.action_id), input);
  if (block.type !== 'input' || block.dispatch_action === true) ctx.act(block, element, input);
}

/** Every kind of select menu, single and multi. @param {Ctx} ctx @param {Block} block @param {Element_} element */
export function select(ctx, block, element) {
  const multi = String(element.type).startsWith('multi_');
  const byId = /(users|channels|conversations)_select$/.test(element.type);
  const chosen = chosenValues(ctx, block, element);
  const groups = optionGroups(ctx, element);
  const known = new Map(groups.flatMap((group) => group.options).map((option) => [option.value, option.text]));
  for (const option of [...list(element.initial_options), element.initial_option].filter(Boolean)) {
    known.set(text(option.value), plain(option.text));
  }
  const label = plain(element.placeholder) || (multi ? 'Select options' : 'Select an option');
  const remember = ctx.local.get(`labels:${text(element.action_id)}`);
  const words = chosen.map((value) => known.get(value) ?? remember?.[value] ?? value).join(', ');
  return html`<button type="button" class="select${words === '' ? ' is-empty' : ''}" aria-haspopup="listbox"
    aria-label=${words === '' ? label : `${label}: ${words}`} data-testid="action-${text(element.action_id)}"
    onClick=${(/** @type {MouseEvent} */ event) =>
      ctx.openMenu(/** @type {Element} */ (event.currentTarget), {
        label,
        groups,
        multi,
        chosen,
        search: known.size > 8 || element.type.endsWith('external_select'),
        ...(multi && Number(element.max_selected_items) > 0 ? { max: Number(element.max_selected_items) } : {}),
        ...(element.type.endsWith('external_select')
          ? { load: (/** @type {string} */ query) => loadExternal(ctx, block, element, query) }
          : {}),
        pick: (values) => {
          const value = values[0] ?? '';
          if (multi) changed(ctx, block, element, byId ? { kind: 'ids', values } : { kind: 'options', values });
          else changed(ctx, block, element, byId ? { kind: 'id', value } : { kind: 'option', value });
        },
      })}>
    <span class="select-text">${words === '' ? label : words}</span>
    <span class="select-caret" aria-hidden="true" />
  </button>`;
}

/** @param {Ctx} ctx @param {Block} block @param {Element_} element @param {string} query */
async function loadExternal(ctx, block, element, query) {
  const options = (await ctx.loadOptions(block, element, query)).map(menuOption);
  const key = `labels:${text(element.action_id)}`;
  const labels = { ...ctx.local.get(key) };
  for (const option of options) labels[option.value] = option.text;
  ctx.local.set(key, labels);
  return [{ options }];
}

/** @param {Ctx} ctx @param {Block} block @param {Element_} element @returns {string[]} */
export function chosenValues(ctx, block, element) {
  const input = ctx.form.get(text(block.block_id), text(element.action_id));
  if (input && 'values' in input) return [...input.values];
  if (input && 'value' in input) return [String(input.value)];
  const many = list(element.initial_options).map((option) => text(option.value));
  if (many.length > 0) return many;
  if (element.initial_option) return [text(element.initial_option.value)];
  const ids = element.initial_users ?? element.initial_channels ?? element.initial_conversations;
  if (Array.isArray(ids)) return ids.map(String);
  const id = element.initial_user ?? element.initial_channel ?? element.initial_conversation;
  return typeof id === 'string' ? [id] : [];
}

/**
 * @param {Ctx} ctx
 * @param {Element_} element
 * @returns {{ label?: string, options: MenuOption[] }[]}
 */
function optionGroups(ctx, element) {
  const people = () =>
    [...ctx.dir.users.values()]
      .filter((user) => !user.deleted)
      .map((user) => ({ value: user.id, text: displayName(user), description: user.profile.title }));
  const channels = () =>
    [...ctx.dir.channels.values()].filter((one) => !one.is_im).map((one) => ({ value: one.id, text: `#${one.name}` }));
  if (element.type.endsWith('users_select')) return [{ options: people() }];
  if (element.type.endsWith('channels_select')) return [{ options: channels() }];
  if (element.type.endsWith('conversations_select')) return [{ options: channels() }];
  const groups = list(element.option_groups);
  if (groups.length === 0) return [{ options: list(element.options).map(menuOption) }];
  return groups.map((group) => ({ label: plain(group.label), options: list(group.options).map(menuOption) }));
}

/** Radio buttons and checkboxes. @param {Ctx} ctx @param {Block} block @param {Element_} element */
export function choices(ctx, block, element) {
  const multi = element.type === 'checkboxes';
  const chosen = chosenValues(ctx, block, element);
  const name = `${ctx.scope}:${text(block.block_id)}:${text(element.action_id)}`;
  const toggle = (/** @type {string} */ value) => {
    if (!multi) return changed(ctx, block, element, { kind: 'option', value });
    const values = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
    changed(ctx, block, element, { kind: 'options', values });
  };
  return html`<div class="choices" role=${multi ? 'group' : 'radiogroup'} data-testid="action-${text(element.action_id)}">
    ${list(element.options).map((option) => {
      const value = text(option.value);
      return html`<label class="choice" key=${value}>
        <input type=${multi ? 'checkbox' : 'radio'} name=${name} checked=${chosen.includes(value)}
          onChange=${() => toggle(value)} />
        <span class="choice-text">
          ${textObject(ctx, option.text)}
          ${option.description && html`<span class="choice-description">${textObject(ctx, option.description)}</span>`}
        </span>
      </label>`;
    })}
  </div>`;
}
