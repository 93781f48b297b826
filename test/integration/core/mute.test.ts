import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerMutes } from '../../../src/app/mute-metrics.ts';
import type { Alert } from '../../../src/core/alert.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { MaintenanceWindow } from '../../../src/core/maintenance-window.ts';
import { moveIn } from '../../../src/incidents/move.ts';
import { withMatcher } from '../../../src/incidents/mutes/with-matcher.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { isIdentifying } from '../../../src/sources/fingerprint.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let core: Core;
/** A second process of the same deployment, which works on no turns. */
let other: Core;
let windows: readonly MaintenanceWindow[] = [];
let names = 0;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  const options = { url: database.url, tools: boxTools(machine), windows: () => windows };
  core = await createCore(options);
  other = await createCore(options);
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await other.stop();
  await database.drop();
});

/** An alert of a name that no other test has. */
function alertOf(name: string, change: Partial<Alert> = {}): Alert {
  const { labels = {}, ...rest } = change;
  return boxAlert({
    name,
    severity: 'warning',
    ...rest,
    labels: { alertname: name, source_type: 'database', instance: 'box', ...labels },
  });
}
const newName = (): string => `Alert${(names += 1)}`;

async function opened(alert: Alert): Promise<IncidentId> {
  const { incidentId } = await core.accept(alert);
  if (incidentId === null) throw new Error('not accepted');
  return incidentId;
}

async function muted(text: string, by = 'UONCALL'): Promise<string> {
  const answer = await core.mutes.mute(text, by);
  if (!answer.ok) throw new Error(answer.reason);
  return /\((M\d+)\)/.exec(answer.text)?.[1] ?? '';
}
const refusal = async (text: string, by = 'UONCALL') => {
  const answer = await core.mutes.mute(text, by);
  return answer.ok ? `muted: ${answer.text}` : answer.reason;
};
const stateOf = async (id: IncidentId) => (await core.records.incident(id))?.state;
const typesOf = async (id: IncidentId) =>
  ((await core.records.load(id))?.events ?? []).map(({ type }) => type);

async function held(id: IncidentId, by?: string): Promise<void> {
  await waitFor(`${id} to be muted`, async () => {
    const mutedBy = (await core.records.incident(id))?.mutedBy;
    return by === undefined ? mutedBy !== null : mutedBy === by;
  });
}
async function investigated(id: IncidentId): Promise<void> {
  await waitFor(
    `${id} to be investigated`,
    async () =>
      ['awaiting_approval', 'reported', 'resolved', 'escalated'].includes((await stateOf(id)) ?? '') &&
      (await typesOf(id)).includes('diagnosis.concluded'),
  );
}
/** Its turns are over. */
async function idle(id: IncidentId): Promise<void> {
  await waitFor(`the turns of ${id} to end`, async () => {
    const rows = await core.sql`
      SELECT 1 FROM dbos.workflow_status WHERE queue_partition_key = ${id} AND status IN ('ENQUEUED', 'PENDING')`;
    return rows.length === 0;
  });
}

