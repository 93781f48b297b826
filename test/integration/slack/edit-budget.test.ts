import { afterEach, expect, it } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import { hashOf } from '../../../src/slack/outbound/message.ts';
import { createOutbound, type Outbound } from '../../../src/slack/outbound/outbound.ts';
import { RateLimiters } from '../../../src/slack/outbound/pacing.ts';
import { sharedPace } from '../../../src/slack/outbound/shared-pace.ts';
import { outboundStore } from '../../../src/slack/outbound/store.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';

/** Three senders on one record, each with its own connection's name and lease; time goes `SPEED` times as fast for all of them. */
const SPEED = 20;
const GAP_MS = 3_000 / SPEED;
const MINUTE_MS = 60_000 / SPEED;
let scene: SlackScene;
const senders: Outbound[] = [];
afterEach(async () => {
  await Promise.all(senders.splice(0).map((one) => one.stop()));
  await scene.close();
});

it('thirty incidents that change all the time, by three processes: no minute has more than 45 edits, no incident more than one in 3 s, and each ends as it is', async () => {
  scene = await slackScene();
  const { sql } = scene;
  // By the record's clock: each token that is taken, and each edit that is begun.
  await sql`CREATE TABLE seen (what text, id text, at timestamptz DEFAULT clock_timestamp())`;
  await sql`
    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_TABLE_NAME = 'slack_pace' THEN INSERT INTO seen (what, id) VALUES ('token', NEW.key);
      ELSIF NEW.edited_at IS DISTINCT FROM OLD.edited_at THEN
        INSERT INTO seen (what, id, at) VALUES (NEW.slot, NEW.incident_id, NEW.edited_at);
      END IF; RETURN NEW; END $$`;
  await sql`CREATE TRIGGER see AFTER INSERT OR UPDATE ON slack_pace FOR EACH ROW EXECUTE FUNCTION see()`;
  await sql`CREATE TRIGGER see AFTER UPDATE ON slack_post FOR EACH ROW EXECUTE FUNCTION see()`;

  const state = new Map<IncidentId, { version: number; card: string }>();
  const slot = (name: string, text: string, live = false): Slot => ({
    slot: name,
    inThread: name !== 'root',
    text,
    live,
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
  });
  const slotsOf = (id: IncidentId): readonly Slot[] => {
    const { version, card } = state.get(id) ?? { version: 0, card: 'open' };
    return [
      slot('root', `${id} root ${version}`),
      slot('live:1', `${id} looks ${version}`, true),
      slot('action:a', `${id} card ${card}`),
    ];
  };
  for (let n = 0; n < 30; n += 1) state.set(await scene.incident(), { version: 0, card: 'open' });
  const ids = [...state.keys()];
  const bot = await scene.bot({ speed: 100 });
  await bot.stop();
  const { client } = bot.workspace;
  const channel = await bot.workspace.homeOf(undefined);
  for (const name of ['one', 'two', 'three'])
    senders.push(
      createOutbound({
        client,
        store: outboundStore(sql, name),
        log: quiet,
        paces: new RateLimiters(SPEED, sharedPace(sql)),
        drawing: async (id) => ({ slots: slotsOf(id as IncidentId), channel }),
      }),
    );
  const hints: ((id: IncidentId) => void)[] = [];
  for (const one of senders)
    one.start({
      subscribe({ on }) {
        const hint = on['incident.changed'];
        if (typeof hint === 'function') hints.push(hint);
        return async () => undefined;
      },
    });
  const change = async (id: IncidentId, card?: string): Promise<void> => {
    const before = state.get(id)!;
    state.set(id, { version: before.version + 1, card: card ?? before.card });
    await scene.append(id, { type: 'incident.opened', source: 'test', title: 'changes' });
    for (const hint of hints) hint(id);
  };
  const stands = async (): Promise<void> => {
    const rows = await sql<{ id: IncidentId; slot: string; hash: string }>`
      SELECT incident_id AS id, slot, sent_hash AS hash FROM slack_post WHERE incident_id LIKE 'INC-%' AND ts IS NOT NULL`;
    const said = new Map(rows.map((row) => [`${row.id}/${row.slot}`, row.hash]));
    for (const id of ids)
      for (const one of slotsOf(id)) expect(said.get(`${id}/${one.slot}`)).toBe(hashOf(one));
  };
  for (const id of ids) for (const hint of hints) hint(id);
  await eventually(stands, 60_000);

  for (let round = 0; round < 8; round += 1) for (const id of ids) await change(id);
  // A card is decided while all of them have progress to tell.
  const [decided] = ids as [IncidentId];
  for (const id of ids) await change(id, id === decided ? 'decided' : 'open');
  await eventually(stands, 120_000);

  const tokens = await sql<{ most: number }>`
    SELECT max(n)::int AS most FROM (
      SELECT (SELECT count(*) FROM seen b WHERE b.what = 'token' AND b.id = 'edits'
                AND b.at >= a.at AND b.at < a.at + make_interval(secs => ${MINUTE_MS / 1000})) AS n
        FROM seen a WHERE a.what = 'token' AND a.id = 'edits') AS windows`;
  expect(tokens[0]?.most).toBeGreaterThan(0);
  expect(tokens[0]?.most).toBeLessThanOrEqual(45);
  // A card that is decided waits for nothing, nor does the root that says the same.
  const close = await sql`
    SELECT FROM (SELECT at - lag(at) OVER (PARTITION BY id ORDER BY at) AS gap, what, id FROM seen WHERE what <> 'token') AS gaps
     WHERE gap < make_interval(secs => ${(GAP_MS - 1) / 1000}) AND what <> 'action:a' AND NOT (what = 'root' AND id = ${decided})`;
  expect(close).toEqual([]);
  const edited = await sql<{ id: string }>`SELECT DISTINCT id FROM seen WHERE what IN ('root', 'live:1')`;
  expect(edited).toHaveLength(30);
  expect((await scene.counters()).duplicates).toEqual([]);
}, 240_000);
