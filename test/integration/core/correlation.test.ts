import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRecordChange } from '../../../src/changes/record-change.ts';
import type { Alert } from '../../../src/core/alert.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Target } from '../../../src/core/target.ts';
import { readFacts } from '../../../src/escalation/read-facts.ts';
import { moveIn } from '../../../src/incidents/move.ts';
import type { PhaseRun } from '../../../src/incidents/phases/phase-run.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { noteRelated } from '../../../src/incidents/related.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTarget,
  boxTools,
  type Core,
  createCore,
  type Machine,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const targets: readonly Target[] = [
  { ...boxTarget, name: 'box' },
  { ...boxTarget, name: 'app', neighbours: ['box'] },
  { ...boxTarget, name: 'web', neighbours: ['app'] },
];
let database: ScratchDatabase;
let core: Core;
/** A second process of the same deployment, which works on no turns. */
let other: Core;
let apart: ReadonlySet<IncidentId> = new Set();
/** Turns of the incidents on these wait inside their first look. */
let holdBack: Promise<void> = Promise.resolve();
let goOn = (): void => undefined;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  const options = {
    url: database.url,
    tools: boxTools(machine),
    targets,
    investigator: {
      ...boxInvestigator,
      diagnose: async (...asked: Parameters<typeof boxInvestigator.diagnose>) => {
        await holdBack;
        return boxInvestigator.diagnose(...asked);
      },
    },
    correlation: { isForSame: async (a: IncidentId, b: IncidentId) => !apart.has(a) && !apart.has(b) },
  };
  core = await createCore(options);
  other = await createCore(options);
  await core.start();
});
afterAll(async () => {
  goOn();
  await core.stop();
  await other.stop();
  await database.drop();
});
beforeEach(async () => {
  goOn();
  holdBack = new Promise((resolve) => {
    goOn = resolve;
  });
  apart = new Set();
  // What other tests have left is of another hour.
  await core.sql`UPDATE incident SET opened_at = opened_at - interval '3 hours', fired_again_at = fired_again_at - interval '3 hours'`;
  await core.sql`UPDATE alert SET starts_at = starts_at - interval '3 hours'`;
});

const words: Readonly<Record<string, string>> = {
  box: 'box is down',
  app: 'app returns 5xx',
  web: 'web is unavailable',
};

function alertOn(target: string, change: Partial<Alert> = {}): Alert {
  return boxAlert({
    name: null,
    title: words[target] ?? '',
    target,
    labels: { source_type: 'database', instance: target },
    ...change,
  });
}
async function opened(alert: Alert): Promise<IncidentId> {
  const { incidentId } = await core.accept(alert);
  if (incidentId === null) throw new Error('not accepted');
  return incidentId;
}
const over = (alert: Alert) =>
  core.accept({
    ...alert,
    status: 'resolved',
    deliveryKey: `${alert.deliveryKey} over`,
    endsAt: new Date().toISOString(),
  });
const of = async (id: IncidentId) => {
  const incident = await core.records.incident(id);
  if (!incident) throw new Error(`no ${id}`);
  return incident;
};
const eventsOf = async (id: IncidentId) => (await core.records.load(id))?.events ?? [];
const typesOf = async (id: IncidentId) => (await eventsOf(id)).map(({ type }) => type);
const under = (id: IncidentId, lead: IncidentId | null) =>
  waitFor(`${id} to rest under ${lead}`, async () => (await of(id)).mergedInto === lead);
async function idle(id: IncidentId): Promise<void> {
  await waitFor(`the turns of ${id} to end`, async () => {
    const rows = await core.sql`
      SELECT 1 FROM dbos.workflow_status WHERE queue_partition_key = ${id} AND status IN ('ENQUEUED', 'PENDING')`;
    return rows.length === 0;
  });
}
const state = (id: IncidentId, ...states: readonly string[]) =>
  waitFor(`${id} to be ${states.join(' or ')}`, async () => states.includes((await of(id)).state));

/** The box leads, and the app rests under it, not looked into. */
async function pair(): Promise<{
  lead: IncidentId;
  child: IncidentId;
  alerts: { lead: Alert; child: Alert };
}> {
  const alerts = { lead: alertOn('box', { severity: 'warning' }), child: alertOn('app') };
  const lead = await opened(alerts.lead);
  await state(lead, 'diagnosing');
  const child = await opened(alerts.child);
  await under(child, lead);
  await idle(child);
  return { lead, child, alerts };
}

