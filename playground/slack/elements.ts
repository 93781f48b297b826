import type { ElementInput, FormInput } from './page-api.ts';
import { SlackError } from './slack-error.ts';
import type { Block, ElementState, OptionValue, StateValues } from './slack-shapes.ts';
import { isRecord } from './validate/rules.ts';

export interface FoundElement {
  readonly blockId: string;
  readonly block: Block;
  readonly element: Block;
}

/** Every interactive element of these blocks, also inside containers and cards. */
export function elementsOf(blocks: readonly Block[]): FoundElement[] {
  return blocks.flatMap((block) => {
    const own = [
      block['accessory'],
      block['element'],
      ...asList(block['elements']),
      ...asList(block['actions']),
    ];
    const nested = [
      ...asList(block['child_blocks']),
      ...(block.type === 'carousel' ? asList(block['elements']) : []),
    ];
    const here = own
      .filter((each): each is Block => isBlock(each) && typeof each['action_id'] === 'string')
      .map((element) => ({ blockId: block.block_id ?? '', block, element }));
    return [...here, ...elementsOf(nested.filter(isBlock))];
  });
}

/** Throws `action_not_found` when the element is not there (any more). */
export function findElement(blocks: readonly Block[], blockId: string, actionId: string): FoundElement {
  const found = elementsOf(blocks).find(
    (each) => each.blockId === blockId && each.element['action_id'] === actionId,
  );
  if (found === undefined) throw new SlackError('action_not_found');
  return found;
}

/** `state.values` as Slack sends it: what was entered, else the initial values, for every stateful element. */
export function stateOf(blocks: readonly Block[], form: FormInput): StateValues {
  const values: Record<string, Record<string, ElementState>> = {};
  for (const { blockId, element } of elementsOf(blocks)) {
    if (STATELESS.has(element.type)) continue;
    const actionId = String(element['action_id']);
    const input = form[blockId]?.[actionId];
    const state = input === undefined ? initialState(element) : stateFrom(element, input);
    values[blockId] = { ...values[blockId], [actionId]: state };
  }
  return values;
}

const STATELESS = new Set([
  'button',
  'overflow',
  'icon_button',
  'feedback_buttons',
  'workflow_button',
  'image',
]);

/** What the user did to one element, in Slack's fields. Throws `invalid_input` for what the element cannot take. */
export function stateFrom(element: Block, input: ElementInput): ElementState {
  const { type } = element;
  switch (input.kind) {
    case 'press':
      return { type, ...(typeof element['value'] === 'string' ? { value: element['value'] } : {}) };
    case 'option':
      if (type === 'feedback_buttons') return { type, value: input.value };
      return { type, selected_option: optionOf(element, input.value) };
    case 'options':
      return { type, selected_options: input.values.map((value) => optionOf(element, value)) };
    case 'text':
      return { type, value: input.value === '' ? null : input.value };
    case 'date':
      return { type, selected_date: input.value };
    case 'time':
      return { type, selected_time: input.value };
    case 'datetime':
      return { type, selected_date_time: input.value };
    case 'id':
      return { type, [`selected_${kindOfSelect(type)}`]: input.value };
    case 'ids':
      return { type, [`selected_${kindOfSelect(type)}s`]: input.values };
  }
}

function initialState(element: Block): ElementState {
  const { type } = element;
  const initial = (name: string) => element[`initial_${name}`] ?? null;
  if (type.endsWith('_input')) return { type, value: initial('value') as string | null };
  if (type === 'datepicker') return { type, selected_date: initial('date') as string | null };
  if (type === 'timepicker') return { type, selected_time: initial('time') as string | null };
  if (type === 'datetimepicker') return { type, selected_date_time: initial('date_time') as number | null };
  if (type === 'checkboxes' || /^multi_(static|external)_select$/.test(type)) {
    return { type, selected_options: (initial('options') ?? []) as OptionValue[] };
  }
  if (type === 'radio_buttons' || type === 'static_select' || type === 'external_select') {
    return { type, selected_option: initial('option') as OptionValue | null };
  }
  const kind = kindOfSelect(type);
  if (type.startsWith('multi_')) return { type, [`selected_${kind}s`]: initial(`${kind}s`) ?? [] };
  return { type, [`selected_${kind}`]: initial(kind) };
}

/** Whether an input still needs something, in the words Slack shows under it; undefined when it is fine. */
export function inputProblem(block: Block, state: ElementState | undefined): string | undefined {
  const empty = state === undefined || isEmpty(state);
  if (empty) return block['optional'] === true ? undefined : 'Please complete this required field.';
  const element = block['element'];
  if (!isRecord(element) || typeof state.value !== 'string') return undefined;
  const { min_length: min, max_length: max } = element;
  if (typeof min === 'number' && state.value.length < min) return `Please enter at least ${min} characters.`;
  if (typeof max === 'number' && state.value.length > max)
    return `Please enter no more than ${max} characters.`;
  if (element['type'] === 'number_input' && !/^-?\d+(\.\d+)?$/.test(state.value))
    return 'Must be a valid number.';
  if (element['type'] === 'email_text_input' && !/^\S+@\S+$/.test(state.value))
    return 'Must be a valid email.';
  if (element['type'] === 'url_text_input' && !/^https?:\/\/\S+$/.test(state.value))
    return 'Must be a valid URL.';
  return undefined;
}

function isEmpty(state: ElementState): boolean {
  return Object.entries(state).every(
    ([name, value]) =>
      name === 'type' || value === null || value === '' || (Array.isArray(value) && value.length === 0),
  );
}

/** The option with this value. External selects have theirs from the app, so any value stands for itself there. */
function optionOf(element: Block, value: string): OptionValue {
  const groups = asList(element['option_groups']).flatMap((group) =>
    isRecord(group) ? asList(group['options']) : [],
  );
  const options = [...asList(element['options']), ...groups].filter(isRecord);
  const found = options.find((option) => option['value'] === value);
  if (found !== undefined) return found as unknown as OptionValue;
  if (element.type.includes('external'))
    return { text: { type: 'plain_text', text: value, emoji: true }, value };
  throw new SlackError('invalid_input');
}

function kindOfSelect(type: string): string {
  const kind = /^(?:multi_)?(user|channel|conversation)s_select$/.exec(type)?.[1];
  if (kind === undefined) throw new SlackError('invalid_input');
  return kind;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isBlock(value: unknown): value is Block {
  return isRecord(value) && typeof value['type'] === 'string';
}
