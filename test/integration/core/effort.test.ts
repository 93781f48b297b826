import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Investigator } from '../../../src/agents/ports.ts';
import type { Alert } from '../../../src/core/alert.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  type Machine,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let core: Core;
/** What happens while somebody has a first look. */
let meanwhile: (id: IncidentId) => Promise<unknown> = async () => null;
let ignores = false;
const investigator: Investigator = {
  ...boxInvestigator,
  async triage(work) {
    const triage = await boxInvestigator.triage(work);
    await meanwhile(work.incident.id);
    return { ...triage, ignore: ignores };
  },
};

const POLICY = `
rules: [{ name: everything }]
effort:
  - { match: Quiet, effort: none }
  - { match: Later, effort: on_demand }
  - { match: 'alertname="Group", device="a"', effort: none }
  - { match: 'alertname="Group", device="b"', effort: on_demand }
  - { match: Look, effort: triage }
  - { match: 'alertname="Pair", device="a"', effort: triage }
  - { match: 'alertname="Pair", device="b"', effort: full }
  - { match: All, effort: full }
`;

beforeEach(() => {
  meanwhile = async () => null;
  ignores = false;
});
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  const policyPath = join(scratchDir(), 'policy.yaml');
  writeFileSync(policyPath, POLICY);
  core = await createCore({ url: database.url, tools: boxTools(machine), policyPath, investigator });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});

function alertOf(name: string, change: Partial<Alert> = {}): Alert {
  const { labels = {}, ...rest } = change;
  return boxAlert({
    name,
    severity: 'warning',
    ...rest,
    labels: { alertname: name, source_type: 'database', instance: 'box', ...labels },
  });
}
async function opened(alert: Alert): Promise<IncidentId> {
  const { incidentId } = await core.accept(alert);
  if (incidentId === null) throw new Error('not accepted');
  return incidentId;
}
async function record(id: IncidentId) {
  const found = await core.records.load(id);
  if (!found) throw new Error('no record');
  return found;
}
const typesOf = async (id: IncidentId) => (await record(id)).events.map(({ type }) => type);
const rests = (id: IncidentId) =>
  waitFor(`${id} to rest`, async () => (await core.records.incident(id))?.state === 'reported');
const diagnosed = (id: IncidentId, times = 1) =>
  waitFor(
    `${id} to be diagnosed`,
    async () => (await typesOf(id)).filter((type) => type === 'diagnosis.concluded').length >= times,
  );
async function slotsOf(id: IncidentId) {
  return draw(await record(id), { threadUrl: () => null, approvers: null });
}
const buttonsOf = async (id: IncidentId) =>
  [...JSON.stringify((await slotsOf(id))[0]).matchAll(/"action_id":"sentry_(\w+)"/g)].map(([, name]) => name);

test('none: recorded as one line, and looked into by a press', async () => {
  const id = await opened(alertOf('Quiet'));
  await rests(id);
  expect(await typesOf(id)).toEqual(['incident.opened', 'effort.chosen', 'state.changed']);
  expect(await slotsOf(id)).toHaveLength(1);
  expect((await slotsOf(id))[0]?.text).toMatch(/Recorded · warning/);
  expect(await buttonsOf(id)).toEqual(['investigate']);
  expect(why(await record(id))).toContain('effort none, it is recorded, by the policy (alertname="Quiet")');
  const presses = await Promise.all([core.investigate(id, 'UONCALL'), core.investigate(id, 'UOTHER')]);
  expect(presses.filter(({ ok }) => ok)).toHaveLength(1);
  await diagnosed(id);
  expect(await buttonsOf(id)).not.toContain('investigate');
  expect((await typesOf(id)).filter((type) => type === 'triage.concluded')).toHaveLength(1);
  expect((await record(id)).incident).toMatchObject({ effort: 'adaptive', round: 1, requesters: [] });
  expect(why(await record(id))).toMatch(/effort adaptive.*, asked for by <@UO/);
});

