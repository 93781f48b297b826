import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Investigator, StillAsked, StillSaid } from '../../../src/agents/ports.ts';
import { createRecordChange } from '../../../src/changes/record-change.ts';
import type { Alert } from '../../../src/core/alert.ts';
import type { Change } from '../../../src/core/change.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { STILL_SO_TURN } from '../../../src/incidents/move.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { tellChange } from '../../../src/incidents/tell-news.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
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
const pace = { settleMs: 0, everyMs: 0, aDay: 100 };
const targets = new Map([['box', { ...boxTarget, aliases: ['crate'] }]]);
let database: ScratchDatabase;
let core: Core;
/** How sure the cause is: below the bar for a fix it is only reported. */
let confidence = 0.5;
let reads = 0;
let unreadable = false;
/** What happens while the box is looked at. */
let meanwhile: () => Promise<unknown> = async () => null;

/** What a model is asked, and what it says; null: it cannot be asked. */
const questions: StillAsked[] = [];
let answer: StillSaid | null = null;
const investigator: Investigator = {
  ...boxInvestigator,
  diagnose: async (work, triage) => ({ ...(await boxInvestigator.diagnose(work, triage)), confidence }),
  stillSo: (work, question) =>
    work.durably('the model', async () => {
      questions.push(question);
      return answer;
    }),
};

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  const tools = boxTools(machine).map((tool) =>
    tool.name === 'box_state'
      ? {
          ...tool,
          run: async () => {
            reads += 1;
            await meanwhile();
            if (unreadable) throw new Error('the box does not answer');
            return { text: `broken: ${machine.broken}`, data: { broken: machine.broken } };
          },
        }
      : tool,
  ) as ReturnType<typeof boxTools>;
  core = await createCore({
    url: database.url,
    tools,
    looksAgain: pace,
    targets: [...targets.values()],
    investigator,
    claude: { ...investigator, name: 'claude' },
  });
  await core.start();
});
beforeEach(() => {
  Object.assign(machine, { broken: true, generation: 1, effects: 0, helps: true });
  Object.assign(pace, { settleMs: 0, everyMs: 0, aDay: 100 });
  confidence = 0.5;
  unreadable = false;
  answer = null;
  questions.length = 0;
  meanwhile = async () => null;
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});

async function record(id: IncidentId) {
  const found = await core.records.load(id);
  if (!found) throw new Error('no record');
  return found;
}
const looksOf = async (id: IncidentId) =>
  (await record(id)).events.filter((event) => event.type === 'incident.looked');
const looked = (id: IncidentId, times = 1) =>
  waitFor(`${id} to be looked at`, async () => {
    const looks = await looksOf(id);
    return looks.length >= times && looks;
  });
const comesTo = (id: IncidentId, ...states: readonly IncidentState[]) =>
  waitFor(
    `${id} to be ${states.join(', ')}`,
    async () => states.includes((await record(id)).incident.state),
    { seen: () => id },
  );
/** How many turns were ever asked for that look whether it is still so. */
async function asked(id: IncidentId): Promise<number> {
  const [row] = await core.sql<{ n: number }>`
    SELECT count(*)::int AS n FROM dbos.workflow_status s JOIN dbos.workflow_input i USING (workflow_uuid)
     WHERE s.queue_partition_key = ${id} AND i.inputs LIKE ${`%${STILL_SO_TURN}%`}`;
  return row?.n ?? 0;
}
const isQuiet = (id: IncidentId) =>
  waitFor(`the turns of ${id} to end`, async () => {
    const [row] = await core.sql<{ n: number }>`
      SELECT count(*)::int AS n FROM dbos.workflow_status
       WHERE queue_partition_key = ${id} AND (status IN ('ENQUEUED', 'PENDING') OR status = 'DELAYED'
              -- That its approval expires is waited for by nobody here.
              AND delay_until_epoch_ms < extract(epoch FROM clock_timestamp()) * 1000 + 60000)`;
    return row?.n === 0;
  });

