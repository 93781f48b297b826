import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Block } from '../../../playground/slack/slack-shapes.ts';

const nothing = () => undefined;
/** The client logs each refusal, and this file is made of refusals. */
const silent: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  getLevel: () => LogLevel.ERROR,
  setName: nothing,
};
let slack: LocalSlack;
let web: WebClient;
const channel = CHANNELS.alerts;
const plain = (text: string) => ({ type: 'plain_text', text });
const section = (text: string): Block => ({ type: 'section', text: { type: 'mrkdwn', text } });
const button = (more: object = {}) => ({ type: 'button', action_id: 'a', text: plain('Go'), ...more });
const actions = (...elements: object[]): Block => ({ type: 'actions', elements });
const option = (n: number) => ({ text: plain(`o${n}`), value: `v${n}` });
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const value = (label: string, n = 1) => ({ label, value: n });
const line = (series: unknown[], categories: unknown[] = ['a', 'b'], more: object = {}) => ({
  type: 'data_visualization',
  title: 't',
  chart: { type: 'line', series, axis_config: { categories, ...more } },
});
const oneSeries = { name: 's', data: [value('a', -2.5), value('b')] };
const pie = (...segments: unknown[]) => ({
  type: 'data_visualization',
  title: 't',
  chart: { type: 'pie', segments },
});
const task = (n: number) => ({ type: 'task_card', task_id: `t${n}`, title: 'look', status: 'complete' });
const plan = (tasks: number) => ({ type: 'plan', title: 'Looking', tasks: many(tasks, task) });
const container = (child: unknown, more: object = {}) => ({
  type: 'container',
  title: plain('More'),
  child_blocks: [child],
  ...more,
});

beforeEach(async () => {
  slack = await createLocalSlack({ rateLimits: { enabled: false } });
  web = new WebClient(SENTRY_APP.botToken, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    logger: silent,
  });
});

afterEach(() => slack.close());

interface Answer {
  readonly code: string;
  readonly messages: readonly string[];
}

async function answerOf(call: Promise<unknown>): Promise<Answer> {
  try {
    await call;
    return { code: 'ok', messages: [] };
  } catch (error) {
    const { data } = error as { data: { error: string; response_metadata?: { messages?: string[] } } };
    return { code: data.error, messages: data.response_metadata?.messages ?? [] };
  }
}

function post(...blocks: unknown[]): Promise<Answer> {
  return answerOf(web.apiCall('chat.postMessage', { channel, text: 'x', blocks }));
}

