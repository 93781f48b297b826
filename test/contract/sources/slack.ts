import type { ChangeFixtures, SourceFixtures } from './fixtures.ts';

const post = (ts: string, rest: object) => ({
  type: 'message',
  channel: 'C0ALERTS',
  bot_id: 'B0AM',
  ts,
  ...rest,
});
const titled = (title: string, color: string) => ({
  text: '',
  attachments: [{ title, color, fallback: `${title} | x` }],
});

export const fixtures: SourceFixtures = {
  firing: post(
    '1700000000.000100',
    titled('[FIRING:1] PostgresBlockedSessions (shop-db critical)', 'danger'),
  ),
  alert: {
    name: 'PostgresBlockedSessions',
    title: 'PostgresBlockedSessions',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2023-11-14T22:13:20.000Z',
  },
  resolved: post(
    '1700000060.000100',
    titled('[RESOLVED] PostgresBlockedSessions (shop-db critical)', 'good'),
  ),
  otherThing: post(
    '1700000001.000100',
    titled('[FIRING:1] PostgresBlockedSessions (other-db critical)', 'danger'),
  ),
  carrying: (text) =>
    post('1700000002.000100', {
      text: `Alarm: ${text}`,
      attachments: [
        { title: text, title_link: text, text, fields: [{ title: text, value: text }] },
        { text: `instance: ${text}` },
      ],
    }),
  bad: [
    { payload: null, field: '', says: 'Slack message event' },
    { payload: { channel: 'C1' }, field: 'ts', says: 'text' },
    { payload: { channel: 'C1', ts: 'now' }, field: 'ts', says: 'Slack timestamp' },
    { payload: post('1700000000.000100', { attachments: 'x' }), field: 'attachments', says: 'list' },
  ],
};

/** Written from the source of GitLab (deployment_message.rb). */
const deploy = (ts: string, text: string) =>
  post(ts, {
    channel: 'C0DEPLOYS',
    text,
    attachments: [
      {
        text: '<https://gitlab.example.com/acme/shop|acme/shop> with job <https://gitlab.example.com/acme/shop/-/jobs/796|#796> by <https://gitlab.example.com/olivia|Olivia (olivia)>\n<https://gitlab.example.com/c|279484c0>: Pay by card',
      },
    ],
  });

export const changes: ChangeFixtures = {
  succeeded: deploy('1700000120.000100', 'Deploy to production succeeded'),
  change: {
    id: 'gitlab B0AM acme/shop 796',
    kind: 'deployment',
    title: 'shop 279484c0 deployed in production',
    where: ['shop', 'acme/shop'],
    environment: 'production',
    by: 'olivia',
    to: '279484c0',
    commits: [{ sha: '279484c0', title: 'Pay by card', by: null, files: [] }],
  },
  started: deploy('1700000060.000100', 'Starting deploy to production'),
  none: [
    deploy('1700000120.000100', 'Deploy to production canceled'),
    post('1700000120.000100', { text: 'shop-api will be deployed to production' }),
  ],
};