test('a muted alert is kept and not looked into; what still fires at the end is, what is over is not', async () => {
  const name = newName();
  const mute = await muted(`${name} 2h deploying`);
  const firing = alertOf(name);
  const [id, over] = [await opened(firing), await opened(alertOf(name, { labels: { instance: 'b' } }))];
  await Promise.all([held(id, mute), held(over, mute), idle(id)]);
  await core.accept({ ...firing, deliveryKey: 'again' });
  expect(await stateOf(id)).toBe('open');
  expect(await typesOf(id)).not.toContain('investigator.chosen');
  const record = await core.records.load(id);
  const story = record ? why(record) : '';
  expect(story).toMatch(/\*Muted\* until .* by <@UONCALL> \(M\d+, alertname="Alert\d+"\): deploying/);
  expect((await core.mutes.lines()).join('\n')).toMatch(/3 alerts of 2 incidents, 2 still firing/);

  const [alert] = await core.sql<{
    fingerprint: string;
  }>`SELECT fingerprint FROM alert WHERE incident_id = ${over}`;
  await core.accept(
    alertOf(name, {
      status: 'resolved',
      fingerprint: alert?.fingerprint ?? '',
      endsAt: new Date().toISOString(),
    }),
  );
  await waitFor('the end', async () => (await stateOf(over)) === 'resolved');
  expect(await core.mutes.unmute(mute.toLowerCase(), 'UOTHER')).toMatchObject({
    ok: true,
    text: `${mute} is over. 3 alerts of 2 incidents came, 1 still fires: opening it.`,
  });
  await investigated(id);
  await idle(over);
  expect((await core.records.incident(over))?.mutedBy).toBe(mute);
  expect(await typesOf(over)).not.toContain('diagnosis.concluded');
  const audit = await core.sql<{ kind: string; actor: string }>`
    SELECT body::jsonb->>'kind' AS kind, body::jsonb->>'actor' AS actor FROM audit_entry
     WHERE body::jsonb #>> '{details,mute}' = ${mute} ORDER BY seq`;
  expect(audit).toEqual([
    { kind: 'mute.set', actor: 'UONCALL' },
    { kind: 'mute.ended', actor: 'UOTHER' },
  ]);
  expect(await core.mutes.unmute(mute, 'UONCALL')).toMatchObject({ ok: false, code: 'NO_MUTE' });
});

test('a critical that the mute does not name pages, also one that joins what is muted', async () => {
  const name = newName();
  await muted(`${name} 1h`);
  const critical = await opened(alertOf(name, { severity: 'critical' }));
  await investigated(critical);
  expect((await core.records.incident(critical))?.mutedBy).toBeNull();

  const grouped = newName();
  await muted(`${grouped} 1h`);
  const group = { key: grouped, target: null };
  const id = await opened(alertOf(grouped, { group, labels: { device: 'a' } }));
  await held(id);
  expect(await opened(alertOf(grouped, { group, labels: { device: 'b' } }))).toBe(id);
  await idle(id);
  expect(await stateOf(id)).toBe('open');
  expect(await opened(alertOf(grouped, { group, severity: 'critical', labels: { device: 'c' } }))).toBe(id);
  await investigated(id);
});

test('an alert of a muted group that the mute does not fit has it looked into', async () => {
  const name = newName();
  await muted(`alertname="${name}", device="a" 1h`);
  const group = { key: name, target: null };
  const id = await opened(alertOf(name, { group, labels: { device: 'a' } }));
  await held(id);
  await opened(alertOf(name, { group, labels: { device: 'b' } }));
  await investigated(id);
});

test('criticals are muted by whoever says severity, and confirms it', async () => {
  const name = newName();
  const text = `alertname="${name}", severity=~"critical|warning" 1h`;
  const open = await opened(alertOf(name, { severity: 'critical' }));
  expect(await refusal(text)).toMatch(
    /mutes critical alerts as well.* 1 open incident is of these now.*\n.*\/sentry mute confirm alertname/s,
  );
  await muted(`confirm ${text}`);
  const id = await opened(alertOf(name, { severity: 'critical' }));
  await held(id);
  // What was open before goes on.
  await investigated(open);
  expect(await stateOf(id)).toBe('open');
});

test('without a matcher it is of the alerts of the incident that it is said in, as bad as they are', async () => {
  const name = newName();
  const id = await opened(alertOf(name, { labels: { prometheus: 'a/b' } }));
  await investigated(id);
  const answer = await core.mutes.mute('for 2h deploying', 'UONCALL', id);
  if (!answer.ok) throw new Error(answer.reason);
  expect(answer.text).toContain(
    `: alertname="${name}", severity="warning", target="box", instance="box", source_type="database". `,
  );
  expect(answer.text).toContain('1 open incident is of these now; it goes on as before.');
  const mute = await core.mutes.list().then((all) => all.find(({ matcher }) => matcher.includes(name)));
  expect(mute).toMatchObject({ by: 'UONCALL', reason: 'deploying', alerts: 0 });
  // Another thing, and what gets worse, is not of it.
  const elsewhere = await opened(alertOf(name, { labels: { instance: 'box-2' } }));
  const worse = await opened(alertOf(`${name}b`, { severity: 'critical' }));
  await investigated(elsewhere);
  await investigated(worse);

  const metrics = new Registry();
  registerMutes(metrics, core.mutes.list);
  const lines = (await metrics.metrics()).split('\n');
  expect(lines).toContain(`sentry_mute_alerts{mute="${mute?.id}"} 0`);
  expect(lines).toContain(`sentry_mutes ${(await core.mutes.list()).length}`);
  await core.mutes.unmute(mute?.id ?? '', 'UONCALL');
});

