import { LIMITS } from '../limits.ts';
import { anyOption, confirm, optionGroup, placeholder, plainOption, plainText } from './objects.ts';
import {
  among,
  anything,
  boolean,
  both,
  byType,
  fields,
  list,
  needsOneOf,
  number,
  pattern,
  type Rule,
  string,
  url,
} from './rules.ts';

const id = string(LIMITS.id);
const date = pattern(/^\d{4}-\d{2}-\d{2}$/, 'a date in the format YYYY-MM-DD');
const time = pattern(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time in the format HH:mm');
const dispatch = fields(
  {},
  { trigger_actions_on: list(among('on_enter_pressed', 'on_character_entered'), 2) },
);

const imageRule = both(
  fields(
    { type: anything, alt_text: string(LIMITS.image.alt) },
    { image_url: url(LIMITS.image.url), slack_file: anything },
  ),
  needsOneOf(['image_url', 'slack_file'], true),
);

/** `action_id` is optional for Slack, which then makes one up; nothing can be routed by it, but it is accepted. */
function interactive(required: Record<string, Rule>, optional: Record<string, Rule> = {}): Rule {
  return fields({ type: anything, ...required }, { action_id: id, confirm, ...optional });
}

function picker(optional: Record<string, Rule>): Rule {
  return interactive({}, { placeholder, focus_on_load: boolean, ...optional });
}

function textInput(optional: Record<string, Rule> = {}, required: Record<string, Rule> = {}): Rule {
  return fields(
    { type: anything, ...required },
    { action_id: id, placeholder, focus_on_load: boolean, dispatch_action_config: dispatch, ...optional },
  );
}

const staticOptions = {
  options: list(plainOption, LIMITS.select.options),
  option_groups: list(optionGroup, LIMITS.select.groups),
};
const many = { max_selected_items: number(1, 1000) };
const idList = list(string(50), 100, 0);
const feedbackButton = fields(
  { text: plainText(LIMITS.button.text), value: string(LIMITS.button.value) },
  { accessibility_label: string(LIMITS.button.label) },
);

const button = interactive(
  { text: plainText(LIMITS.button.text) },
  {
    value: string(LIMITS.button.value, 0),
    url: url(LIMITS.button.url),
    style: among('primary', 'danger'),
    accessibility_label: string(LIMITS.button.label),
  },
);

const ELEMENTS = {
  button,
  checkboxes: interactive(
    { options: list(anyOption, LIMITS.choices) },
    { initial_options: list(anyOption, LIMITS.choices), focus_on_load: boolean },
  ),
  radio_buttons: interactive(
    { options: list(anyOption, LIMITS.choices) },
    { initial_option: anyOption, focus_on_load: boolean },
  ),
  overflow: interactive({ options: list(plainOption, LIMITS.overflow) }),
  datepicker: picker({ initial_date: date }),
  timepicker: picker({ initial_time: time, timezone: string(100) }),
  datetimepicker: interactive({}, { initial_date_time: number(1e9, 1e10), focus_on_load: boolean }),
  static_select: both(
    picker({ ...staticOptions, initial_option: plainOption }),
    needsOneOf(['options', 'option_groups'], true),
  ),
  multi_static_select: both(
    picker({ ...staticOptions, ...many, initial_options: list(plainOption, LIMITS.select.options, 0) }),
    needsOneOf(['options', 'option_groups'], true),
  ),
  external_select: picker({ initial_option: plainOption, min_query_length: number(0, 100) }),
  multi_external_select: picker({
    ...many,
    initial_options: list(plainOption, 100, 0),
    min_query_length: number(0, 100),
  }),
  users_select: picker({ initial_user: string(50) }),
  multi_users_select: picker({ ...many, initial_users: idList }),
  channels_select: picker({ initial_channel: string(50), response_url_enabled: boolean }),
  multi_channels_select: picker({ ...many, initial_channels: idList }),
  conversations_select: picker({
    initial_conversation: string(50),
    default_to_current_conversation: boolean,
    response_url_enabled: boolean,
    filter: anything,
  }),
  multi_conversations_select: picker({
    ...many,
    initial_conversations: idList,
    default_to_current_conversation: boolean,
    filter: anything,
  }),
  plain_text_input: textInput({
    initial_value: string(LIMITS.input.maxLength, 0),
    multiline: boolean,
    min_length: number(0, LIMITS.input.maxLength),
    max_length: number(1, LIMITS.input.maxLength),
  }),
  email_text_input: textInput({ initial_value: string(LIMITS.input.maxLength, 0) }),
  url_text_input: textInput({ initial_value: string(LIMITS.input.maxLength, 0) }),
  number_input: textInput(
    { initial_value: string(100, 0), min_value: string(100), max_value: string(100) },
    { is_decimal_allowed: boolean },
  ),
  rich_text_input: textInput({
    initial_value: anything,
    min_lines: number(1, 100),
    max_lines: number(1, 100),
  }),
  file_input: fields(
    { type: anything },
    { action_id: id, filetypes: list(string(20), 100), max_files: number(1, 10) },
  ),
  workflow_button: fields(
    { type: anything, text: plainText(LIMITS.button.text), workflow: anything },
    { action_id: id, style: among('primary', 'danger'), accessibility_label: string(LIMITS.button.label) },
  ),
  feedback_buttons: fields(
    { type: anything, positive_button: feedbackButton, negative_button: feedbackButton },
    { action_id: id },
  ),
  icon_button: interactive(
    { icon: string(100), text: plainText(LIMITS.button.text) },
    {
      value: string(LIMITS.button.value, 0),
      accessibility_label: string(LIMITS.button.label),
      visible_to_user_ids: list(string(50), LIMITS.iconButtonUsers),
    },
  ),
  image: imageRule,
} as const satisfies Record<string, Rule>;

type ElementName = keyof typeof ELEMENTS;

const SELECTS: readonly ElementName[] = [
  'static_select',
  'multi_static_select',
  'external_select',
  'multi_external_select',
  'users_select',
  'multi_users_select',
  'channels_select',
  'multi_channels_select',
  'conversations_select',
  'multi_conversations_select',
];
const PICKERS: readonly ElementName[] = [
  'checkboxes',
  'radio_buttons',
  'datepicker',
  'timepicker',
  'datetimepicker',
];

function only(names: readonly ElementName[]): Rule {
  const table = Object.fromEntries(names.map((name) => [name, ELEMENTS[name]]));
  return byType(() => table);
}

export const actionsElement = only([
  'button',
  'overflow',
  'workflow_button',
  'rich_text_input',
  ...SELECTS,
  ...PICKERS,
]);
export const sectionAccessory = only([
  'button',
  'overflow',
  'workflow_button',
  'image',
  ...SELECTS,
  ...PICKERS,
]);
export const contextActionsElement = only(['feedback_buttons', 'icon_button']);
export const inputElement = only([
  'plain_text_input',
  'email_text_input',
  'url_text_input',
  'number_input',
  'rich_text_input',
  'file_input',
  ...SELECTS,
  ...PICKERS,
]);
export const buttonElement = only(['button']);
export const imageElement: Rule = byType(() => ({ image: imageRule }));
