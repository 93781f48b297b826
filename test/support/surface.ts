import { isRecord } from '../../playground/slack/validate/rules.ts';

/** A message or a view, as Slack has it. */
export interface Shown {
  readonly text?: string;
  readonly blocks?: readonly unknown[];
  readonly attachments?: readonly unknown[];
}

/** An id stands for a name, which is about this long. */
const MENTION = '@somebody';

/** How long a moment is in a reader's own time zone, by what its format asks for. */
const MOMENTS: Readonly<Record<string, string>> = {
  time: '10:40 AM',
  time_secs: '10:40:00 AM',
  ago: '3 minutes ago',
  date_num: '2026-11-21',
  date_slash: '21/11/2026',
  date_short: 'Nov 21, 2026',
  date_short_pretty: 'Nov 21, 2026',
  date: 'November 21st, 2026',
  date_pretty: 'November 21st, 2026',
  date_long: 'Saturday, November 21st, 2026',
  date_long_pretty: 'Saturday, November 21st, 2026',
};

/**
 * What people read of a message without a press, piece by piece: the text of its blocks and of its strip, and the labels of its
 * buttons. Not what is folded or behind a menu, a button or a link, and not the fallback text, which only a message without
 * blocks shows.
 */
export function surfaceOf({ text = '', blocks = [], attachments = [] }: Shown): readonly string[] {
  const strips = attachments.filter(isRecord).flatMap((each) => {
    const { pretext, author_name, title, text: body, footer, fields } = each;
    const own = [pretext, author_name, title, body, footer].flatMap(marked);
    const table = records(fields).flatMap((field) => [...marked(field['title']), ...marked(field['value'])]);
    return [...own, ...table, ...records(each['blocks']).flatMap(ofBlock)];
  });
  const body = blocks.length > 0 ? records(blocks).flatMap(ofBlock) : marked(text);
  return [...body, ...strips].map((piece) => piece.trim()).filter((piece) => piece !== '');
}

/** Characters, as people count them. */
export const visible = (message: Shown): number =>
  surfaceOf(message).reduce((sum, piece) => sum + charactersOf(piece), 0);

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const charactersOf = (text: string): number => [...graphemes.segment(text)].length;

type Part = Readonly<Record<string, unknown>>;

function ofBlock(block: Part): string[] {
  switch (block['type']) {
    case 'actions':
    case 'context':
    case 'context_actions':
      return records(block['elements']).flatMap(ofElement);
    case 'card':
      return [
        ...[block['title'], block['subtitle'], block['body']].flatMap(ofText),
        ...records(block['actions']).flatMap(ofElement),
      ];
    case 'carousel':
      return records(block['elements']).flatMap(ofBlock);
    case 'container': {
      const isFolded = block['is_collapsible'] === true && block['default_collapsed'] === true;
      const title = isRecord(block['rich_text_title'])
        ? ofBlock(block['rich_text_title'])
        : ofText(block['title']);
      const inside = isFolded ? [] : records(block['child_blocks']).flatMap(ofBlock);
      return [...title, ...ofText(block['subtitle']), ...inside];
    }
    case 'data_visualization':
      return [...literal(block['title']), ...ofChart(block['chart'])];
    case 'data_table':
    case 'table':
      return [
        ...literal(block['caption']),
        ...list(block['rows']).flatMap((row) => records(row).flatMap(ofCell)),
      ];
    case 'image':
      return ofText(block['title']);
    case 'input':
      return [...ofText(block['label']), ...ofText(block['hint']), ...ofElement(block['element'])];
    case 'markdown':
      return literal(block['text']);
    case 'plan':
      return [...literal(block['title']), ...records(block['tasks']).flatMap(({ title }) => literal(title))];
    case 'task_card':
      return literal(block['title']);
    case 'rich_text':
      // A line of it is one piece, whatever styles it is made of.
      return records(block['elements']).flatMap((part) =>
        part['type'] === 'rich_text_list'
          ? records(part['elements']).map((item) => ofRich(item))
          : [ofRich(part)],
      );
    case 'section':
      return [
        ...ofText(block['text']),
        ...list(block['fields']).flatMap(ofText),
        ...ofElement(block['accessory']),
      ];
    case 'video':
      return [...ofText(block['title']), ...ofText(block['description']), ...literal(block['author_name'])];
    default:
      // header, alert; a divider has none.
      return ofText(block['text']);
  }
}