test('what stands on an ill system rests under its incident, which is as severe; the story of both says why', async () => {
  const { lead, child } = await pair();
  expect(await of(child)).toMatchObject({ state: 'open', investigator: null });
  expect(await typesOf(child)).not.toContain('investigator.chosen');
  expect((await of(lead)).severity).toBe('critical');
  const because = { kind: 'neighbour', target: 'app', neighbour: 'box' };
  expect((await eventsOf(child)).find(({ type }) => type === 'incident.merged')).toMatchObject({
    into: lead,
    because,
  });
  expect((await eventsOf(lead)).find(({ type }) => type === 'member.merged')).toMatchObject({
    incident: child,
    because,
  });
  const record = await core.records.load(child);
  expect(record ? why(record) : '').toContain(`part of ${lead}: box is declared a neighbour of app`);
  const facts = await core.sql.begin((tx) => readFacts(tx, child));
  expect(facts?.facts.needsNobody).toBe(true);
  // A repeat counts on the part, and changes nothing.
  expect((await typesOf(child)).filter((type) => type === 'incident.merged')).toHaveLength(1);
});

test('what one change touched shortly before is one problem; what it did not touch, or long before, is not', async () => {
  const changed = (id: string, where: readonly string[], minutesAgo: number) =>
    createRecordChange(core.sql)({
      source: 'generic',
      id,
      kind: 'deployment',
      state: 'succeeded',
      title: `release ${id}`,
      where,
      environment: null,
      startedAt: null,
      at: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
      by: null,
      from: null,
      to: null,
      commits: [],
      url: null,
    });
  await changed('old', ['box', 'web'], 90);
  await changed('elsewhere', ['box', 'app'], 2);
  const lead = await opened(alertOn('box'));
  await state(lead, 'diagnosing');
  const alone = alertOn('web');
  const child = await opened(alone);
  await state(child, 'diagnosing');
  expect((await of(child)).mergedInto).toBeNull();
  await over(alone);
  await state(child, 'resolved', 'reported', 'diagnosing');

  await changed('new', ['box', 'web'], 3);
  const next = await opened(
    alertOn('web', {
      fingerprint: 'another',
      severity: 'error',
      labels: { instance: 'web', disk: 'sdb' },
    }),
  );
  await under(next, lead);
  expect((await eventsOf(next)).find(({ type }) => type === 'incident.merged')).toMatchObject({
    into: lead,
    because: { kind: 'change', isTrusted: false, change: { id: 'new', title: 'release new' } },
  });
  // One sender's word puts no critical incident to rest, nor keeps it there.
  await core.sql`UPDATE incident SET severity = 'critical' WHERE id = ${next}`;
  await under(next, null);
});

test('a part that still fires goes on by itself once what led waits for people or is over, and is not closed with it', async () => {
  const { lead, child, alerts } = await pair();
  await over(alerts.lead);
  goOn();
  await state(lead, 'resolved');
  await under(child, null);
  await state(child, 'awaiting_approval', 'reported');
  expect((await eventsOf(child)).find(({ type }) => type === 'incident.split')).toMatchObject({
    from: lead,
    by: null,
  });
  expect((await eventsOf(lead)).find(({ type }) => type === 'member.split')).toMatchObject({
    incident: child,
    by: null,
  });
  const facts = await core.sql.begin((tx) => readFacts(tx, child));
  const split = (await eventsOf(child)).find(({ type }) => type === 'incident.split');
  expect(facts?.facts.run.seq).toBe(split?.seq);
});

test('a part whose alert ends while it rests is over, and nobody has looked into it; what leads goes on', async () => {
  const { lead, child, alerts } = await pair();
  await over(alerts.child);
  await state(child, 'resolved');
  expect(await of(child)).toMatchObject({ mergedInto: lead, investigator: null });
  expect((await of(lead)).state).toBe('diagnosing');
});

test('a part that fires again after its end is looked into afresh, where people see it, while what leads goes on', async () => {
  const { lead, child, alerts } = await pair();
  await over(alerts.child);
  await state(child, 'resolved');
  await core.accept({
    ...alerts.child,
    deliveryKey: `${alerts.child.deliveryKey} again`,
    startsAt: new Date().toISOString(),
  });
  await under(child, null);
  await state(child, 'triaging', 'diagnosing');
  expect((await of(lead)).state).toBe('diagnosing');
});

