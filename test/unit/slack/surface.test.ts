import { describe, expect, it } from 'vitest';
import { surfaceOf, visible } from '../../support/surface.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const rich = (...elements: object[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});
const shown = (...blocks: object[]) => surfaceOf({ text: 'the fallback', blocks });

describe('what people read of a message without a press', () => {
  it.each<[string, object, readonly string[]]>([
    ['a header', { type: 'header', text: plain('Blocked') }, ['Blocked']],
    ['a divider', { type: 'divider' }, []],
    [
      'a section with its fields and its button',
      {
        type: 'section',
        text: mrkdwn('what'),
        fields: [plain('one'), mrkdwn('two')],
        accessory: { type: 'button', text: plain('Show'), url: 'https://example.com', value: 'hidden' },
      },
      ['what', 'one', 'two', 'Show'],
    ],
    [
      'small print',
      { type: 'context', elements: [plain('since 10:00'), { type: 'image', alt_text: 'no' }] },
      ['since 10:00'],
    ],
    [
      'buttons, but neither an overflow menu’s options nor a confirm dialog',
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            text: plain('Approve'),
            confirm: { title: plain('Sure?'), text: plain('It runs.') },
          },
          { type: 'overflow', options: [{ text: plain('Close'), value: 'c' }] },
          {
            type: 'static_select',
            placeholder: plain('Choose'),
            options: [{ text: plain('a'), value: 'a' }],
          },
        ],
      },
      ['Approve', 'Choose'],
    ],
    [
      'rich text, a line as one piece',
      rich(
        { type: 'text', text: 'look: ' },
        { type: 'link', url: 'https://example.com', text: 'INC-1' },
        { type: 'text', text: '!' },
      ),
      ['look: INC-1!'],
    ],
    [
      'each item of a list',
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_list',
            elements: ['a', 'b'].map((text) => ({
              type: 'rich_text_section',
              elements: [{ type: 'text', text }],
            })),
          },
        ],
      },
      ['a', 'b'],
    ],
    [
      'a plan and its tasks by their titles',
      {
        type: 'plan',
        title: 'Looking',
        tasks: [{ type: 'task_card', title: 'Locks', details: rich({ type: 'text', text: 'long' }) }],
      },
      ['Looking', 'Locks'],
    ],
    [
      'a chart by its words',
      {
        type: 'data_visualization',
        title: 'Waiting',
        chart: {
          type: 'line',
          series: [{ name: 'sessions', data: [{ label: '10:00', value: 4 }] }],
          axis_config: { categories: ['10:00'], y_label: 'n' },
        },
      },
      ['Waiting', '10:00', 'n', 'sessions'],
    ],
    [
      'a table',
      { type: 'table', rows: [[{ type: 'raw_text', text: 'a' }, rich({ type: 'text', text: 'b' })]] },
      ['a', 'b'],
    ],
  ])('%s', (_, block, expected) => {
    expect(shown(block)).toEqual(expected);
  });

  const container = (more: object) => ({
    type: 'container',
    title: plain('Exactly this runs'),
    child_blocks: [{ type: 'section', text: plain('kill 4242') }],
    ...more,
  });
  it('of a container what stands open, of a folded one its title', () => {
    expect(shown(container({ is_collapsible: true, default_collapsed: true }))).toEqual([
      'Exactly this runs',
    ]);
    expect(shown(container({ is_collapsible: true }))).toEqual(['Exactly this runs', 'kill 4242']);
    expect(shown(container({}))).toEqual(['Exactly this runs', 'kill 4242']);
  });

  it('the strip, but not the fallback texts', () => {
    const strip = {
      fallback: 'no',
      color: '#fff',
      blocks: [{ type: 'context', elements: [plain('Fixed')] }],
    };
    const block = { type: 'section', text: plain('a') };
    expect(surfaceOf({ text: 'no', blocks: [block], attachments: [strip] })).toEqual(['a', 'Fixed']);
    expect(surfaceOf({ text: 'without blocks it is what stands there' })).toHaveLength(1);
  });
});

describe('how long it is', () => {
  it.each<[string, object, number]>([
    [
      'a moment is a time',
      rich({ type: 'date', timestamp: 1, format: '{time}', fallback: 'x'.repeat(40) }),
      8,
    ],
    [
      'with its day it is longer',
      rich({ type: 'date', timestamp: 1, format: '{date_short_pretty} {time}' }),
      21,
    ],
    ['in markup as well', { type: 'section', text: mrkdwn('<!date^1^{time}|2026-11-21 10:00 UTC>') }, 8],
    ['a mention is about a name', rich({ type: 'user', user_id: 'U0ONCALL' }), 9],
    ['in markup as well', { type: 'section', text: mrkdwn('<@U0ONCALL>') }, 9],
    ['a group by its name', { type: 'section', text: mrkdwn('<!subteam^S1|@oncall>') }, 7],
    ['a link is its label', { type: 'section', text: mrkdwn('<https://example.com/long|INC-1>') }, 5],
    [
      'markup and escapes are what they show',
      { type: 'section', text: mrkdwn('*bold* &lt;&amp;&gt; `x`') },
      10,
    ],
    ['plain text is as it stands', { type: 'section', text: plain('*a* <@U1>') }, 9],
    ['a character is what people see as one', { type: 'section', text: plain('👩‍👩‍👧‍👦🟢') }, 2],
  ])('%s', (_, block, length) => {
    expect(visible({ blocks: [block] })).toBe(length);
  });
});