test('of an incident that not everybody may read of, a matcher is told by nobody but who types it', async () => {
  const id = await opened(alertOf(newName()));
  const { sql } = core;
  const asked = (text: string, here: IncidentId | null, isPublic = false) =>
    withMatcher({ sql, isIdentifying, isPublic: async () => isPublic }, text, here);
  expect(await asked('2h', id)).toMatchObject({ ok: false, code: 'MATCHER' });
  expect(await asked('alertname="X" 2h', id)).toBe('alertname="X" 2h');
  expect(await asked('this for 2 hours please', id, true)).toMatch(/^alertname=.* 2h please$/);
  // “this” is no alert's name.
  expect(await asked('this for 2h', null)).toMatchObject({ ok: false, code: 'MATCHER' });
});

test('of a critical, or of alerts that differ, nothing is muted unasked', async () => {
  const [name, critical] = [newName(), newName()];
  const id = await opened(alertOf(critical, { severity: 'critical' }));
  const asked = await core.mutes.mute('2h', 'UONCALL', id);
  expect(asked).toMatchObject({ ok: false, code: 'CONFIRM' });
  // What it says to type holds wherever it is typed.
  expect(asked.ok ? '' : asked.reason).toContain(
    `/sentry mute confirm alertname="${critical}", severity="critical"`,
  );
  const group = { group: { key: name, target: null } };
  const first = await opened(alertOf(name, group));
  expect(await opened(alertOf(name, { ...group, labels: { instance: 'box-2' } }))).toBe(first);
  expect(await core.mutes.mute('2h', 'UONCALL', first)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('differ in instance'),
  });
  expect(await refusal('2h')).toMatch(/^(?!muted)/);
  expect((await core.mutes.lines()).filter((line) => line.includes(name))).toEqual([]);
});

test('a mute of everything, without a time, or for longer than a day is refused; an admin may', async () => {
  for (const text of ['{} 2h', 'alertname=~".*" 2h', 'service!="x" 2h'])
    expect(await refusal(text)).toMatch(/every alert/);
  expect(await refusal('SomeAlert')).toMatch(/for how long/);
  expect(await refusal('SomeAlert soon')).toMatch(/“soon”, which is no time/);
  expect(await refusal('SomeAlert 25h')).toMatch(/Only admins/);
  expect(await refusal('SomeAlert 40d', 'UADMIN')).toMatch(/at most 31d/);
  expect(await refusal('a="b" c="d" 2h')).toMatch(/separated by commas/);
  expect(await muted('NoSuchAlert 3d', 'UADMIN')).toMatch(/^M\d+$/);
  expect(await refusal('')).toMatch(/For example/);
  expect(await refusal('INC-7 2h')).toMatch(/\/sentry stop INC-7/);
  expect(await refusal('alertname=~"AKIAIOSFODNN7EXAMPL2|x" 2h')).toMatch(/looks like a secret/);
});