let names = 0;
/** One of a group of its own, and so another can join it. */
const groupOf = (): Partial<Alert> => {
  names += 1;
  const name = `Box${names}`;
  return {
    name,
    group: { key: name, target: null },
    labels: { alertname: name, source_type: 'database', instance: 'box' },
  };
};
async function opened(alert: Alert, state: IncidentState): Promise<IncidentId> {
  const { incidentId } = await core.accept(alert);
  if (incidentId === null) throw new Error('not accepted');
  await comesTo(incidentId, state);
  return incidentId;
}
const reported = (alert = boxAlert(groupOf())) => opened(alert, 'reported');
function proposed(alert = boxAlert(groupOf())): Promise<IncidentId> {
  confidence = 0.97;
  return opened(alert, 'awaiting_approval').then(async (id) => {
    await waitFor('its turns to wait', async () => (await planOf(id))?.state === 'proposed');
    return id;
  });
}
const planOf = async (id: IncidentId) => (await record(id)).actions.at(-1);
const another = (alert: Alert, device: string): Alert =>
  boxAlert({ ...alert, ...fresh(), labels: { ...alert.labels, device } });
const fresh = () => {
  const { fingerprint, deliveryKey } = boxAlert();
  return { fingerprint, deliveryKey };
};

function change(id: string, over: Partial<Change> = {}): Promise<unknown> {
  const told = createRecordChange(core.sql, (tx, one) =>
    tellChange(tx, { records: core.records, targets }, one),
  );
  return told({
    source: 'generic',
    id,
    kind: 'deployment',
    state: 'succeeded',
    title: `release ${id}`,
    where: ['crate'],
    environment: null,
    startedAt: null,
    at: new Date().toISOString(),
    by: null,
    from: null,
    to: null,
    commits: [],
    url: null,
    ...over,
  });
}
/** No other incident may hear of a change of the box. */
const alone = () =>
  core.sql`UPDATE incident SET opened_at = opened_at - interval '8 days' WHERE state NOT IN ('resolved', 'ignored')`;
const slotsOf = async (id: IncidentId) => draw(await record(id), { threadUrl: () => null, approvers: null });
const linesOf = async (id: IncidentId) =>
  (await slotsOf(id)).filter(({ slot }) => slot.startsWith('looked:')).map(({ text }) => text);
const approve = async (id: IncidentId) => {
  const action = await planOf(id);
  if (!action) throw new Error('no plan');
  return core.approvals.decide({
    actionId: action.id,
    planHash: action.planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });
};

test('an alert that joins: one look, and nothing is new: a line on the root, and no message', async () => {
  const alert = boxAlert(groupOf());
  const id = await reported(alert);
  const before = (await slotsOf(id)).map(({ slot }) => slot);
  await core.accept(another(alert, 'b'));
  const [look] = await looked(id);
  await isQuiet(id);
  expect(await looksOf(id)).toHaveLength(1);
  expect(look).toMatchObject({
    outcome: 'same',
    seen: 'red',
    after: 'an alert',
    withdrew: false,
    again: false,
  });
  expect((await record(id)).incident).toMatchObject({ state: 'reported', round: 1 });
  expect((await slotsOf(id)).map(({ slot }) => slot).filter((slot) => !slot.startsWith('again:'))).toEqual(
    before,
  );
  expect(JSON.stringify((await slotsOf(id))[0])).toContain('Looked again at ');
  expect(why(await record(id))).toContain('looked again after an alert: It is still so.');
});

test('the same alert again is no news', async () => {
  const alert = boxAlert(groupOf());
  const id = await reported(alert);
  await core.accept({ ...alert, deliveryKey: fresh().deliveryKey });
  expect(await asked(id)).toBe(0);
});

test('one of several alerts that ends: one look; the end of all of them ends it', async () => {
  const alert = boxAlert(groupOf());
  const id = await reported(alert);
  const other = another(alert, 'b');
  await core.accept(other);
  await looked(id);
  await core.accept({ ...other, status: 'resolved', deliveryKey: fresh().deliveryKey });
  const [, look] = await looked(id, 2);
  expect(look).toMatchObject({ outcome: 'same', after: 'the end of one of its alerts' });
  await isQuiet(id);
  const before = await asked(id);
  await core.accept({ ...alert, status: 'resolved', deliveryKey: fresh().deliveryKey });
  await comesTo(id, 'resolved');
  expect(await asked(id)).toBe(before);
});