describe('blocks of a message', () => {
  const accepted: Array<[string, unknown]> = [
    ['a full section', { ...section('a'), fields: many(10, () => plain('f')), accessory: button() }],
    ['25 buttons', actions(...many(25, (n) => button({ action_id: `a${n}` })))],
    ['a header of 150', { type: 'header', text: plain('h'.repeat(150)) }],
    [
      'a confirm dialog',
      actions(button({ style: 'danger', confirm: { title: plain('Sure?'), text: plain('t') } })),
    ],
    ['a select of 100', actions({ type: 'static_select', action_id: 's', options: many(100, option) })],
    [
      'a context with an image',
      {
        type: 'context',
        elements: [plain('x'), { type: 'image', alt_text: 'i', image_url: 'https://e.com/i.png' }],
      },
    ],
    ['markdown', { type: 'markdown', text: '# hello' }],
    [
      'rich text',
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'x' }] }],
      },
    ],
    ['a table', { type: 'table', rows: many(100, () => [{ type: 'raw_text', text: 'c' }]) }],
    ['a task card', { type: 'task_card', task_id: '1', title: 'look', status: 'complete' }],
    ['an alert', { type: 'alert', text: plain('x'), level: 'warning' }],
    [
      'feedback',
      {
        type: 'context_actions',
        elements: [
          {
            type: 'feedback_buttons',
            action_id: 'f',
            positive_button: { text: plain('+'), value: 'p' },
            negative_button: { text: plain('-'), value: 'n' },
          },
        ],
      },
    ],
    ['a plan of 48', plan(48)],
    ['a line', line([oneSeries], ['a', 'b'], { x_label: 'x'.repeat(50), y_label: 'y' })],
    ['a pie of 6', pie(...many(6, (n) => value(`p${n}`, 0.1)))],
    ['a folded container', container(actions(button()), { is_collapsible: true, default_collapsed: true })],
    [
      'a container',
      { type: 'container', title: plain('More'), child_blocks: [section('inside')], is_collapsible: true },
    ],
  ];
  it.each(accepted)('accepts %s', async (_name, block) => {
    expect(await post(block)).toEqual({ code: 'ok', messages: [] });
  });

  const refused: Array<[string, unknown, string]> = [
    [
      'section text of 3001',
      section('a'.repeat(3001)),
      'must be less than 3001 characters [json-pointer:/blocks/0/text/text]',
    ],
    ['an empty text', section(''), 'must be more than 0 characters [json-pointer:/blocks/0/text/text]'],
    [
      'a section of nothing',
      { type: 'section' },
      'missing required field: text or fields [json-pointer:/blocks/0]',
    ],
    [
      '11 fields',
      { type: 'section', fields: many(11, () => plain('f')) },
      'no more than 10 items allowed [json-pointer:/blocks/0/fields]',
    ],
    ['a field of 2001', { type: 'section', fields: [plain('f'.repeat(2001))] }, '/blocks/0/fields/0/text'],
    ['a header of 151', { type: 'header', text: plain('h'.repeat(151)) }, 'must be less than 151 characters'],
    [
      'a header in markdown',
      { type: 'header', text: { type: 'mrkdwn', text: 'h' } },
      'unsupported type: mrkdwn',
    ],
    ['an unknown block', { type: 'banner' }, 'unsupported type: banner [json-pointer:/blocks/0/type]'],
    ['an unknown field', { ...section('a'), colour: 'red' }, 'invalid additional property: colour'],
    ['26 buttons', actions(...many(26, (n) => button({ action_id: `a${n}` }))), 'no more than 25 items'],
    ['no buttons', actions(), 'no fewer than 1 items'],
    ['one action id twice', actions(button(), button()), '`action_id` already exists'],
    [
      'a button label of 76',
      actions(button({ text: plain('b'.repeat(76)) })),
      'must be less than 76 characters',
    ],
    [
      'a button value of 2001',
      actions(button({ value: 'v'.repeat(2001) })),
      'must be less than 2001 characters',
    ],
    ['a made-up button style', actions(button({ style: 'warning' })), 'must be one of: primary, danger'],
    [
      'a confirm without text',
      actions(button({ confirm: { title: plain('t') } })),
      'missing required field: text',
    ],
    [
      'an image among actions',
      actions({ type: 'image', alt_text: 'a', image_url: 'https://e.com' }),
      'unsupported type: image',
    ],
    [
      '11 context elements',
      { type: 'context', elements: many(11, () => plain('x')) },
      'no more than 10 items',
    ],
    [
      '6 overflow options',
      actions({ type: 'overflow', action_id: 'o', options: many(6, option) }),
      'no more than 5 items',
    ],
    [
      '101 options',
      actions({ type: 'static_select', action_id: 's', options: many(101, option) }),
      'no more than 100 items',
    ],
    [
      'an option value of 151',
      actions({
        type: 'static_select',
        action_id: 's',
        options: [{ text: plain('o'), value: 'v'.repeat(151) }],
      }),
      'must be less than 151 characters',
    ],
    ['a block_id of 256', { ...section('a'), block_id: 'b'.repeat(256) }, 'must be less than 256 characters'],
    [
      'a table of 101 rows',
      { type: 'table', rows: many(101, () => [{ type: 'raw_text', text: 'c' }]) },
      'no more than 100 items',
    ],
    [
      'a table of 21 columns',
      { type: 'table', rows: [many(21, () => ({ type: 'raw_text', text: 'c' }))] },
      'no more than 20 items',
    ],
    ['a javascript link', actions(button({ url: 'javascript:alert(1)' })), 'Must be a valid URL'],
    ['a bad date', actions({ type: 'datepicker', action_id: 'd', initial_date: 'tomorrow' }), 'YYYY-MM-DD'],
    [
      'an input with 2 labels too long',
      {
        type: 'input',
        label: plain('l'.repeat(2001)),
        element: { type: 'plain_text_input', action_id: 'i' },
      },
      'must be less than 2001',
    ],
    ['a plan of 49', plan(49), 'no more than 48 items'],
    ['a chart in a container', container(line([oneSeries])), 'unsupported type: data_visualization'],
    ['a plan in a container', container(plan(1)), 'unsupported type: plan'],
    ['a container folded for good', container(section('a'), { default_collapsed: true }), 'is_collapsible'],
    ['a container of 11', { ...container(0), child_blocks: many(11, () => section('a')) }, 'no more than 10'],
    ['a chart without a title', { ...line([oneSeries]), title: '' }, 'must be more than 0 characters'],
    ['a chart of 7 series', line(many(7, (n) => ({ ...oneSeries, name: `${n}` }))), 'no more than 6'],
    ['two series of a name', line([oneSeries, oneSeries]), 'series names must be unique'],
    ['a gap in a series', line([{ name: 's', data: [value('a')] }]), 'one value for each category'],
    [
      'a value that is none',
      line([{ name: 's', data: [value('a'), { label: 'b', value: null }] }]),
      'a number',
    ],
    [
      '21 points',
      line(
        [oneSeries],
        many(21, (n) => `${n}`),
      ),
      'no more than 20 items',
    ],
    ['a label of 21', pie(value('l'.repeat(21))), 'must be less than 21 characters'],
    ['an axis of 51', line([oneSeries], ['a', 'b'], { x_label: 'x'.repeat(51) }), 'less than 51 characters'],
    ['a slice of nothing', pie(value('a', 0)), 'must be between'],
    ['a made-up chart', { type: 'data_visualization', title: 't', chart: { type: 'radar' } }, 'radar'],
    ['a plain string', 'hello', 'missing required field: type'],
  ];
  it.each(refused)('refuses %s and says where', async (_name, block, message) => {
    const answer = await post(block);
    expect(answer.code).toBe('invalid_blocks');
    expect(answer.messages.join('\n')).toContain(message);
  });

  it('counts: 50 blocks pass, 51 do not; two tables do not; nor one block_id twice', async () => {
    expect((await post(...many(50, () => section('x')))).code).toBe('ok');
    expect((await post(...many(51, () => section('x')))).messages[0]).toContain('no more than 50 items');
    const table = { type: 'table', rows: [[{ type: 'raw_text', text: 'c' }]] };
    expect((await post(table, table)).messages.join()).toContain('only_one_table_allowed');
    const same = { ...section('x'), block_id: 'same' };
    expect((await post(same, same)).messages.join()).toContain('`block_id` already exists');
  });

  it('two charts pass, three do not; a plan and a task card exclude each other', async () => {
    const chart = line([oneSeries]);
    expect((await post(chart, chart)).code).toBe('ok');
    expect((await post(chart, chart, chart)).messages.join()).toContain('no more than 2 data_visualization');
    expect((await post(plan(1), task(9))).messages.join()).toContain('exclude each other');
    const id = { ...section('x'), block_id: 'same' };
    expect((await post(id, container(id))).messages.join()).toContain('child_blocks/0/block_id');
  });

  it('adds all text up', async () => {
    expect((await post(...many(4, () => section('a'.repeat(3000))))).code).toBe('ok');
    expect((await post(...many(5, () => section('a'.repeat(2500))))).code).toBe('msg_blocks_too_long');
  });

  it('refuses blocks that are no JSON, and attachments with bad blocks', async () => {
    expect((await answerOf(web.apiCall('chat.postMessage', { channel, text: 'x', blocks: '[' }))).code).toBe(
      'invalid_blocks_format',
    );
    const attachments = [{ color: 'danger', blocks: [section('a'.repeat(3001))] }];
    const answer = await answerOf(web.apiCall('chat.postMessage', { channel, attachments }));
    expect(answer.code).toBe('invalid_attachments');
    expect(answer.messages[0]).toContain('/attachments/0/blocks/0/text/text');
  });
});

