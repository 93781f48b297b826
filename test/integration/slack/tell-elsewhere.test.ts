import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CHANNELS } from '../../../playground/slack/seed.ts';
import { asIncidentId, type IncidentId } from '../../../src/core/ids.ts';
import { tellingElsewhere } from '../../../src/ingest/tell-elsewhere.ts';
import { isOpen } from '../../../src/slack/people/access.ts';
import { boxAlert } from '../../support/core.ts';
import { LocalSlackClient, textOf } from '../../support/local-slack.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually, type SceneBot, type SlackScene, slackScene } from '../../support/slack-scene.ts';

/** An alert of one channel that joins an incident of another: real Slack calls, the incident's channel from the record. */
let scene: SlackScene;
let slack: SceneBot;
let client: LocalSlackClient;
let hidden: IncidentId;
beforeEach(async () => {
  scene = await slackScene();
  slack = await scene.bot({ alertChannels: ['alerts', CHANNELS.admin, CHANNELS.general] });
  client = new LocalSlackClient(scene.slack.url);
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  hidden = await scene.incident([], CHANNELS.admin);
  await scene.sql`UPDATE incident SET title = 'Nightfall layoffs', channel = ${CHANNELS.admin} WHERE id = ${hidden}`;
});
afterEach(() => scene.close());

function accepting(kind: 'opened' | 'repeated' | 'reopened' | 'duplicate' | 'resolved', id = hidden) {
  const { homeOf, access, announce } = slack.workspace;
  return tellingElsewhere(
    async () => ({ kind, incidentId: id }),
    {
      homeOf,
      channelOf: async (one) =>
        access.channelOf({ id: one, channel: (await scene.records.incident(one))?.channel ?? null }),
      isPublic: async (channel) => isOpen(await access.sightOf(channel)),
      announce,
    },
    quiet,
  );
}
const by = (deliveryKey: string) => boxAlert({ deliveryKey, title: 'Orders <!channel> are slow' });
const lines = async () =>
  (await client.messages()).filter((one) => textOf(one).includes('It is looked into there'));

describe('an alert that joins an incident of a private channel', () => {
  test.each([
    ['by a webhook', 'alertmanager:x', CHANNELS.alerts],
    ['by a message', `slack:${CHANNELS.alerts}:1.0`, CHANNELS.alerts],
  ])(
    '%s is said where it would have been, once, without a word of the incident [F18]',
    async (_, key, channel) => {
      const accept = accepting('repeated');
      await accept(by(key));
      await eventually(async () => expect(await lines()).toHaveLength(1));
      await accept(by(`${key}2`));
      await accept(by(key));
      const [line, ...more] = await lines();
      expect([line?.channel, more]).toEqual([channel, []]);
      expect(JSON.stringify(line)).not.toMatch(/nightfall/i);
      expect(JSON.stringify(line)).not.toContain(hidden);
      expect(line?.text).not.toContain('<!');
    },
  );

  test('is said also while Slack cannot tell who sees that channel, and by the next one where it did not arrive [F18]', async () => {
    const accept = accepting('reopened');
    await scene.control('fail', { method: 'conversations.info', kind: 'server_error', times: 1_000 });
    await scene.control('fail', {
      method: 'chat.postMessage',
      kind: 'error',
      error: 'is_archived',
      times: 1,
    });
    await eventually(async () => {
      await accept(by('alertmanager:y'));
      expect(await lines()).toHaveLength(1);
    });
  });

  test.each([
    ['in its own channel', 'repeated', `slack:${CHANNELS.admin}:1.0`],
    ['a second time by the same delivery', 'duplicate', 'alertmanager:z'],
    ['and opens it', 'opened', 'alertmanager:z'],
    ['as its end', 'resolved', 'alertmanager:z'],
  ] as const)('%s is no news [F18]', async (_, kind, key) => {
    await accepting(kind)(by(key));
    // Whatever it had to say stands there before what another one says.
    await accepting('repeated')(by('alertmanager:last'));
    await eventually(async () => expect((await lines()).length).toBeGreaterThan(0));
    expect(await lines()).toHaveLength(1);
  });
});

test('an alert that joins an incident of a public channel is no secret [F18]', async () => {
  const open = await scene.incident([], CHANNELS.general);
  await scene.sql`UPDATE incident SET channel = ${CHANNELS.general} WHERE id = ${asIncidentId(open)}`;
  await accepting('repeated', open)(by('alertmanager:a'));
  await accepting('repeated')(by('alertmanager:last'));
  await eventually(async () => expect(await lines()).toHaveLength(1));
});