test('a change of the same object, by whatever it is called; not one of another, of long before, or that failed', async () => {
  await alone();
  const id = await reported();
  await change(`${id} other`, { where: ['another'] });
  await change(`${id} old`, { at: new Date(Date.now() - 3 * 60 * 60_000).toISOString() });
  await change(`${id} failed`, { state: 'failed' });
  expect(await asked(id)).toBe(0);
  await change(`${id} new`);
  const [look] = await looked(id);
  expect(look).toMatchObject({ outcome: 'same', after: 'a change' });
  expect(why(await record(id))).toContain(`changed since: release ${id} new`);
});

test('a change told 500 times, and 500 changes at once: one look each', async () => {
  await alone();
  const id = await reported();
  await Promise.all(Array.from({ length: 500 }, () => change(`${id} same`)));
  await looked(id);
  await isQuiet(id);
  expect(await looksOf(id)).toHaveLength(1);
  // However long it takes to tell them, they come before the look.
  pace.settleMs = 600_000;
  const before = await asked(id);
  await Promise.all(Array.from({ length: 500 }, (_, n) => change(`${id} ${n}`)));
  await isQuiet(id);
  // The turn that the first asks for, and the one that comes when all have settled.
  expect(await asked(id)).toBe(before + 2);
  pace.settleMs = 0;
  await core.engine.enqueueTurn(id, STILL_SO_TURN);
  await looked(id, 2);
  await isQuiet(id);
  expect(await looksOf(id)).toHaveLength(2);
  expect((await record(id)).events.filter(({ type }) => type === 'change.told').length).toBeLessThan(60);
}, 120_000);

test('the next look waits for its time, and for the next day', async () => {
  const alert = boxAlert(groupOf());
  const id = await reported(alert);
  await core.accept(another(alert, 'b'));
  await looked(id);
  await isQuiet(id);
  const delayed = async () => {
    const [row] = await core.sql<{ s: number }>`
      SELECT max(delay_until_epoch_ms)::float8 / 1000 - extract(epoch FROM clock_timestamp())::float8 AS s
        FROM dbos.workflow_status WHERE queue_partition_key = ${id} AND status = 'DELAYED'`;
    return row?.s ?? 0;
  };
  Object.assign(pace, { everyMs: 600_000 });
  await core.accept(another(alert, 'c'));
  await waitFor('a turn of later', async () => (await delayed()) > 500);
  Object.assign(pace, { everyMs: 0, aDay: 1 });
  await core.engine.enqueueTurn(id, STILL_SO_TURN);
  await waitFor('a turn of tomorrow', async () => (await delayed()) > 80_000);
  expect(await looksOf(id)).toHaveLength(1);
});

test('a hint while a fix waits for its approval: one look, its author may not approve, and the plan stands', async () => {
  const id = await proposed();
  expect(await core.steering.hint(id, 'UONCALL', 'the disk is full')).toMatchObject({ ok: true });
  const [look] = await looked(id);
  expect(look).toMatchObject({ outcome: 'same', after: 'a hint', withdrew: false });
  const { incident } = await record(id);
  expect(incident).toMatchObject({ state: 'awaiting_approval', requesters: ['UONCALL'] });
  expect((await planOf(id))?.state).toBe('proposed');
});

test('what was found has gone: one new line that says so and what it withdraws; nobody calls it fixed', async () => {
  await alone();
  const id = await proposed();
  machine.broken = false;
  await change(`${id} mended`);
  await comesTo(id, 'reported');
  await isQuiet(id);
  const { incident, events } = await record(id);
  expect(await planOf(id)).toMatchObject({ state: 'void' });
  expect(incident.verdict).toBeNull();
  expect(incident.nextStep).toMatch(/no longer there/);
  expect(events.filter(({ type }) => type === 'incident.looked')).toHaveLength(1);
  const lines = await linesOf(id);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /Looked again, after a change: What I found is no longer there.*What was asked for is withdrawn\./,
  );
  expect(await approve(id)).toMatchObject({ ok: false });
  expect(machine.effects).toBe(0);
  // It is there again: held against that look, and the cause is looked for again.
  machine.broken = true;
  confidence = 0.5;
  await change(`${id} broken again`);
  await waitFor('the next round', async () => (await record(id)).incident.round === 2);
  await comesTo(id, 'reported');
  expect((await looksOf(id)).at(-1)).toMatchObject({ outcome: 'changed', again: true, withdrew: false });
});