/** A pressed menu shows its options, a field its placeholder until something is chosen. */
function ofElement(element: unknown): string[] {
  if (!isRecord(element)) return [];
  switch (element['type']) {
    case 'mrkdwn':
    case 'plain_text':
      return ofText(element);
    case 'button':
    case 'workflow_button':
      return ofText(element['text']);
    case 'checkboxes':
    case 'radio_buttons':
      return records(element['options']).flatMap((each) => [
        ...ofText(each['text']),
        ...ofText(each['description']),
      ]);
    case 'overflow':
    case 'feedback_buttons':
    case 'icon_button':
    case 'image':
      return [];
    default: {
      const chosen = [element['initial_option'], ...list(element['initial_options'])].filter(isRecord);
      if (chosen.length > 0) return chosen.flatMap((each) => ofText(each['text']));
      return element['initial_value'] === undefined
        ? ofText(element['placeholder'])
        : literal(element['initial_value']);
    }
  }
}

function ofRich(part: Part): string {
  const { elements } = part;
  if (Array.isArray(elements)) return records(elements).map(ofRich).join('');
  switch (part['type']) {
    case 'text':
      return words(part['text']);
    case 'link':
      return words(part['text']) || words(part['url']);
    case 'user':
    case 'usergroup':
    case 'channel':
    case 'team':
      return MENTION;
    case 'broadcast':
      return `@${words(part['range'])}`;
    case 'emoji':
      return '🔥';
    case 'date':
      return moment(words(part['format']));
    case 'color':
      return words(part['value']);
    default:
      return '';
  }
}

function ofChart(chart: unknown): string[] {
  if (!isRecord(chart)) return [];
  const axis = isRecord(chart['axis_config']) ? chart['axis_config'] : {};
  return [
    ...list(axis['categories']),
    axis['x_label'],
    axis['y_label'],
    ...records(chart['series']).map(({ name }) => name),
    ...records(chart['segments']).map(({ label }) => label),
  ].flatMap(literal);
}

const ofCell = (cell: Part): string[] =>
  cell['type'] === 'rich_text' ? ofBlock(cell) : literal(cell['text']);

/** A text object: markup shows as what it stands for, plain text as it is. */
function ofText(object: unknown): string[] {
  if (!isRecord(object)) return [];
  return object['type'] === 'mrkdwn' ? marked(object['text']) : literal(object['text']);
}

/** Slack's markup as it is shown: `<@U1>`, `<!date^0^{time}|x>`, `<https://…|label>`, `&lt;`, and `*bold*` without its stars. */
function marked(text: unknown): string[] {
  const shown = words(text)
    .replace(/<!date\^[^^>]*\^([^^|>]*)[^>]*>/g, (_, format: string) => moment(format))
    .replace(/<(?:@|!subteam\^|#)[^>|]*(?:\|([^>]*))?>/g, (_, name?: string) => name || MENTION)
    .replace(/<!(here|channel|everyone)[^>]*>/g, '@$1')
    .replace(/<([^<>|]+)\|([^<>]+)>/g, '$2')
    .replace(/<([^<>]+)>/g, '$1')
    .replace(/(^|[\s(])([*_~`])(\S(?:[^\n]*?\S)?)\2(?=$|[\s).,:;!?])/gm, '$1$3')
    .replace(/```\n?/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  return [shown];
}

const moment = (format: string): string =>
  format.replace(/\{(\w+)\}/g, (_, name: string) => MOMENTS[name] ?? MOMENTS['date_long'] ?? '');

const words = (value: unknown): string => (typeof value === 'string' ? value : '');
const literal = (value: unknown): string[] => [words(value)];
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const records = (value: unknown): readonly Part[] => list(value).filter(isRecord);
