import { afterEach, beforeEach, expect, it } from 'vitest';
import { ALERTMANAGER_APP, CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import { closeIncident } from '../../../src/incidents/close.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { createManualIncidents } from '../../../src/ingest/create-manual-incident.ts';
import type { SlackDeps } from '../../../src/slack/ports.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { noMemory, noServices } from '../../support/slack-services.ts';
import { domainOf } from '../../support/targets.ts';
import { whispers } from './card.ts';

let scene: SlackScene;
let kept: { readonly path: string; readonly content: string; readonly incidentId: string | null }[];

beforeEach(async () => {
  scene = await slackScene();
  kept = [];
  const { sql, records } = scene;
  const deps = {
    sql,
    records,
    audit: { appendIn: async () => undefined },
    approvals: { void: async () => true },
    memory: { rememberIncident: async () => undefined },
    redact: (text: string) => text,
    log: quiet,
  } as never;
  const memory: SlackDeps['memory'] = {
    ...noMemory,
    documents: {
      ...noMemory.documents,
      ensureUserStore: async (userId) => `user:${userId}` as never,
      write: async (_by, { place, document }) => {
        kept.push({
          path: String(place.store),
          content: document.content,
          incidentId: place.incidentId ?? null,
        });
        return { ok: true, document: { id: 'doc_1', title: document.title } } as never;
      },
    },
  };
  await scene.bot({
    memory,
    createManualIncident: createManualIncidents(sql, createAccept(sql, [], domainOf), []),
    steer: { ...noServices.steer, close: (id, by, reason) => closeIncident(deps, id, by, reason) },
  });
});
afterEach(() => scene.close());

const choose = async (
  callback: string,
  message: Pick<Message, 'channel' | 'ts'>,
  userId: string = USERS.onCall,
) =>
  expect(
    await scene.act('shortcut.message', {
      userId,
      channel: message.channel,
      ts: message.ts,
      callback_id: callback,
    }),
  ).toMatchObject({ ok: true });
const hears = (says: string | RegExp, userId: string = USERS.onCall): Promise<void> =>
  eventually(async () => expect((await whispers(scene, userId)).at(-1)).toMatch(says));

async function written(text: string, where: { channel?: string; thread?: string; by?: string } = {}) {
  const { channel = CHANNELS.alerts, thread, by = USERS.onCall2 } = where;
  const answer = await scene.act('message.post', {
    userId: by,
    channel,
    text,
    ...(thread === undefined ? {} : { thread_ts: thread }),
  });
  if (!answer.ok || !answer.ts) throw new Error('not posted');
  return { channel, ts: answer.ts };
}

async function alerted(): Promise<Message> {
  await scene.control('post-as-app', {
    kind: 'classic',
    text: '',
    attachments: [{ title: '[FIRING:1] DiskFull' }],
  });
  return eventually(async () => {
    const { messages } = (await scene.control('messages', { channel: CHANNELS.alerts })) as never as {
      messages: readonly Message[];
    };
    const found = messages.find((each) => each.bot_id === ALERTMANAGER_APP.botId);
    expect(found).toBeDefined();
    return found!;
  });
}

const rootOf = (): Promise<Message> =>
  eventually(async () => {
    const [root] = await scene.messages();
    expect(root).toBeDefined();
    return root!;
  });

it('Investigate this opens one incident of a message, with its words and a link to it, however many choose it', async () => {
  const message = await written('checkout is slow since <https://deploys.example/77|release 77>');
  await choose('investigate_message', message);
  await hears(/INC-\d+ is open/);
  await choose('investigate_message', message, USERS.onCall2);
  await hears(/This message is INC-\d+\./, USERS.onCall2);
  const rows = await scene.sql<{ title: string; annotations: Record<string, string> }>`
    SELECT title, annotations FROM alert`;
  expect(rows).toHaveLength(1);
  expect(rows[0]?.title).toBe('checkout is slow since release 77');
  expect(rows[0]?.annotations['description']).toMatch(/From https?:\/\/\S+\/archives\/C0ALERTS\/p\d+$/);
});

it('Investigate this on an alert says which incident it is, and in a thread it is a hint that everybody sees', async () => {
  const id = await scene.incident();
  const root = await rootOf();
  const alert = await alerted();
  await scene.sql`
    INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
    VALUES (${id}, ${`slack:${alert.channel}:${alert.ts}`}, 'slack', 'x', 'firing', 'disk', '{}', '{}', now())`;
  await choose('investigate_message', alert);
  await hears(`This message is ${id}.`);
  await choose('investigate_message', root);
  await hears(`This thread is ${id}.`);
  const reply = await written('it began with the release', { thread: root.ts });
  await choose('investigate_message', reply);
  await eventually(() =>
    expect(scene.hints).toEqual([{ id, by: USERS.onCall, text: 'it began with the release' }]),
  );
  await eventually(async () =>
    expect((await scene.messages()).map(({ text }) => text).join('\n')).toContain('Noted.'),
  );
});

it('what others said in private is not told where alerts are; one’s own words are one’s own', async () => {
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  const theirs = await written('payroll is slow', { channel: CHANNELS.admin, by: USERS.admin });
  await choose('investigate_message', theirs);
  await hears('This channel is private');
  expect(await scene.sql`SELECT 1 FROM incident`).toHaveLength(0);
  await choose(
    'investigate_message',
    await written('payroll is slow', { channel: CHANNELS.admin, by: USERS.onCall }),
  );
  await hears(/INC-\d+ is open/);
});

it('Add to memory keeps a message for its incident, or for who chose it alone', async () => {
  const id = await scene.incident();
  const root = await rootOf();
  await choose('remember_message', await written('the payroll runs at ten', { thread: root.ts }));
  await hears(`Remembered for ${id}`);
  await choose('remember_message', await written('shop-db restarts at noon'));
  await hears('Remembered for you alone');
  expect(kept).toMatchObject([
    { content: 'the payroll runs at ten', incidentId: id },
    { path: `user:${USERS.onCall}`, content: 'shop-db restarts at noon', incidentId: null },
  ]);
});

it('Not an incident closes it, by whom stands on record, and says how to mute; elsewhere it says where', async () => {
  const id = await scene.incident();
  const root = await rootOf();
  await choose('not_an_incident', await written('hm', { thread: root.ts }));
  await hears('No incident began with this message.');
  await choose('not_an_incident', root);
  await hears(/is closed\..*mute 2h/);
  expect(
    await scene.sql`SELECT body->>'by' AS by, body->>'reason' AS reason FROM event WHERE incident_id = ${id} AND type = 'incident.closed'`,
  ).toEqual([{ by: USERS.onCall, reason: 'not an incident' }]);
  await choose('not_an_incident', root);
  await hears('is over already');
});

it('two choose it at the same moment, and one incident is opened', async () => {
  const message = await written('checkout is slow');
  await Promise.all([
    choose('investigate_message', message),
    choose('investigate_message', message, USERS.onCall2),
  ]);
  await hears(/INC-\d+/);
  await hears(/INC-\d+/, USERS.onCall2);
  expect(await scene.sql`SELECT 1 FROM incident`).toHaveLength(1);
});