test('what leads is never less severe than what rests under it, whatever its first look says', async () => {
  const alerts = { lead: alertOn('box', { severity: 'warning' }), child: alertOn('app') };
  const lead = await opened(alerts.lead);
  await state(lead, 'diagnosing');
  await under(await opened(alerts.child), lead);
  const read = await of(lead);
  expect(read.severity).toBe('critical');
  await core.sql.begin((tx) =>
    moveIn(tx, core, read, {
      from: 'diagnosing',
      to: 'planning',
      reason: 'lower',
      key: 'lower',
      changes: { severity: 'info' },
      turnAfterMs: null,
    }),
  );
  expect((await of(lead)).severity).toBe('critical');
});

test('what is worse than what somebody has already is put under nothing: for it people are called', async () => {
  const lead = await opened(alertOn('box', { severity: 'warning' }));
  await state(lead, 'diagnosing');
  await core.sql.begin((tx) => readFacts(tx, lead));
  await core.sql`UPDATE escalation SET acknowledged_at = clock_timestamp(), acknowledged_by = 'U1', holds = true WHERE incident_id = ${lead}`;
  const worse = await opened(alertOn('app'));
  await state(worse, 'diagnosing');
  expect((await of(worse)).mergedInto).toBe(null);
});

test('what comes before what it stands on rests under it at its next phase; two turns at once make no circle', async () => {
  const child = await opened(alertOn('app'));
  await state(child, 'diagnosing');
  const lead = await opened(alertOn('box'));
  goOn();
  await idle(child);
  const merged = (await of(child)).mergedInto === lead;
  // Its diagnosis may have ended in a proposal before: then it stays on its own.
  expect(merged || ['awaiting_approval', 'planning', 'reported'].includes((await of(child)).state)).toBe(
    true,
  );
  await Promise.all(
    [core, other].flatMap(({ correlation }) => [correlation.hold([lead]), correlation.hold([child])]),
  );
  expect((await of(lead)).mergedInto).toBe(null);
});

test('of two that are put under each other at one moment one leads', async () => {
  const [a, b] = [
    await opened(alertOn('box', { title: 'box: a note' })),
    await opened(alertOn('web', { title: 'web: a note' })),
  ];
  await Promise.all([state(a, 'diagnosing'), state(b, 'diagnosing')]);
  const said = await Promise.all([core.correlation.merge(a, b, 'U1'), other.correlation.merge(b, a, 'U2')]);
  expect(said.filter(({ ok }) => ok)).toHaveLength(1);
  expect(said.find(({ ok }) => !ok)).toMatchObject({ code: expect.stringMatching(/CYCLE|MOVED/) });
  expect([(await of(a)).mergedInto, (await of(b)).mergedInto].filter((id) => id !== null)).toHaveLength(1);
});

test('what a person splits stays apart until a person puts it together; both are in the audit log', async () => {
  const { lead, child } = await pair();
  expect(await core.correlation.split(child, 'U1')).toMatchObject({ ok: true });
  await state(child, 'diagnosing');
  await core.correlation.hold([child]);
  expect((await of(child)).mergedInto).toBe(null);
  expect(await core.correlation.split(child, 'U1')).toMatchObject({ ok: false, code: 'NOT_MERGED' });
  expect(await core.correlation.merge(child, lead, 'U2')).toMatchObject({ ok: true });
  expect(await core.correlation.merge(child, lead, 'U2')).toMatchObject({
    ok: true,
    text: `${child} is a part of ${lead} already.`,
  });
  expect((await of(child)).mergedInto).toBe(lead);
  expect(await core.correlation.merge(lead, child, 'U2')).toMatchObject({ ok: false, code: 'CYCLE' });
  goOn();
  await idle(child);
  // It rests before its next phase, whichever that was.
  expect(await of(child)).toMatchObject({
    mergedInto: lead,
    state: expect.stringMatching(/diagnosing|planning/),
  });
  const audit = await core.sql<{ kind: string }>`
    SELECT body::jsonb->>'kind' AS kind FROM audit_entry
     WHERE ${lead} IN (body::jsonb #>> '{details,from}', body::jsonb #>> '{details,into}') ORDER BY seq`;
  expect(audit.map(({ kind }) => kind)).toEqual(['incident.split', 'incident.merged']);
});

