import { afterEach, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Sql } from '../../../src/core/sql.ts';
import type { Correlation } from '../../../src/incidents/correlation/correlation.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import type { IncidentRecords } from '../../../src/record/record.ts';
import { MANY } from '../../../src/slack/outbound/burst.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { textOf } from '../../support/local-slack.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { waitFor } from '../../support/wait-for.ts';
import { press, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

/** What the domain writes when incidents are put together and split, and its *no*. */
function onRecord(sql: Sql, records: IncidentRecords): Correlation {
  return {
    hold: async () => new Set(),
    split: (id, by) =>
      sql.begin(async (tx) => {
        const [row] = await tx<{ readonly from: IncidentId | null }>`
          SELECT merged_into AS from FROM incident WHERE id = ${id} FOR UPDATE`;
        if (!row?.from)
          return { ok: false, code: 'NOT_MERGED', reason: `${id} is on its own already.` } as const;
        await tx`UPDATE incident SET merged_into = NULL WHERE id = ${id}`;
        await records.append(tx, id, { type: 'incident.split', from: row.from, by });
        await records.append(tx, row.from, { type: 'member.split', incident: id, by });
        return { ok: true, text: `${id} is on its own.` } as const;
      }),
    merge: (id, into, by) =>
      sql.begin(async (tx) => {
        const because = { kind: 'person', by } as const;
        await tx`UPDATE incident SET merged_into = ${into} WHERE id = ${id}`;
        await records.append(tx, id, { type: 'incident.merged', into, because });
        await records.append(tx, into, { type: 'member.merged', incident: id, because });
        return { ok: true, text: `${id} is a part of ${into}.` } as const;
      }),
  };
}

const found = (says: string | RegExp, thread?: Message): Promise<Message> =>
  waitFor(`a message that says ${says}`, async () =>
    (await scene.messages()).find(
      (each) =>
        (thread === undefined
          ? each.thread_ts === undefined || each.thread_ts === each.ts
          : each.thread_ts === thread.ts && each.ts !== thread.ts) &&
        new RegExp(says, 's').test(`${textOf(each)} ${JSON.stringify(each.blocks)}`),
    ),
  );
const answered = (says: string) =>
  waitFor(says, async () => (await whispers(scene, USERS.onCall)).at(-1)?.includes(says));
const run = (text: string, userId: string = USERS.onCall) =>
  scene.act('command.run', { userId, channel: CHANNELS.alerts, text: `/sentry ${text}` });

async function rested(lead: IncidentId, postedIn?: string): Promise<IncidentId> {
  const { sql, records } = scene;
  const because = { kind: 'neighbour', target: 'shop-api', neighbour: 'shop-db' } as const;
  const [row] = await sql<{ readonly id: IncidentId }>`
    INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations, merged_into)
    VALUES ('High latency', 'warning', 'postgres', 'shop-api', 'test', ${Math.random().toString(36)}, '{}', '{}', ${lead})
    RETURNING id`;
  const id = row?.id;
  if (!id) throw new Error('no incident');
  if (postedIn)
    await sql`
      INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
      VALUES (${id}, ${`slack:${postedIn}:1.0:${id}`}, 'slack', ${id}, 'firing', 'blocked', '{}', '{}', now())`;
  await scene.append(id, { type: 'incident.merged', into: lead, because });
  await sql.begin((tx) => records.append(tx, lead, { type: 'member.merged', incident: id, because }));
  return id;
}

it('a part of another has no thread but a line in the other’s; split it has one, and put back it rests again [C7]', async () => {
  scene = await slackScene();
  const correlation = onRecord(scene.sql, scene.records);
  const bot = () => scene.bot({ correlation, why });
  await Promise.all([bot(), bot()]);
  const lead = await scene.incident();
  const root = await found(`^${lead} `);
  const part = await rested(lead);
  const line = await found(`Also part of this.*${part}`, root);
  await found('still fires');
  expect((await scene.messages()).filter((each) => textOf(each).startsWith(`${part} `))).toEqual([]);

  await press(scene, line, `${ACTIONS.split}_0`);
  const own = await found(`^${part} `);
  expect(JSON.stringify(own.blocks)).toContain(`"text":"${lead}"`);
  expect(JSON.stringify(own.blocks)).toContain('Split from ');
  await found('is on its own now', root);
  await run(`split ${part}`);
  await answered(`${part} is on its own already.`);

  await press(scene, own, ACTIONS.putBack);
  await found(new RegExp(`^${part} .*Part of `).source);
  await found(`${part}.*put them together`, root);
  const lines = (await scene.messages()).filter(
    (each) => each.thread_ts === root.ts && each.ts !== root.ts && textOf(each).includes(part),
  );
  expect(lines).toHaveLength(1);
  await run(`why ${part}`);
  await answered(`Part of ${lead}.`);
  await run('incidents');
  await answered(`(Part of ${lead})`);

  // Whoever asks or hints in its thread is sent to the other's.
  for (const text of ['what is the cause?', 'hint: it began with the release', 'try the index'])
    await scene.act('message.post', {
      userId: USERS.onCall,
      channel: CHANNELS.alerts,
      thread_ts: own.ts,
      text: `<@U0SENTRY> ${text}`,
    });
  await waitFor('three answers', async () => {
    const said = (await scene.messages()).filter(
      (each) => each.thread_ts === own.ts && /which is looked into: say it there/.test(textOf(each)),
    );
    return said.length === 3;
  });
  expect(scene.hints).toEqual([]);
  await scene.act('message.post', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    thread_ts: own.ts,
    text: '<@U0SENTRY> split',
  });
  await found(`${part} is on its own\\.`, own);
  await scene.act('message.post', {
    userId: USERS.onCall,
    channel: CHANNELS.alerts,
    thread_ts: own.ts,
    text: `<@U0SENTRY> merge into ${lead}`,
  });
  await found(`${part} is a part of ${lead}\\.`, own);
  // What becomes of it stands on the other's card.
  await scene.append(part, { type: 'state.changed', from: 'open', to: 'resolved', reason: 'over' });
  await found(new RegExp(`^${lead} .*High latency.*Resolved`).source);
});