test('a read that fails: it says so, and takes nothing back', async () => {
  await alone();
  const id = await proposed();
  unreadable = true;
  await change(`${id} x`);
  const [look] = await looked(id);
  expect(look).toMatchObject({ outcome: 'could_not_look', seen: null });
  expect((await planOf(id))?.state).toBe('proposed');
  expect(JSON.stringify((await slotsOf(id))[0])).toContain('I could not tell whether it is still so.');
  expect(await linesOf(id)).toEqual([]);
});

test('stopped: it is looked at once it goes on; closed: never', async () => {
  await alone();
  const id = await reported();
  await core.steering.stop(id, 'UONCALL', '');
  await change(`${id} x`);
  expect(await asked(id)).toBe(0);
  await core.steering.resume(id, 'UONCALL');
  await looked(id);
  await isQuiet(id);
  const before = await asked(id);
  await core.steering.close(id, 'UONCALL', 'done');
  await change(`${id} y`);
  await core.engine.enqueueTurn(id, STILL_SO_TURN);
  await isQuiet(id);
  expect(await asked(id)).toBe(before + 1);
  expect(await looksOf(id)).toHaveLength(1);
  expect((await record(id)).incident.state).toBe('resolved');
});

test.each([
  ['is muted', "muted_by = 'M1'"],
  ['comes and goes', "flapping_until = clock_timestamp() + interval '1 hour'"],
  ['rests by the policy', "effort = 'triage'"],
  ['is a part of another', "merged_into = 'INC-0'"],
  ['is watched after its fix', "state = 'verifying'"],
  ['has its fix running', "state = 'remediating'"],
])('what %s takes no look', async (_, as) => {
  await alone();
  const id = await reported();
  const set = [`UPDATE incident SET ${as} WHERE id = '${id}'`] as unknown as TemplateStringsArray;
  await core.sql(Object.assign([...set], { raw: set }) as unknown as TemplateStringsArray);
  await change(`${id} x`);
  expect(await asked(id)).toBe(0);
  await core.sql`UPDATE incident SET state = 'resolved', ended_at = clock_timestamp() WHERE id = ${id}`;
});

test('an approval pressed at the moment of the look: one of the two holds, never both', async () => {
  for (const first of ['look', 'approval']) {
    await alone();
    const id = await proposed();
    machine.broken = false;
    let answer: Awaited<ReturnType<typeof approve>> | undefined;
    let pressed = false;
    meanwhile = async () => {
      if (pressed) return;
      pressed = true;
      if (first === 'approval') answer = await approve(id);
    };
    await change(`${id} x`);
    if (first === 'look') {
      await waitFor('the look to begin', async () => pressed);
      answer = await approve(id);
    }
    await comesTo(id, 'reported');
    await isQuiet(id);
    const plan = await planOf(id);
    expect(plan?.state).toBe('void');
    expect(machine.effects).toBe(0);
    const withdrew = (await looksOf(id)).some((each) => each.withdrew);
    expect(withdrew).toBe(answer?.ok !== true);
    Object.assign(machine, { broken: true });
    meanwhile = async () => null;
  }
});

