import { afterEach, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import { isToldOfApprovals, tellOfApprovals } from '../../../src/slack/people/preferences.ts';
import type { SlackDeps } from '../../../src/slack/ports.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { noSetUp } from '../../support/slack-services.ts';
import { cardOf, press, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const setUp: SlackDeps['setUp'] = {
  ...noSetUp,
  mayApprove: async (user) => user === USERS.onCall || user === USERS.onCall2,
};

async function directs(): Promise<readonly Message[]> {
  const { messages } = (await scene.control('messages', {})) as { readonly messages: readonly Message[] };
  return messages
    .filter(({ text }) => /approval/i.test(text))
    .filter(({ channel }) => channel.startsWith('D'));
}

it('tells whoever asked for it, once, with a link to the card and nothing to approve; then how it ended, in the same message', async () => {
  scene = await slackScene();
  for (const user of [USERS.onCall, USERS.stranger]) await tellOfApprovals(scene.sql, user, true);
  // Two processes: still one message.
  await scene.bot({ setUp });
  await scene.bot({ setUp });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(id);
  const card = await eventually(() => cardOf(scene));
  const [told] = await eventually(async () => {
    const found = await directs();
    expect(found).toHaveLength(1);
    return found;
  });
  const blocks = JSON.stringify(told?.blocks);
  expect(blocks).toContain(`/archives/${CHANNELS.alerts}/p${card.ts.replace('.', '')}`);
  expect(blocks).not.toContain('sentry_approve');
  expect(await press(scene, card, 'sentry_approve')).toMatchObject({ ok: true });
  await eventually(async () => {
    const found = await directs();
    expect(found).toHaveLength(1);
    expect(found[0]?.text).toMatch(/approved by olivia/i);
  });
  await eventually(async () =>
    expect(await scene.sql`SELECT FROM approval_notice WHERE NOT ended`).toHaveLength(0),
  );
});

it('tells nobody of a private channel they are not in, and nobody who may not approve', async () => {
  scene = await slackScene();
  await tellOfApprovals(scene.sql, USERS.onCall2, true);
  await tellOfApprovals(scene.sql, USERS.stranger, true);
  await tellOfApprovals(scene.sql, USERS.onCall, true);
  // In #sentry-admin are Amara and Olivia.
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  await scene.bot({ setUp, alertChannels: [CHANNELS.admin] });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(id);
  await eventually(async () => expect(await directs()).toHaveLength(1));
  const rows = await scene.sql<{ readonly user_id: string }>`SELECT user_id FROM approval_notice`;
  expect(rows).toEqual([{ user_id: USERS.onCall }]);
});

it('says nothing of what was decided before it was told', async () => {
  scene = await slackScene();
  await tellOfApprovals(scene.sql, USERS.onCall, true);
  const id = await scene.incident(wholeIncident.slice(1, 9));
  const action = await scene.propose(id);
  await scene.sql`INSERT INTO approval_notice (action_id, user_id) VALUES (${action.id}, ${USERS.onCall})`;
  await scene.sql`UPDATE action SET state = 'denied', decided_by = ${USERS.onCall2} WHERE id = ${action.id}`;
  await scene.bot({ setUp });
  await eventually(async () =>
    expect(await scene.sql`SELECT FROM approval_notice WHERE ended`).toHaveLength(1),
  );
  expect(await directs()).toEqual([]);
});

it('shows the session of a conversation as waiting while its approval waits for that person, and not after', async () => {
  scene = await slackScene();
  await scene.bot({ setUp });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  const { channel } = (await scene.act('dm.open', { userId: USERS.onCall })) as unknown as {
    readonly channel: string;
  };
  await scene.sql`
    INSERT INTO question (id, incident_id, asked_by, text, channel, ts, thread_ts, direct, state)
    VALUES ('q1', ${id}, ${USERS.onCall}, 'why?', ${channel}, '1.000001', '1.000001', true, 'answered')`;
  await scene.propose(id);
  const statuses = async (): Promise<number> =>
    (await scene.counters()).calls['agents.sessions.setStatus']?.total ?? 0;
  await eventually(async () => expect(await statuses()).toBe(1));
  await scene.sql`UPDATE action SET state = 'denied', decided_by = ${USERS.onCall2} WHERE incident_id = ${id}`;
  await eventually(async () => expect(await statuses()).toBe(2));
});

it('is switched by the person alone, with /sentry settings me', async () => {
  scene = await slackScene();
  await scene.bot({ setUp });
  await scene.act('command.run', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    text: '/sentry settings me',
  });
  await eventually(async () =>
    expect((await whispers(scene, USERS.onCall)).join()).toContain('sentry_tell_me'),
  );
  const { snapshot } = (await scene.control('snapshot', {})) as {
    readonly snapshot: { readonly ephemerals: readonly { readonly message: Message }[] };
  };
  const answer = snapshot.ephemerals.at(-1)!.message;
  expect(await press(scene, answer, 'sentry_tell_me')).toMatchObject({ ok: true });
  await eventually(async () => expect(await isToldOfApprovals(scene.sql, USERS.onCall)).toBe(true));
  expect(await isToldOfApprovals(scene.sql, USERS.stranger)).toBe(false);
});