it('fifty parts are one line with a count, and no digest', async () => {
  scene = await slackScene();
  await scene.bot({ correlation: onRecord(scene.sql, scene.records) });
  const lead = await scene.incident();
  const root = await found(`^${lead} `);
  const parts: IncidentId[] = [];
  for (let n = 0; n < 5 * MANY; n += 1) parts.push(await rested(lead));
  await found('50 more incidents', root);
  await found('and 47 more');
  const all = await scene.messages();
  expect(all.filter((each) => each.thread_ts === root.ts && each.ts !== root.ts)).toHaveLength(1);
  expect(all.filter((each) => each.thread_ts === undefined || each.thread_ts === each.ts)).toHaveLength(1);
});

it('what is private is named where its readers are, and nowhere else', async () => {
  scene = await slackScene();
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  await scene.bot({
    correlation: onRecord(scene.sql, scene.records),
    alertChannels: ['alerts', CHANNELS.admin],
    why,
  });
  const lead = await scene.incident();
  const root = await found(`^${lead} `);
  const hidden = await rested(lead, CHANNELS.admin);
  // It has its own thread, where it is: nobody there would hear of it else.
  await waitFor('its own thread', async () => {
    const answer = (await scene.control('messages', { channel: CHANNELS.admin })) as {
      readonly messages: readonly Message[];
    };
    return answer.messages.find(
      (each) =>
        `${textOf(each)} ${JSON.stringify(each.blocks)}`.includes(hidden) &&
        JSON.stringify(each.blocks).includes(lead),
    );
  });
  const open = await rested(lead);
  const line = await found(`Also part of this.*${open}`, root);
  const all = async () => JSON.stringify([await scene.messages(), await whispers(scene, USERS.stranger)]);
  expect(await all()).not.toContain(hidden);
  await run(`why ${lead}`, USERS.stranger);
  await waitFor('the story', async () =>
    (await whispers(scene, USERS.stranger)).at(-1)?.includes('another incident is a part of this'),
  );
  for (const text of [`split ${hidden}`, `merge ${lead} into ${hidden}`, `merge ${hidden} into ${lead}`]) {
    const before = (await whispers(scene, USERS.stranger)).length;
    await run(text, USERS.stranger);
    await waitFor('a no', async () => (await whispers(scene, USERS.stranger)).length > before);
    expect((await whispers(scene, USERS.stranger)).at(-1)).toContain(
      `There is no ${hidden} that you may see.`,
    );
  }
  // A button that is old by now says so to who pressed it, and does nothing.
  await scene.sql`UPDATE incident SET merged_into = NULL WHERE id = ${open}`;
  await press(scene, line, `${ACTIONS.split}_0`);
  await answered(`${open} is on its own already.`);
});