test('on demand: a thread that waits for a press', async () => {
  const alert = alertOf('Later');
  const id = await opened(alert);
  await rests(id);
  // Nobody has looked yet: it is not asked for again.
  await core.accept({ ...alert, deliveryKey: `${id} again` });
  const again = JSON.stringify((await slotsOf(id)).find(({ slot }) => slot.startsWith('again:')));
  expect(again).toContain('sentry_investigate');
  expect(again).not.toContain('Investigate again');
  expect(await typesOf(id)).not.toContain('investigator.chosen');
  expect((await slotsOf(id))[0]?.text).toContain('Press “Investigate”');
  expect(await core.investigate(id, 'UONCALL')).toMatchObject({ ok: true });
  await diagnosed(id);
});

test('triage: the first look, its report, and the rest by a press without a second first look', async () => {
  const id = await opened(alertOf('Look'));
  await rests(id);
  expect(await typesOf(id)).toContain('triage.concluded');
  expect(await typesOf(id)).not.toContain('diagnosis.concluded');
  expect(await buttonsOf(id)).toContain('investigate');
  await core.investigate(id, 'UONCALL');
  await diagnosed(id);
  expect((await typesOf(id)).filter((type) => type === 'triage.concluded')).toHaveLength(1);
});

test('full and without a rule: as usual, with the effort on record', async () => {
  const [full, usual] = [await opened(alertOf('All')), await opened(alertOf('Unnamed'))];
  await diagnosed(full);
  await diagnosed(usual);
  expect((await record(full)).incident.effort).toBe('full');
  expect((await record(usual)).incident.effort).toBeNull();
});

test('a critical of a quiet name, and what a person opens, are looked into', async () => {
  await diagnosed(await opened(alertOf('Quiet', { severity: 'critical' })));
  await diagnosed(await opened(alertOf('Quiet', { source: 'hand' })));
});

test('an alert that joins and asks for more gets it', async () => {
  const group = { key: 'g', target: null };
  const id = await opened(alertOf('Group', { group, labels: { device: 'a' } }));
  await rests(id);
  await opened(alertOf('Group', { group, labels: { device: 'b' } }));
  await waitFor('on demand', async () => (await core.records.incident(id))?.effort === 'on_demand');
  expect((await core.records.incident(id))?.state).toBe('reported');
  await opened(alertOf('Group', { group, labels: { device: 'c' } }));
  await diagnosed(id);

  const critical = await opened(alertOf('Quiet', { group: { key: 'q', target: null } }));
  await rests(critical);
  await opened(
    alertOf('Quiet', { group: { key: 'q', target: null }, severity: 'critical', labels: { device: 'x' } }),
  );
  await diagnosed(critical);
});

test('a critical that joins during the first look is looked into, though that was to be all, or found nothing', async () => {
  for (const name of ['Look', 'Unnamed']) {
    const group = { key: `${name} during`, target: null };
    ignores = name === 'Unnamed';
    meanwhile = () => core.accept(alertOf(name, { group, severity: 'critical', labels: { device: 'b' } }));
    const id = await opened(alertOf(name, { group, labels: { device: 'a' } }));
    await diagnosed(id);
    expect((await core.records.incident(id))?.severity).toBe('critical');
  }
});

test('whatever comes to rest is weighed once more, for what joined before it did', async () => {
  for (const name of ['Quiet', 'Look']) {
    const id = await opened(alertOf(name));
    await rests(id);
    await waitFor('the turn', async () => {
      const turns = await core.sql`
        SELECT 1 FROM dbos.workflow_input i JOIN dbos.workflow_status s USING (workflow_uuid)
         WHERE s.queue_partition_key = ${id} AND i.inputs LIKE '%alert joined%' AND s.status = 'SUCCESS'`;
      return turns.length > 0;
    });
    expect((await core.records.incident(id))?.state).toBe('reported');
  }
});

test('what is looked for after a rest rests no more: nobody would be called for it', async () => {
  const alert = alertOf('Quiet');
  const id = await opened(alert);
  await rests(id);
  await core.accept({
    ...alert,
    status: 'resolved',
    deliveryKey: `${id} over`,
    endsAt: new Date().toISOString(),
  });
  await waitFor('the end', async () => (await core.records.incident(id))?.state === 'resolved');
  const startsAt = new Date(Date.now() + 1_000).toISOString();
  await core.accept({ ...alert, severity: 'critical', deliveryKey: `${id} again`, startsAt });
  await diagnosed(id);
  expect((await core.records.incident(id))?.effort).toBe('adaptive');

  ignores = true;
  const ignored = await opened(alertOf('Look'));
  await waitFor('nothing', async () => (await core.records.incident(ignored))?.state === 'ignored');
  expect(await core.investigate(ignored, 'UONCALL')).toMatchObject({ ok: true });
  await diagnosed(ignored);
  expect((await core.records.incident(ignored))?.effort).toBe('adaptive');

  ignores = false;
  const group = { key: 'pair', target: null };
  const pair = await opened(alertOf('Pair', { group, labels: { device: 'a' } }));
  await rests(pair);
  await opened(alertOf('Pair', { group, labels: { device: 'b' } }));
  await diagnosed(pair);
  expect((await core.records.incident(pair))?.effort).toBe('full');
});