test('one that ended and fires again while muted waits, and goes on at the end', async () => {
  const name = newName();
  const alert = alertOf(name);
  const id = await opened(alert);
  await investigated(id);
  const end = async () =>
    core.accept({
      ...alert,
      status: 'resolved',
      deliveryKey: `${Math.random()}`,
      endsAt: new Date().toISOString(),
    });
  await end();
  await waitFor('the end', async () => (await stateOf(id)) === 'resolved');
  const mute = await muted(`${name} 1h`);
  const again = new Date(Date.now() + 1_000).toISOString();
  await core.accept({ ...alert, deliveryKey: `${Math.random()}`, startsAt: again });
  await held(id, mute);
  await idle(id);
  expect(await stateOf(id)).toBe('resolved');
  await core.mutes.unmute(mute, 'UONCALL');
  await waitFor('it to go on', async () => (await core.records.incident(id))?.round === 2);
});

test('one that comes and goes while it is muted waits, and rests in sight once the mute is over', async () => {
  const name = newName();
  const alert = alertOf(name);
  const id = await opened(alert);
  await investigated(id);
  await core.accept({
    ...alert,
    status: 'resolved',
    deliveryKey: `${id} over`,
    endsAt: new Date().toISOString(),
  });
  await waitFor('the end', async () => (await stateOf(id)) === 'resolved');
  await idle(id);
  await core.sql`UPDATE incident SET flips = array_fill(clock_timestamp(), ARRAY[3]) WHERE id = ${id}`;
  const mute = await muted(`${name} 1h`);
  await core.accept({
    ...alert,
    deliveryKey: `${id} again`,
    startsAt: new Date(Date.now() + 1_000).toISOString(),
  });
  await held(id, mute);
  await idle(id);
  expect((await core.records.incident(id))?.flappingUntil).not.toBeNull();
  expect(await stateOf(id)).toBe('resolved');
  await core.mutes.unmute(mute, 'UONCALL');
  await waitFor('it to rest', async () => (await stateOf(id)) === 'reported');
  expect((await core.records.incident(id))?.mutedBy).toBeNull();
});

/** Two alerts of one incident that is over, the first of which opened it, and a mute for one of them. */
async function pairThatEnded(devices: readonly [string, string]) {
  const name = newName();
  const pair = devices.map((device) =>
    alertOf(name, { group: { key: name, target: null }, labels: { device } }),
  );
  const say = (device: string, change: Partial<Alert>) =>
    core.accept({
      ...(pair[devices.indexOf(device)] ?? alertOf(name)),
      deliveryKey: `${Math.random()}`,
      ...change,
    });
  const id = await opened(pair[0] ?? alertOf(name));
  expect(await opened(pair[1] ?? alertOf(name))).toBe(id);
  await investigated(id);
  for (const device of devices) await say(device, { status: 'resolved', endsAt: new Date().toISOString() });
  await waitFor('the end', async () => (await stateOf(id)) === 'resolved');
  const mute = await muted(`alertname="${name}", device="a" 1h`);
  const startsAt = new Date(Date.now() + 1_000).toISOString();
  return { id, mute, again: (device: string) => say(device, { startsAt }) };
}

test('what fires again is muted by its own labels, not by those of what opened the incident', async () => {
  const { id, mute, again } = await pairThatEnded(['b', 'a']);
  await again('a');
  await held(id, mute);
  await idle(id);
  expect(await stateOf(id)).toBe('resolved');
});

test('one that fires again into a muted incident is no repeat of the time before', async () => {
  const { id, mute, again } = await pairThatEnded(['a', 'b']);
  await again('a');
  await held(id, mute);
  await idle(id);
  await again('a');
  await idle(id);
  expect(await stateOf(id)).toBe('resolved');
  await again('b');
  await waitFor('it to go on', async () => (await core.records.incident(id))?.round === 2);
  expect((await core.records.incident(id))?.mutedBy).toBeNull();
});

test('what fires again once a turn has read that it was over waits for its mute all the same', async () => {
  const { id, mute, again } = await pairThatEnded(['a', 'b']);
  await createTurn(core)(id, 'source_resolved', async (name, work) => {
    if (name === 'fired again?') await again('a');
    return work();
  });
  await held(id, mute);
  await idle(id);
  expect(await stateOf(id)).toBe('resolved');
});