test('a model is asked only where something was told that the reads do not answer, and its word re-opens the question', async () => {
  const alert = boxAlert(groupOf());
  const id = await proposed(alert);
  await core.accept(another(alert, 'b'));
  await looked(id);
  expect(questions).toEqual([]);
  answer = { verdict: 'stands', why: 'nothing' };
  await core.steering.hint(id, 'UONCALL', 'is it the disk?');
  expect((await looked(id, 2)).at(-1)).toMatchObject({ outcome: 'same', says: 'It is still so.' });
  expect(questions).toEqual([
    { cause: 'The box is broken.', told: ['A person: is it the disk?'], differences: [] },
  ]);
  expect((await planOf(id))?.state).toBe('proposed');
  answer = { verdict: 'falls', why: 'the disk is full' };
  confidence = 0.5;
  await core.steering.hint(id, 'UONCALL', 'it is the disk');
  const look = (await looked(id, 3)).at(-1);
  expect(look).toMatchObject({ outcome: 'changed', withdrew: true, again: true });
  expect(look?.says).toContain('Claude’s words: “the disk is full”');
  await comesTo(id, 'reported');
  await isQuiet(id);
  const { incident, actions, events } = await record(id);
  expect(incident).toMatchObject({ round: 2, verdict: null });
  expect(actions.map(({ state }) => state)).toEqual(['void']);
  expect(events.filter(({ type }) => type === 'action.void')).toHaveLength(1);
  expect((await linesOf(id)).join()).toContain(
    'What was asked for is withdrawn. I look for the cause again.',
  );
});

test('looked for again by a look at most three times a day: then people look', async () => {
  await alone();
  const id = await reported();
  answer = { verdict: 'falls', why: 'another' };
  for (let n = 1; n <= 4; n++) {
    await change(`${id} ${n}`);
    await looked(id, n);
    await isQuiet(id);
  }
  const looks = await looksOf(id);
  expect(looks.map(({ again }) => again)).toEqual([true, true, true, false]);
  expect((await record(id)).incident).toMatchObject({ state: 'reported', round: 4 });
});

/** An incident whose fix waits, driven turn by turn by hand. */
async function byHand() {
  const turn = createTurn(core);
  const alert = boxAlert(groupOf());
  const { incidentId: id } = await core.accept(alert);
  if (id === null) throw new Error('not accepted');
  for (const state of ['diagnosing', 'planning', 'awaiting_approval']) {
    await turn(id, 'moved', (_, fn) => fn());
    expect((await record(id)).incident.state).toBe(state);
  }
  return { id, alert, turn };
}

/** Steps that are killed once each: `before` their work begins, or `after` it is done and before anybody knows. */
function mortalSteps(dies: 'before' | 'after') {
  const known = new Map<string, unknown>();
  const died = new Set<string>();
  const killed = () => Object.assign(new Error('killed'), { code: 'ECONNREFUSED' });
  const durably = async <T>(name: string, fn: () => Promise<T>): Promise<T> => {
    if (known.has(name)) return known.get(name) as T;
    const isFirst = !died.has(name);
    died.add(name);
    if (isFirst && dies === 'before') throw killed();
    const result = await fn();
    if (isFirst) throw killed();
    known.set(name, result);
    return result;
  };
  return { durably, died };
}

test.each(['before', 'after'] as const)(
  'killed %s each step, and run again: paid for and said once',
  async (dies) => {
    await core.stop();
    confidence = 0.97;
    core = await createCore({
      url: database.url,
      tools: boxTools(machine),
      looksAgain: pace,
      targets: [...targets.values()],
      investigator,
      claude: { ...investigator, name: 'claude' },
    });
    const { id, turn } = await byHand();
    if (dies === 'before') answer = { verdict: 'falls', why: 'the disk' };
    else machine.broken = false;
    await core.steering.hint(id, 'UONCALL', 'it is the disk');
    expect(await asked(id)).toBe(1);
    const { durably, died } = mortalSteps(dies);
    for (let life = 0; life < 12; life++)
      await turn(id, STILL_SO_TURN, durably).then(
        () => null,
        () => null,
      );
    expect(died).toContain('say whether it is still so');
    expect(questions).toHaveLength(dies === 'before' ? 1 : 0);
    expect(await looksOf(id)).toHaveLength(1);
    expect(await linesOf(id)).toHaveLength(1);
    const { events, incident } = await record(id);
    expect(events.filter(({ type }) => type === 'action.void')).toHaveLength(1);
    expect(incident.state).toBe(dies === 'before' ? 'diagnosing' : 'reported');
    expect(await asked(id)).toBe(1);
  },
);