test('what a person had looked into deeper is looked into as usual when it fires again', async () => {
  const alert = alertOf('Unnamed');
  const id = await opened(alert);
  await diagnosed(id);
  await core.sql`UPDATE incident SET effort = 'full' WHERE id = ${id}`;
  const over = { status: 'resolved', deliveryKey: `${id} over`, endsAt: new Date().toISOString() } as const;
  await core.accept({ ...alert, ...over });
  await waitFor('the end', async () => (await core.records.incident(id))?.state === 'resolved');
  const startsAt = new Date(Date.now() + 1_000).toISOString();
  await core.accept({ ...alert, deliveryKey: `${id} again`, startsAt });
  await diagnosed(id, 2);
  expect((await core.records.incident(id))?.effort).toBe('adaptive');
});

/** Its turns are over. */
const idle = (id: IncidentId) =>
  waitFor(`the turns of ${id} to end`, async () => {
    const rows = await core.sql`
      SELECT 1 FROM dbos.workflow_status WHERE queue_partition_key = ${id} AND status IN ('ENQUEUED', 'PENDING')`;
    return rows.length === 0;
  });

test('one that came and went rests on once it stays, where the policy asks for no more', async () => {
  const id = await opened(alertOf('Quiet'));
  await rests(id);
  await idle(id);
  await core.sql`UPDATE incident SET flapping_until = clock_timestamp() - interval '1 s' WHERE id = ${id}`;
  await core.sql`SELECT sentry_enqueue_turn(${id}, 'quiet?', 0)`;
  await waitFor('the end of it', async () => (await core.records.incident(id))?.flappingUntil === null);
  await idle(id);
  expect((await core.records.incident(id))?.state).toBe('reported');
  expect(await typesOf(id)).not.toContain('diagnosis.concluded');
});

test('an alert whose end came first asks for nothing', async () => {
  const group = { key: 'early', target: null };
  const id = await opened(alertOf('Group', { group, labels: { device: 'a' } }));
  await rests(id);
  const over = alertOf('Group', { group, labels: { device: 'c' } });
  const endsAt = new Date().toISOString();
  expect(await core.accept({ ...over, status: 'resolved', deliveryKey: `${id} over`, endsAt })).toMatchObject(
    { kind: 'orphan_resolved' },
  );
  const startsAt = new Date(Date.now() - 60_000).toISOString();
  expect(await opened({ ...over, startsAt })).toBe(id);
  await idle(id);
  expect((await core.records.incident(id))?.state).toBe('reported');
});

test('what rests ends with its source, and rests again when it fires again, whole rounds apart once it was looked into', async () => {
  const alert = alertOf('Quiet');
  const id = await opened(alert);
  let at = Date.now();
  const say = (status: Alert['status']) => {
    at += 1_000;
    const time = new Date(at).toISOString();
    return core.accept({
      ...alert,
      status,
      deliveryKey: `${id}${at}`,
      ...(status === 'firing' ? { startsAt: time } : { endsAt: time }),
    });
  };
  const is = (state: string) =>
    waitFor(`${id} to be ${state}`, async () => (await core.records.incident(id))?.state === state);
  await rests(id);
  await say('resolved');
  await is('resolved');
  expect(await slotsOf(id)).toHaveLength(1);
  await say('firing');
  await is('reported');
  expect(await typesOf(id)).not.toContain('investigator.chosen');
  await core.investigate(id, 'UONCALL');
  await diagnosed(id);
  await say('resolved');
  await is('resolved');
  await say('firing');
  await is('reported');
  expect((await core.records.incident(id))?.round).toBe(2);
  await core.investigate(id, 'UONCALL');
  await diagnosed(id, 2);
});
