import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNELS, ON_CALL_GROUP, USERS } from '../../../playground/slack/seed.ts';
import { COMMANDS } from '../../../src/slack/inbound/commands/all-commands.ts';
import { HOME } from '../../../src/slack/views/home.ts';
import { setScene } from '../../support/matrix-scene.ts';
import { seenText } from '../../support/seen-text.ts';
import { eventually } from '../../support/slack-scene.ts';
import { HERE, type WholeSlack, wholeSlack } from '../../support/whole-slack.ts';

// Everybody who decides is named by an id, as an operator may in the environment.
let at: WholeSlack;
beforeAll(async () => {
  at = await wholeSlack({
    fixed: {
      alertChannels: [CHANNELS.alerts],
      approvers: [
        { kind: 'group', name: ON_CALL_GROUP },
        { kind: 'channel', id: CHANNELS.alerts },
      ],
      admins: [
        { kind: 'user', id: USERS.admin },
        { kind: 'group', name: ON_CALL_GROUP },
      ],
      oncallGroup: ON_CALL_GROUP,
      adminChannel: CHANNELS.admin,
    },
  });
  await at.client.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
});
afterAll(() => at?.close());

/** A Slack id, a mark that Slack did not write out, or a name that only the record knows. */
const RAW =
  /\b[USCTBWG]0[A-Z0-9]{4,}\b|<[@!#][^>]*>|\b(?:act|tc|job|doc|prop)_[a-z0-9]{6,}\b|\b[0-9a-f]{32,}\b/g;
/** Where a link leads is not read. */
const rawIn = (text: string): readonly string[] => text.replaceAll(/https?:\/\/\S+/g, '').match(RAW) ?? [];

async function said(userId: string, act: () => Promise<unknown>): Promise<string> {
  const before = at.shown(userId).length;
  expect(await act()).toMatchObject({ ok: true });
  return eventually(() => {
    const last = at.shown(userId).slice(before).at(-1)?.seen ?? '';
    expect(last.trim()).not.toBe('');
    expect(last).not.toContain('One moment');
    return last;
  });
}

const typed = (text: string, userId: string) =>
  said(userId, () => at.client.act('command.run', { userId, channel: HERE, text: `/sentry ${text}` }));

const pressed = (action: string, value: string, userId: string) =>
  said(userId, async () => {
    const { ts = '' } = await at.web.chat.postMessage({
      channel: HERE,
      text: 'from before',
      blocks: [
        {
          type: 'actions',
          block_id: 'here',
          elements: [
            { type: 'button', action_id: action, value, text: { type: 'plain_text', text: 'Press' } },
          ],
        },
      ],
    });
    return at.client.act('block.action', {
      userId,
      container: { type: 'message', channel: HERE, ts },
      block_id: 'here',
      action_id: action,
      input: { kind: 'press' },
    });
  });

it('knows an id when it sees one', () => {
  expect(rawIn('Stopped by U0ADMIN, ask @S0ONCALL or <@U0X> in C0ALERTS: act_k2j3h4 tc_abc123')).toHaveLength(
    6,
  );
  expect(rawIn('Stopped by @amara, ask @oncall in #alerts about INC-7 and SELECT')).toEqual([]);
});

it('no answer to a command has an id in it, whoever asks and whatever is stopped', async () => {
  const { id } = await setScene(at, 'ok', {});
  const forms = COMMANDS.flatMap(({ name, forms: of }) => [name, ...of.map(([form]) => form)])
    .filter((form) => !/^stop$/.test(form))
    .map((form) => form.replaceAll(/INC-\d+/g, id));
  const all = [
    'stop shop-db for 2h',
    'mute alertname="DiskFull" 2h deploying',
    ...forms,
    `stop ${id}`,
    `why ${id}`,
    `status ${id}`,
    'status',
    `resume ${id}`,
    `why ${id}`,
    'settings me',
    'watch',
  ];
  const found: Record<string, readonly string[]> = {};
  for (const form of all)
    for (const userId of [USERS.onCall, USERS.admin, USERS.stranger]) {
      const raw = rawIn(await typed(form, userId));
      if (raw.length > 0) found[`${form} (${userId})`] = raw;
    }
  expect(found).toEqual({});
}, 600_000);

it('no window of Home has an id in it', async () => {
  const found: Record<string, readonly string[]> = {};
  const windows = [
    HOME.report,
    HOME.incidents,
    HOME.gaps,
    HOME.layers,
    HOME.roles,
    HOME.memory,
    HOME.tools,
    HOME.watched,
    'sentry_settings',
  ];
  for (const action of windows) {
    const raw = rawIn(await pressed(action, 'home', USERS.admin));
    if (raw.length > 0) found[action] = raw;
  }
  expect(found).toEqual({});
}, 300_000);

it('nor has Home', async () => {
  await at.client.act('home.open', { userId: USERS.admin, tab: 'home' });
  const text = await eventually(async () => {
    const { homes } = await at.client.snapshot();
    const seen = seenText({ blocks: homes[USERS.admin]?.blocks as never });
    expect(seen).toMatch(/On call: @?\w+/);
    return seen;
  });
  expect(rawIn(text)).toEqual([]);
});
