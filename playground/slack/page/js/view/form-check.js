import { list, text } from '../blocks/fields.js';

/**
 * What Slack's client checks before it sends a form: required inputs are filled, addresses and numbers look right.
 * @param {any} blocks
 * @param {import('../core/types.js').FormInput} form
 * @returns {Record<string, string>} block_id → what is wrong
 */
export function missingFields(blocks, form) {
  /** @type {Record<string, string>} */
  const wrong = {};
  for (const block of list(blocks)) {
    if (block.type !== 'input') continue;
    const blockId = text(block.block_id);
    const element = block.element ?? {};
    const problem = check(element, form[blockId]?.[text(element.action_id)], block.optional === true);
    if (problem !== undefined) wrong[blockId] = problem;
  }
  return wrong;
}

/**
 * @param {any} element
 * @param {import('../core/types.js').ElementInput | undefined} input
 * @param {boolean} optional
 * @returns {string | undefined}
 */
function check(element, input, optional) {
  const value = entered(element, input);
  if (value === '')
    return optional || element.type === 'file_input' ? undefined : 'Please complete this required field.';
  if (element.type === 'email_text_input' && !/^\S+@\S+\.\S+$/.test(value)) return 'Please enter an e-mail address.';
  if (element.type === 'url_text_input' && !URL.canParse(value)) return 'Please enter a whole address, with https://';
  if (element.type === 'number_input') return checkNumber(element, value);
  const min = Number(element.min_length) || 0;
  return value.length < min ? `Please write at least ${min} characters.` : undefined;
}

/**
 * @param {any} element
 * @param {string} value
 */
function checkNumber(element, value) {
  const number = Number(value);
  if (!Number.isFinite(number)) return 'Please enter a number.';
  if (element.is_decimal_allowed !== true && !Number.isInteger(number)) return 'Please enter a whole number.';
  if (element.min_value !== undefined && number < Number(element.min_value)) return `At least ${element.min_value}.`;
  if (element.max_value !== undefined && number > Number(element.max_value)) return `At most ${element.max_value}.`;
  return undefined;
}

/**
 * What was entered, or the element's initial value when it was not touched.
 * @param {any} element
 * @param {import('../core/types.js').ElementInput | undefined} input
 */
function entered(element, input) {
  if (input && 'values' in input) return input.values.join(',');
  if (input && 'value' in input) return String(input.value).trim();
  const initial = Object.entries(element).find(([name]) => name.startsWith('initial_'))?.[1];
  if (initial === undefined || initial === null) return '';
  return Array.isArray(initial) && initial.length === 0 ? '' : typeof initial === 'object' ? 'chosen' : String(initial);
}