test('a mute that comes after its turn has begun hides nothing of what goes on', async () => {
  const name = newName();
  const mute = await muted(`${name} 1h`);
  const id = await opened(alertOf(name));
  await held(id, mute);
  await idle(id);
  const incident = await core.records.incident(id);
  if (!incident) throw new Error('no incident');
  const moved = await core.sql.begin((tx) =>
    moveIn(
      tx,
      core,
      { ...incident, mutedBy: null },
      { from: 'open', to: 'escalated', reason: 'x', key: 'x' },
    ),
  );
  expect(moved).toBe('moved');
  expect((await core.records.incident(id))?.mutedBy).toBeNull();
  expect(await typesOf(id)).toContain('incident.unmuted');
});

test('of two that mute it the other holds on, and two processes end one once', async () => {
  const name = newName();
  const long = await muted(`alertname="${name}" 3h`);
  const short = await muted(`alertname=~"${name}" 2h`);
  const id = await opened(alertOf(name));
  await held(id, long);
  await core.mutes.unmute(long, 'UONCALL');
  await held(id, short);
  await idle(id);
  await core.sql`UPDATE mute SET until = clock_timestamp() WHERE id = ${short}`;
  await Promise.all([core, other, core, other].map(({ mutes }) => mutes.look()));
  await investigated(id);
  const ends = (await typesOf(id)).filter((type) => type === 'incident.unmuted');
  expect(ends).toHaveLength(1);
  const turns = await core.sql`
    SELECT 1 FROM dbos.workflow_input i JOIN dbos.workflow_status s USING (workflow_uuid)
     WHERE s.queue_partition_key = ${id} AND i.inputs LIKE '%mute over%'`;
  expect(turns).toHaveLength(2);
});

test('an end that dies half-way is made again, with every turn', async () => {
  const name = newName();
  const mute = await muted(`${name} 1h`);
  const id = await opened(alertOf(name));
  await held(id, mute);
  await idle(id);
  await core.sql`UPDATE mute SET until = clock_timestamp() WHERE id = ${mute}`;
  await core.sql`ALTER TABLE audit_entry ADD CONSTRAINT none CHECK (false) NOT VALID`;
  await expect(core.mutes.look()).rejects.toThrow();
  await core.sql`ALTER TABLE audit_entry DROP CONSTRAINT none`;
  expect((await core.mutes.read(mute))?.closedAt).toBeNull();
  expect(await stateOf(id)).toBe('open');
  await core.mutes.look();
  await investigated(id);
});

test('alerts that come while mutes begin and end are all looked into in the end', async () => {
  const name = newName();
  const ids: IncidentId[] = [];
  for (let n = 0; n < 3; n += 1) {
    const mute = await muted(`${name} 1h`);
    const [batch] = await Promise.all([
      Promise.all(
        Array.from({ length: 4 }, (_, k) => opened(alertOf(name, { labels: { instance: `${n}-${k}` } }))),
      ),
      core.mutes.unmute(mute, 'UONCALL'),
    ]);
    ids.push(...batch);
  }
  await other.mutes.look();
  for (const id of ids) await investigated(id);
});

test('a person’s own request is never muted', async () => {
  await muted('title=~"box.*" 1h');
  const id = await opened(alertOf(newName(), { source: 'hand', title: 'box is slow' }));
  await investigated(id);
});

test('a window of maintenance is open for the alerts that come first, once for two processes, and can be ended', async () => {
  const name = newName();
  const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
  windows = [{ matcher: `alertname="${name}"`, reason: 'upgrade', when: { from: from ?? '', to: to ?? '' } }];
  const id = await opened(alertOf(name));
  await held(id);
  await Promise.all([core.mutes.look(), other.mutes.look()]);
  const lines = (await core.mutes.lines()).filter((line) => line.includes(name));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('by maintenance: upgrade');
  await core.mutes.unmute(/^M\d+/.exec(lines[0] ?? '')?.[0] ?? '', 'UONCALL');
  await investigated(id);
  // Ended by a person, it does not open again.
  await other.mutes.look();
  expect((await core.mutes.lines()).filter((line) => line.includes(name))).toHaveLength(0);
  windows = [];
});
