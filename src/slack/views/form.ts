import type { types } from '@slack/bolt';
import { type Block, plain } from './blocks/build.ts';
import { LIMITS } from './blocks/limits.ts';
import { cut } from './blocks/text.ts';

/** One text field takes at most this (facts: Block Kit); what is given to be edited leaves room to grow. */
const FIELD = 3_000;
const GIVEN = 2_600;
const MAX_FIELDS = 20;
const MAX_OPTIONS = 100;
/** What else stands in the window needs some. */
const FIELDS_BYTES = LIMITS.viewBytes - 20_000;

export interface Field {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly value?: string;
  readonly optional?: boolean;
  readonly lines?: 'one' | 'many';
  readonly max?: number;
}

export function textField({ id, label, hint, value, optional, lines = 'many', max = FIELD }: Field): Block {
  return {
    type: 'input',
    block_id: id,
    optional: optional ?? false,
    label: plain(label),
    ...(hint ? { hint: plain(hint) } : {}),
    element: {
      type: 'plain_text_input',
      action_id: id,
      multiline: lines === 'many',
      max_length: max,
      ...(value ? { initial_value: cut(value, max) } : {}),
    },
  };
}

export function choice(
  id: string,
  label: string,
  options: readonly { readonly text: string; readonly value: string }[],
  chosen: string,
  hint?: string,
): Block {
  const option = ({ text, value }: { readonly text: string; readonly value: string }) => ({
    text: plain(text),
    value,
  });
  const initial = options.find(({ value }) => value === chosen) ?? options[0];
  return {
    type: 'input',
    block_id: id,
    label: plain(label),
    ...(hint ? { hint: plain(hint) } : {}),
    element: {
      type: 'static_select',
      action_id: id,
      options: options.map(option),
      ...(initial ? { initial_option: option(initial) } : {}),
    },
  };
}

/** A field that nobody has to fill in. */
const mayStayEmpty = (
  id: string,
  label: string,
  hint: string,
  element: types.InputBlock['element'],
): Block => ({
  type: 'input',
  block_id: id,
  optional: true,
  label: plain(label),
  hint: plain(hint),
  element,
});

/** One of a list, or none. Slack takes up to a hundred: the first of them. */
export const choiceOrNone = (
  id: string,
  label: string,
  values: readonly string[],
  chosen: string | null,
  hint: string,
): Block => {
  const option = (value: string) => ({ text: plain(cut(`@${value}`, LIMITS.buttonText)), value });
  const initial = values.find((value) => value === chosen);
  return mayStayEmpty(id, label, hint, {
    type: 'static_select',
    action_id: id,
    options: values.slice(0, MAX_OPTIONS).map(option),
    ...(initial === undefined ? {} : { initial_option: option(initial) }),
  });
};

export const peopleField = (id: string, label: string, chosen: readonly string[], hint: string): Block =>
  mayStayEmpty(id, label, hint, {
    type: 'multi_users_select',
    action_id: id,
    ...(chosen.length > 0 ? { initial_users: [...chosen] } : {}),
  });

/** Channels that whoever fills it in sees; `many` or one. */
export const channelField = (
  id: string,
  label: string,
  chosen: readonly string[],
  hint: string,
  many: boolean,
): Block => {
  const filter = { include: ['public' as const, 'private' as const], exclude_bot_users: true };
  const [first] = chosen;
  return mayStayEmpty(
    id,
    label,
    hint,
    many
      ? {
          type: 'multi_conversations_select',
          action_id: id,
          filter,
          ...(chosen.length > 0 ? { initial_conversations: [...chosen] } : {}),
        }
      : {
          type: 'conversations_select',
          action_id: id,
          filter,
          ...(first === undefined ? {} : { initial_conversation: first }),
        },
  );
};

/** A person of the workspace. */
/** `first`: who stands there already. */
export const personField = (id: string, label: string, first: string | null = null): Block => ({
  type: 'input',
  block_id: id,
  label: plain(label),
  element: { type: 'users_select', action_id: id, ...(first === null ? {} : { initial_user: first }) },
});

/** A window that asks for something; `metadata` comes back with the answer. */
export function form(shape: {
  readonly callback: string;
  readonly title: string;
  readonly submit: string;
  readonly metadata: object;
  readonly blocks: readonly Block[];
}): types.ModalView {
  return {
    type: 'modal',
    callback_id: shape.callback,
    private_metadata: JSON.stringify(shape.metadata),
    title: plain(cut(shape.title, LIMITS.viewTitle)),
    submit: plain(shape.submit),
    close: plain('Back'),
    blocks: shape.blocks.slice(0, LIMITS.viewBlocks),
  };
}

/** A long text in fields that Slack takes, cut at line ends where there are some. Null: longer than a window holds. */
export function longField(id: string, label: string, text: string): LongField | null {
  const pieces: string[] = [];
  let glue = '';
  let rest = text;
  while (rest.length > GIVEN) {
    const line = rest.lastIndexOf('\n', GIVEN);
    const end = line > 0 ? line : GIVEN - (/[\ud800-\udbff]/.test(rest[GIVEN - 1] ?? '') ? 1 : 0);
    pieces.push(rest.slice(0, end));
    glue += line > 0 ? 'n' : '-';
    rest = rest.slice(line > 0 ? end + 1 : end);
  }
  pieces.push(rest);
  if (pieces.length > MAX_FIELDS || Buffer.byteLength(JSON.stringify(pieces)) > FIELDS_BYTES) return null;
  const blocks = pieces.map((value, n) =>
    textField({
      id: `${id}_${n}`,
      label: pieces.length === 1 ? label : `${label}, part ${n + 1} of ${pieces.length}`,
      value,
      optional: pieces.length > 1,
    }),
  );
  return { blocks, glue };
}

export interface LongField {
  readonly blocks: readonly Block[];
  /** How the parts join again: `n` a line end, `-` nothing. */
  readonly glue: string;
}

export type Entered = Readonly<
  Record<
    string,
    Readonly<
      Record<
        string,
        {
          readonly value?: string | null | undefined;
          readonly selected_option?: { readonly value: string } | null | undefined;
          readonly selected_user?: string | null | undefined;
          readonly selected_users?: readonly string[] | undefined;
          readonly selected_conversation?: string | null | undefined;
          readonly selected_conversations?: readonly string[] | undefined;
        }
      >
    >
  >
>;

export function readField(values: Entered, id: string): string {
  const entered = values[id]?.[id];
  return entered?.selected_option?.value ?? entered?.selected_user ?? entered?.value?.trim() ?? '';
}

/** People or channels that were chosen. */
export function readChosen(values: Entered, id: string): readonly string[] {
  const entered = values[id]?.[id];
  const one = entered?.selected_conversation;
  return entered?.selected_users ?? entered?.selected_conversations ?? (one ? [one] : []);
}

export function readLongField(values: Entered, id: string, glue: string): string {
  const parts = Array.from(
    { length: glue.length + 1 },
    (_, n) => values[`${id}_${n}`]?.[`${id}_${n}`]?.value ?? '',
  );
  return parts.map((part, n) => part + (glue[n] === 'n' ? '\n' : '')).join('');
}
