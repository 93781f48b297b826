import type { Block, KnownBlock } from '@slack/types';

const plain = (text: string) => ({ type: 'plain_text' as const, text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn' as const, text });
const rich = (text: string) => ({
  type: 'rich_text' as const,
  elements: [{ type: 'rich_text_section' as const, elements: [{ type: 'text' as const, text }] }],
});
const button = (text: string, actionId: string) => ({
  type: 'button' as const,
  text: plain(text),
  action_id: actionId,
});

/** The SDK's types do not know it yet. */
export const lineChart = (words: string): Block & Record<string, unknown> => ({
  type: 'data_visualization',
  title: words.slice(0, 50),
  chart: {
    type: 'line',
    series: [
      { name: words.slice(0, 20), data: [0, 4, 9, 7, 0].map((value, i) => ({ label: `10:0${i}`, value })) },
    ],
    axis_config: {
      categories: [0, 1, 2, 3, 4].map((i) => `10:0${i}`),
      x_label: words.slice(0, 50),
      y_label: words.slice(0, 50),
    },
  },
});

/** Every block type that may stand in a message, `words` in every field that shows text. Three messages' worth. */
export function everyBlock(words: string): readonly (KnownBlock | Block)[][] {
  return [
    [
      { type: 'header', text: plain(words) },
      {
        type: 'section',
        text: mrkdwn(words),
        fields: [mrkdwn(words), plain(words)],
        accessory: {
          type: 'overflow',
          action_id: 'overflow',
          options: [
            { text: plain(words.slice(0, 70)), value: 'a' },
            { text: plain('second'), value: 'b' },
          ],
        },
      },
      { type: 'context', elements: [mrkdwn(words), plain(words)] },
      { type: 'divider' },
      {
        type: 'markdown',
        text: `# ${words}\n\n- ${words}\n\n| a | b |\n|---|---|\n| ${words} | 1 |\n\n> ${words}`,
      },
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [
              { type: 'text', text: words, style: { bold: true } },
              { type: 'link', url: 'https://example.com/', text: words },
              { type: 'emoji', name: 'fire' },
            ],
          },
          {
            type: 'rich_text_list',
            style: 'bullet',
            elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: words }] }],
          },
          { type: 'rich_text_quote', elements: [{ type: 'text', text: words }] },
          { type: 'rich_text_preformatted', elements: [{ type: 'text', text: words }] },
        ],
      },
      {
        type: 'table',
        rows: [
          [
            { type: 'raw_text', text: words },
            { type: 'raw_text', text: 'n' },
          ],
          [rich(words), { type: 'raw_text', text: '1' }],
        ],
      },
      {
        type: 'actions',
        elements: [
          button(words.slice(0, 70), 'plain_button'),
          {
            type: 'static_select',
            action_id: 'choose',
            placeholder: plain(words.slice(0, 100)),
            options: [{ text: plain(words.slice(0, 70)), value: 'a' }],
          },
        ],
      },
    ],
    [
      { type: 'alert', level: 'error', text: mrkdwn(words) },
      {
        type: 'plan',
        title: words,
        tasks: [
          {
            type: 'task_card',
            task_id: 't1',
            title: words,
            status: 'in_progress',
            details: rich(words),
            output: rich(words),
          },
        ],
      },
      {
        type: 'card',
        title: mrkdwn(words),
        subtitle: mrkdwn(words),
        body: mrkdwn(words),
        actions: [button('Go', 'card_go')],
      },
      {
        type: 'container',
        title: plain(words),
        is_collapsible: true,
        child_blocks: [{ type: 'section', text: mrkdwn(words) }],
      },
      {
        type: 'data_table',
        caption: words,
        page_size: 2,
        rows: [
          [
            { type: 'raw_text', text: 'name' },
            { type: 'raw_text', text: 'count' },
          ],
          ...[3, 10, 1, 7, 5].map((count) => [
            { type: 'raw_text' as const, text: `${words} ${count}` },
            { type: 'raw_number' as const, value: count, text: String(count) },
          ]),
        ],
      },
      {
        type: 'context_actions',
        elements: [
          {
            type: 'feedback_buttons',
            action_id: 'feedback',
            positive_button: { text: plain('Good'), value: 'good' },
            negative_button: { text: plain('Bad'), value: 'bad' },
          },
        ],
      },
    ],
    [{ type: 'task_card', task_id: 't2', title: words, status: 'error' }, lineChart(words)],
  ];
}