describe('text', () => {
  it('cuts a post at 40,000 and refuses an update over 4,000', async () => {
    const posted = await web.chat.postMessage({ channel, text: 'a'.repeat(40_001) });
    expect(posted.message?.text?.length).toBe(40_000);
    const ts = String(posted.ts);
    expect((await answerOf(web.chat.update({ channel, ts, text: 'a'.repeat(4001) }))).code).toBe(
      'msg_too_long',
    );
    expect((await answerOf(web.chat.update({ channel, ts, text: 'a'.repeat(4000) }))).code).toBe('ok');
  });

  it('takes markdown_text up to 12,000 and only alone', async () => {
    const send = (body: object) => answerOf(web.apiCall('chat.postMessage', { channel, ...body }));
    expect((await send({ markdown_text: 'a'.repeat(12_000) })).code).toBe('ok');
    expect((await send({ markdown_text: 'a'.repeat(12_001) })).code).toBe('msg_too_long');
    expect((await send({ markdown_text: 'a', text: 'b' })).code).toBe('markdown_text_conflict');
  });

  it('refuses metadata that is malformed or too large', async () => {
    const send = (metadata: unknown) =>
      answerOf(web.apiCall('chat.postMessage', { channel, text: 'x', metadata }));
    expect((await send({ event_type: 'a' })).code).toBe('invalid_metadata_format');
    expect((await send({ event_type: 'a', event_payload: { big: 'x'.repeat(70_000) } })).code).toBe(
      'metadata_too_large',
    );
  });
});

