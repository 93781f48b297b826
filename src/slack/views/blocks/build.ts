import type { types } from '@slack/bolt';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { LIMITS } from './limits.ts';
import { cut, escape, oneLine, printable } from './text.ts';

export type Block = types.KnownBlock;
type RichPart = types.RichTextBlock['elements'][number];
/** A piece of a sentence. Its text is literal: Slack reads no markup, mention or link in it. */
export type Span = types.RichTextElement;

interface Style {
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly code?: boolean;
}

/** Literal text, whoever wrote it. */
export function words(text: string, style: Style = {}): Span {
  const literal = printable(text) || ' ';
  return Object.keys(style).length > 0
    ? { type: 'text', text: literal, style }
    : { type: 'text', text: literal };
}

export const bold = (text: string): Span => words(text, { bold: true });
export const code = (text: string): Span => words(oneLine(text), { code: true });

/** A link when the address is http(s), else its text. */
export function link(url: string, text: string): Span {
  const safe = /^https?:\/\//i.test(url) && URL.canParse(url) && url.length <= LIMITS.url;
  return safe ? { type: 'link', url, text: oneLine(text) || url } : words(text);
}

/** A person, by id. In a new message this notifies them; in an edit it does not. */
export function person(id: string): Span {
  return isSlackUser(id) ? { type: 'user', user_id: id } : words(id);
}

/** A user group by id: notifies its members when posted. */
export const group = (id: string): Span => ({ type: 'usergroup', usergroup_id: id });

/** People and groups by id, as they are mentioned in a message's blocks and in its `text`. */
export const mentionsOf = (ids: readonly string[]) => ({
  spans: ids.flatMap((id) => [isGroup(id) ? group(id) : person(id), words(' ')]),
  text: ids.map((id) => (isGroup(id) ? `<!subteam^${id}> ` : `<@${id}> `)).join(''),
});

const isGroup = (id: string): boolean => id.startsWith('S');

/** A moment in the reader's own time zone. */
export function moment(iso: string, format = '{time}'): Span {
  const seconds = Math.floor(Date.parse(iso) / 1000);
  if (!Number.isFinite(seconds)) return words(iso);
  return { type: 'date', timestamp: seconds, format, fallback: `${iso.slice(0, 16).replace('T', ' ')} UTC` };
}

/** A moment to come, with its day where that is not plain. */
export const deadline = (iso: string, since: string): Span =>
  moment(iso, Date.parse(iso) - Date.parse(since) > 12 * 3_600_000 ? '{date_short_pretty} {time}' : '{time}');

/** As lines of ours tell a moment where they do not know who reads them. */
const MINUTE = /\b(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\b/;

/** After “at”: “at 10:03 AM, today” is said, “at today” is not. */
export const AT = '{time}, {date_short_pretty}';

/** A line of ours, its moments in the reader's own time zone, with their day. */
export function withMoments(text: string): readonly Span[] {
  const found = MINUTE.exec(text);
  if (found === null) return text === '' ? [] : [words(text)];
  const [whole, day, time] = found;
  const before = text.slice(0, found.index);
  return [
    ...(before === '' ? [] : [words(before)]),
    moment(`${day}T${time}:00Z`, before.endsWith(' at ') ? AT : '{date_short_pretty} {time}'),
    ...withMoments(text.slice(found.index + whole.length)),
  ];
}

export const paragraph = (...spans: readonly Span[]): RichPart => ({
  type: 'rich_text_section',
  elements: [...spans],
});

export const list = (items: readonly (readonly Span[])[]): RichPart => ({
  type: 'rich_text_list',
  style: 'bullet',
  elements: items.map((spans) => ({ type: 'rich_text_section', elements: [...spans] })),
});

/** Exactly as given, in a fixed-width box. */
export const verbatim = (text: string): RichPart => ({
  type: 'rich_text_preformatted',
  elements: [{ type: 'text', text: printable(text) || ' ' }],
});

/**
 * Exactly as given, in a block that clients without rich text draw as well: what is approved must not be missing there. In a
 * fixed-width box, unless the text could leave it.
 */
export function literal(text: string): types.SectionBlock {
  const shown = printable(text).trim() || '(nothing)';
  const box = `\`\`\`\n${escape(shown)}\n\`\`\``;
  return shown.includes('```') || box.length > LIMITS.text
    ? asIs(text)
    : { type: 'section', text: { type: 'mrkdwn', text: box, verbatim: true } };
}

const asIs = (text: string): types.SectionBlock => ({
  type: 'section',
  text: plain(cut(printable(text).trim() || '(nothing)', LIMITS.text)),
});

export const prose = (...parts: readonly RichPart[]): Block => ({ type: 'rich_text', elements: [...parts] });

export const heading = (text: string): Block => ({
  type: 'header',
  text: plain(cut(oneLine(text) || '(no title)', LIMITS.header)),
});

/** Small grey print. */
export const small = (text: string): Block => ({
  type: 'context',
  elements: [plain(cut(oneLine(text) || ' ', LIMITS.text))],
});

/** A line of literal text with a button beside it. */
export const lineWith = (text: string, accessory: types.Button): Block => ({ ...asIs(text), accessory });

export const buttons = (...elements: readonly (types.Button | types.Overflow)[]): Block => ({
  type: 'actions',
  elements: [...elements],
});

export interface ButtonShape {
  readonly text: string;
  readonly action: string;
  readonly value: string;
  readonly style?: 'primary' | 'danger';
  readonly url?: string;
  readonly confirm?: { readonly title: string; readonly text: string; readonly yes: string };
}

export function button(shape: ButtonShape): types.Button {
  return {
    type: 'button',
    text: plain(cut(oneLine(shape.text), LIMITS.buttonText)),
    action_id: shape.action,
    value: shape.value.slice(0, LIMITS.buttonValue),
    ...(shape.style ? { style: shape.style } : {}),
    ...(shape.url ? { url: shape.url } : {}),
    ...(shape.confirm
      ? {
          confirm: {
            title: plain(cut(shape.confirm.title, LIMITS.confirmTitle)),
            text: plain(cut(shape.confirm.text, LIMITS.confirmText)),
            confirm: plain(cut(shape.confirm.yes, LIMITS.confirmButton)),
            deny: plain('Not now'),
            style: 'danger',
          },
        }
      : {}),
  };
}

export interface OptionShape {
  readonly text: string;
  readonly value: string;
  /** The browser opens it. */
  readonly url?: string;
}

/** What is seldom wanted, behind three dots; Slack takes five, the first ones stand. */
export function overflow(action: string, options: readonly OptionShape[]): types.Overflow {
  return {
    type: 'overflow',
    action_id: action,
    options: options.slice(0, LIMITS.overflow).map(({ text, value, url }) => ({
      text: plain(cut(oneLine(text), LIMITS.buttonText)),
      value: value.slice(0, LIMITS.optionValue),
      ...(url ? { url } : {}),
    })),
  };
}

/** Plain text: Slack neither formats nor links it, nor turns `:names:` into pictures. */
export function plain(text: string): types.PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}