test('an approval stays with its system: what waits for one is put under nothing, by hand neither', async () => {
  goOn();
  const child = await opened(alertOn('app'));
  await state(child, 'awaiting_approval');
  const lead = await opened(alertOn('box'));
  await idle(lead);
  await core.correlation.hold([child]);
  expect((await of(child)).mergedInto).toBe(null);
  expect(await core.correlation.merge(child, lead, 'U1')).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/waits for approval/),
  });
});

test('what is for other readers, opened by hand, or hours older is put under nothing', async () => {
  const lead = await opened(alertOn('box'));
  await state(lead, 'diagnosing');
  apart = new Set([lead]);
  const [secret, byHand, old] = [
    await opened(alertOn('app')),
    await opened(alertOn('app', { source: 'hand' })),
    await opened(alertOn('app', { startsAt: new Date(Date.now() - 3_600_000).toISOString() })),
  ];
  await Promise.all([secret, byHand, old].map((id) => state(id, 'diagnosing')));
  expect((await of(secret)).mergedInto).toBe(null);
  expect(await core.correlation.merge(secret, lead, 'U1')).toMatchObject({ ok: false, code: 'APART' });
  apart = new Set();
  for (const id of [byHand, old]) {
    await core.correlation.hold([id]);
    expect((await of(id)).mergedInto).toBe(null);
  }
});

test('under one that rests itself: each part goes on with what it stands on', async () => {
  const { lead, child } = await pair();
  const last = await opened(alertOn('web'));
  await under(last, child);
  await idle(last);
  expect(await core.correlation.merge(lead, last, 'U1')).toMatchObject({ ok: false, code: 'CYCLE' });
  await core.steering.stop(lead, 'U1', 'enough');
  await under(child, null);
  expect((await of(last)).mergedInto).toBe(child);
});

/** Puts on record what is related, and between its locks on the two lets the other want both, too. */
async function whileRelatedIsNoted(
  [first, second]: readonly [IncidentId, IncidentId],
  act: () => Promise<unknown>,
): Promise<void> {
  const acts: Promise<unknown>[] = [];
  const records: Core['records'] = {
    ...core.records,
    append: async (tx, id, ...rest) => {
      const isNew = await core.records.append(tx, id, ...rest);
      if (id !== first) return isNew;
      const acting = act();
      acting.catch(() => undefined);
      acts.push(acting);
      await waitFor('the other to wait for a row', async () => {
        const waiting = await other.sql`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event IN ('transactionid', 'tuple')`;
        return waiting.length > 0;
      });
      return isNew;
    },
  };
  const incident = await of(second);
  await noteRelated({
    deps: { sql: core.sql, records, gate: { systemOf: async () => 'one system' } },
    incident,
    durably: async <T>(_: string, step: () => Promise<T>) => step(),
  } as unknown as PhaseRun);
  expect(acts).toHaveLength(1);
  await acts[0];
}

test('putting together, splitting and moving on lock in the order of what notes related ones: none ends in a deadlock', async () => {
  const both: IncidentId[] = [];
  for (const target of ['box', 'web']) {
    const id = await opened(alertOn(target, { title: `${target}: a note` }));
    await state(id, 'diagnosing');
    both.push(id);
  }
  const [first, second] = both.toSorted() as [IncidentId, IncidentId];
  // The one that notes is the younger, whatever their numbers.
  await core.sql`UPDATE incident SET opened_at = clock_timestamp() WHERE id = ${second}`;
  const forget = () =>
    core.sql`DELETE FROM event WHERE incident_id = ANY (${core.sql.array([first, second])}::text[]) AND type = 'incident.related'`;
  await whileRelatedIsNoted([first, second], async () =>
    expect(await core.correlation.merge(second, first, 'U1')).toMatchObject({ ok: true }),
  );
  await forget();
  await whileRelatedIsNoted([first, second], async () =>
    expect(await core.correlation.split(second, 'U1')).toMatchObject({ ok: true }),
  );
  await core.correlation.merge(second, first, 'U1');
  await forget();
  const incident = await of(second);
  await whileRelatedIsNoted([first, second], () =>
    core.sql.begin(async (tx) => {
      const move = {
        from: incident.state,
        to: 'reported',
        reason: 'on',
        key: 'on',
        turnAfterMs: null,
      } as const;
      expect(await moveIn(tx, core, incident, move)).toBe('moved');
    }),
  );
  expect((await of(second)).mergedInto).toBe(null);
});