describe('views', () => {
  const home = (...blocks: unknown[]) =>
    web.apiCall('views.publish', { user_id: USERS.admin, view: { type: 'home', blocks } });

  it('takes 100 blocks and not 101, and no block that is for messages only', async () => {
    expect((await answerOf(home(...many(100, () => section('x'))))).code).toBe('ok');
    const tooMany = await answerOf(home(...many(101, () => section('x'))));
    expect(tooMany).toMatchObject({ code: 'invalid_arguments' });
    expect(tooMany.messages.join()).toContain('no more than 100 items allowed [json-pointer:/view/blocks]');
    expect((await answerOf(home({ type: 'markdown', text: 'x' }))).messages.join()).toContain(
      'unsupported type: markdown',
    );
  });

  it('checks a modal before its trigger, and names what is wrong', async () => {
    const view = {
      type: 'modal',
      title: plain('t'.repeat(25)),
      private_metadata: 'p'.repeat(3001),
      blocks: [section('x')],
    };
    const answer = await answerOf(web.apiCall('views.open', { trigger_id: 'none', view }));
    expect(answer.code).toBe('invalid_arguments');
    expect(answer.messages.join('\n')).toMatch(
      /25 characters.*view\/title[\s\S]*3001 characters.*private_metadata/,
    );
    const noSubmit = {
      type: 'modal',
      title: plain('t'),
      blocks: [{ type: 'input', label: plain('l'), element: { type: 'plain_text_input', action_id: 'i' } }],
    };
    expect(
      (await answerOf(web.apiCall('views.open', { trigger_id: 'none', view: noSubmit }))).messages.join(),
    ).toContain('submit');
  });
});

describe('blocks.validate', () => {
  const validate = async (what: object): Promise<{ error?: string; errors?: unknown[] }> => {
    try {
      return (await web.apiCall('blocks.validate', { ...what })) as object;
    } catch (error) {
      return (error as { data: { error: string; errors?: unknown[] } }).data;
    }
  };
  const modal = { type: 'modal', title: plain('t'), blocks: [section('a')] };

  it('says of blocks, a message and a view that they would be shown, and shows none', async () => {
    for (const what of [
      { blocks: [section('a')] },
      { message: { text: 'x', blocks: [section('a')], attachments: [{ blocks: [section('b')] }] } },
      { view: modal },
      { view: { type: 'home', blocks: [section('a')] } },
    ])
      expect(await validate(what)).toMatchObject({ ok: true });
    const shown = await web.conversations.history({ channel });
    expect(shown.messages).toEqual([]);
  });

  it('names what is wrong, and where', async () => {
    const long = { type: 'header', text: plain('h'.repeat(151)) };
    const wrong = (pointer: string) => [
      { pointer, code: 'failed_constraint', message: 'must be less than 151 characters' },
    ];
    expect(await validate({ blocks: [long] })).toMatchObject({
      error: 'invalid_blocks',
      errors: wrong('/blocks/0/text/text'),
    });
    expect(await validate({ view: { ...modal, blocks: [long] } })).toMatchObject({
      error: 'invalid_view',
      errors: wrong('/view/blocks/0/text/text'),
    });
    expect(await validate({ message: { blocks: [long] } })).toMatchObject({ error: 'invalid_message' });
    expect(await validate({})).toMatchObject({ error: 'invalid_arguments' });
    expect(await validate({ blocks: [], view: modal })).toMatchObject({ error: 'invalid_arguments' });
  });
});

describe('an older workspace', () => {
  it('refuses the blocks it does not know, wherever they stand, until it does', async () => {
    const switched = async (types: string[]) => {
      const body = JSON.stringify({ types });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${slack.url}/control/unknown-blocks`, { method: 'POST', headers, body });
      expect(await answer.json()).toMatchObject({ ok: true });
    };
    await switched(['container', 'data_visualization']);
    expect(await post(section('a'), line([oneSeries]))).toEqual({
      code: 'invalid_blocks',
      messages: ['[ERROR] unsupported type: data_visualization [json-pointer:/blocks/1/type]'],
    });
    expect((await post(container(section('a')))).code).toBe('invalid_blocks');
    const attachments = [{ color: '#fff', blocks: [container(section('a'))] }];
    expect((await answerOf(web.apiCall('chat.postMessage', { channel, text: 'x', attachments }))).code).toBe(
      'invalid_blocks',
    );
    expect((await post(plan(1))).code).toBe('ok');
    await switched([]);
    expect((await post(line([oneSeries]))).code).toBe('ok');
  });
});
