import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../../src/core/action.ts';
import { boxAlert, boxInvestigator, boxTools, createCore } from '../../../support/core.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';
import {
  actionOf,
  auditBodies,
  call,
  createRig,
  decide,
  execute,
  openIncident,
  type Rig,
  typed,
} from '../rig.ts';

const path = join(scratchDir(), 'policy.yaml');
const policy = (more = '{after: 3, actions: 2, minutes: 60, veto_minutes: 2}') =>
  `rules: [{name: earned, tools: [box_mend], runbooks: [box], autonomy: ${more}}, {name: rest}]\n`;
let rig: Rig;
/** What the runbook says. */
let runbook = 'version 1';
beforeAll(async () => {
  writeFileSync(path, policy());
  rig = await createRig({
    policyPath: path,
    gate: { runbookVersion: (id) => (id === 'box' ? runbook : null) },
  });
});
beforeEach(async () => {
  runbook = 'version 1';
  writeFileSync(path, policy());
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  await rig.core.sql`DELETE FROM incident`;
  await rig.core.sql`DELETE FROM denial`;
});
afterAll(() => rig.stop());

async function propose(runbookId: string | null = 'box', how = 'the same way'): Promise<Action> {
  const result = await call(rig, 'surgeon', await openIncident(rig), {
    tool: 'box_mend',
    target: 'box',
    input: { how },
    proposal: { why: 'It helps.', runbookId, verify: null },
  });
  if (result.kind !== 'proposed') throw new Error(JSON.stringify(result));
  return actionOf(rig, result.actionId);
}

/** One that a person approved, that ran, and that ended so. */
async function done(verdict: string, runbookId: string | null = 'box', how?: string): Promise<Action> {
  const action = await propose(runbookId, how);
  await decide(rig, action);
  await execute(rig, action.id);
  await verified(action, verdict);
  return action;
}
const verified = ({ incidentId, round }: Action, verdict: string) =>
  rig.core.sql`INSERT INTO event (incident_id, type, body)
               VALUES (${incidentId}, 'verification.concluded', ${rig.core.sql.json({ round, verdict, reason: '' })})`;
async function earn(count = 3): Promise<void> {
  for (let n = 0; n < count; n += 1) await done('fixed');
}
/** As if its veto time had passed. */
const wait = ({ id }: Action) =>
  rig.core.sql`UPDATE action SET autonomous_at = clock_timestamp() - interval '1 second' WHERE id = ${id}`;

test('after as many approved successes as the rule asks for it runs by itself, once its veto time has passed', async () => {
  await earn(2);
  expect((await propose()).autonomousAt).toBeNull();
  await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
  await done('fixed');
  const action = await propose();
  expect(Date.parse(action.autonomousAt ?? '') - Date.parse(action.proposedAt)).toBeGreaterThan(110_000);
  expect(await rig.core.approvals.approveEarned(action.id)).toBe(false);
  expect((await actionOf(rig, action.id)).state).toBe('proposed');
  await wait(action);
  expect(await rig.core.approvals.approveEarned(action.id)).toBe(true);
  const before = rig.machine.effects;
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
  expect(rig.machine.effects).toBe(before + 1);
  expect(await actionOf(rig, action.id)).toMatchObject({
    decidedBy: 'policy',
    decisionReason: expect.stringContaining('3 approved successes of box'),
  });
  expect((await auditBodies(rig)).findLast((entry) => entry['kind'] === 'approval.decided')).toMatchObject({
    actor: 'policy',
    details: { action: action.id, rule: 'earned', planHash: action.planHash },
  });
});

test('somebody’s Deny in that time is a veto, and it is asked for again from the start', async () => {
  await earn();
  const action = await propose();
  await decide(rig, action, 'deny');
  await wait(action);
  expect(await rig.core.approvals.approveEarned(action.id)).toBe(false);
  expect((await propose()).autonomousAt).toBeNull();
});

test('not while its incident is stopped, however late it was proposed', async () => {
  await earn();
  const action = await propose();
  await wait(action);
  const set = (state: string) =>
    rig.core
      .sql`UPDATE incident SET state = ${state}, stopped_from = 'awaiting_approval' WHERE id = ${action.incidentId}`;
  await set('stopped');
  expect(await rig.core.approvals.approveEarned(action.id)).toBe(false);
  expect((await actionOf(rig, action.id)).state).toBe('proposed');
  await set('awaiting_approval');
  expect(await rig.core.approvals.approveEarned(action.id)).toBe(true);
});

test.each([
  ['to the act, as it is when nobody says more', {}],
  ['to the thing', { reach: { scope: 'object', minutes: 60 } as const }],
])('never over a person’s No, whenever it was said and whoever said it of what, %s', async (_, reach) => {
  const deny = async () => {
    const other = await propose(null);
    const answer = await rig.core.approvals.decide({
      actionId: other.id,
      planHash: other.planHash,
      by: 'UONCALL',
      decision: 'deny',
      reason: 'I am at it',
      anotherWay: false,
      ...reach,
    });
    expect(answer).toMatchObject({ ok: true });
  };
  await earn();
  // Before: it is asked for like anything else, with the No on its card.
  await deny();
  expect(await propose()).toMatchObject({ autonomousAt: null, denialsAcknowledged: [expect.any(String)] });
  await rig.core.sql`DELETE FROM denial`;
  await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
  // While it waits for its time.
  const waiting = await propose();
  expect(waiting.autonomousAt).not.toBeNull();
  await deny();
  expect(await actionOf(rig, waiting.id)).toMatchObject({ state: 'void' });
  await typed(rig, `UPDATE action SET state = 'proposed' WHERE id = '${waiting.id}'`);
  await wait(waiting);
  expect(await rig.core.approvals.approveEarned(waiting.id)).toBe(false);
  // After the rule had approved it.
  await rig.core.sql`DELETE FROM denial`;
  await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
  const approved = await propose();
  await wait(approved);
  expect(await rig.core.approvals.approveEarned(approved.id)).toBe(true);
  await deny();
  await typed(rig, `UPDATE action SET state = 'approved' WHERE id = '${approved.id}'`);
  const before = rig.machine.effects;
  expect(await execute(rig, approved.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
  expect(rig.machine.effects).toBe(before);
});

test('somebody’s Approve in that time runs it at once, as theirs', async () => {
  await earn();
  const action = await propose();
  expect(await decide(rig, action)).toMatchObject({
    ok: true,
    action: { state: 'approved', decidedBy: 'UONCALL' },
  });
});

describe('it falls back to asking after one', () => {
  test.each(['not_fixed', 'cannot_tell'])('that was verified as %s', async (verdict) => {
    await earn();
    await done(verdict);
    expect((await propose()).autonomousAt).toBeNull();
    await earn(2);
    expect((await propose()).autonomousAt).toBeNull();
    await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
    await done('fixed');
    expect((await propose()).autonomousAt).not.toBeNull();
  });

  test('that failed while another one already stands to run: that one asks, too', async () => {
    await earn();
    const action = await propose();
    await done('not_fixed');
    await wait(action);
    expect(await rig.core.approvals.approveEarned(action.id)).toBe(false);
    expect(await actionOf(rig, action.id)).toMatchObject({ state: 'proposed', autonomousAt: null });
    expect(await decide(rig, action)).toMatchObject({ ok: true });
  });

  test('that failed between its approval and its run', async () => {
    await earn();
    const action = await propose();
    await wait(action);
    await rig.core.approvals.approveEarned(action.id);
    const before = rig.machine.effects;
    await done('not_fixed');
    expect(await execute(rig, action.id)).toMatchObject({
      kind: 'not_run',
      why: 'void',
      code: 'NOT_APPROVED',
    });
    expect(rig.machine.effects).toBe(before + 1);
  });
});

test('no more than the rule’s rate, however many stand at once', async () => {
  await earn();
  const actions = [];
  for (let n = 0; n < 5; n += 1) actions.push(await propose());
  for (const action of actions) await wait(action);
  const answers = await Promise.all(actions.map(({ id }) => rig.core.approvals.approveEarned(id)));
  expect(answers.filter(Boolean)).toHaveLength(2);
});

test('what ran by itself does not add to what is earned', async () => {
  await earn();
  for (let n = 0; n < 2; n += 1) {
    const action = await propose();
    await wait(action);
    await rig.core.approvals.approveEarned(action.id);
    await execute(rig, action.id);
    await verified(action, 'fixed');
  }
  writeFileSync(path, policy('{after: 4, actions: 9, minutes: 60, veto_minutes: 2}'));
  expect((await propose()).autonomousAt).toBeNull();
});

test('not when the rule lets nobody approve at that hour, neither when it is proposed nor when its time has come', async () => {
  await earn();
  const standing = await propose();
  expect(standing.autonomousAt).not.toBeNull();
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const inTwoDays = days[(new Date().getUTCDay() + 2) % 7];
  const hours = `hours: {days: [${inTwoDays}], from: "00:00", to: "23:59", timezone: UTC}`;
  writeFileSync(path, policy().replace('autonomy:', `${hours}, autonomy:`));
  await wait(standing);
  expect(await rig.core.approvals.approveEarned(standing.id)).toBe(false);
  expect((await actionOf(rig, standing.id)).autonomousAt).toBeNull();
  await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
  expect((await propose()).autonomousAt).toBeNull();
});

test('not for another runbook, none, another rule, nor without the rule', async () => {
  await earn();
  expect((await propose('other')).autonomousAt).toBeNull();
  expect((await propose(null)).autonomousAt).toBeNull();
  const action = await propose();
  await wait(action);
  writeFileSync(path, 'rules: [{name: all}] # none of it any more\n');
  expect(await rig.core.approvals.approveEarned(action.id)).toBe(false);
  expect((await propose()).autonomousAt).toBeNull();
});

test('a time, a state or a name written into the table by hand runs nothing', async () => {
  const action = await propose();
  await wait(action);
  expect(await rig.core.approvals.approveEarned(action.id)).toBe(false);
  await earn();
  const later = await propose();
  await typed(rig, `UPDATE action SET state = 'approved', decided_by = 'policy' WHERE id = '${later.id}'`);
  expect(await execute(rig, later.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
});

test('nobody can press in the policy’s name', async () => {
  const action = await propose();
  expect(await decide(rig, action, 'approve', 'policy')).toMatchObject({
    ok: false,
    code: 'NOT_AN_APPROVER',
  });
});

test('an incident whose fix has earned it is resolved with nobody pressing anything', async () => {
  await rig.core.sql`DELETE FROM incident`;
  const machine = { broken: true, generation: 1, effects: 0, helps: true };
  const own = join(scratchDir(), 'policy.yaml');
  writeFileSync(own, policy('{after: 1, actions: 5, minutes: 60, veto_minutes: 1}'));
  const core = await createCore({
    url: rig.database.url,
    tools: boxTools(machine),
    policyPath: own,
    investigator: {
      ...boxInvestigator,
      plan: async (work) => {
        const proposed = await work.durably('propose', () =>
          work.callTool({
            tool: 'box_mend',
            target: 'box',
            input: { how: 'the same way' },
            proposal: { why: 'It mends it.', runbookId: 'box', verify: null },
          }),
        );
        if (proposed.kind !== 'proposed') throw new Error(JSON.stringify(proposed));
        return { kind: 'proposed', actionId: proposed.actionId };
      },
    },
  });
  await core.start();
  try {
    const resolved = async (presses: boolean) => {
      machine.broken = true;
      const { incidentId } = await core.accept(boxAlert());
      if (incidentId === null) throw new Error('no incident');
      const action = await waitFor('a proposal', async () => {
        const [now] = (await core.records.load(incidentId))?.actions ?? [];
        return (await core.records.incident(incidentId))?.state === 'awaiting_approval' ? now : undefined;
      });
      expect(action.autonomousAt === null).toBe(presses);
      if (presses) await decide({ core }, action);
      else {
        // Its veto time passes; its turn is due then.
        await wait(action);
        await core.sql`SELECT sentry_enqueue_turn(${incidentId}, 'unasked')`;
      }
      await waitFor('the end', async () => (await core.records.incident(incidentId))?.state === 'resolved');
      return (await core.records.action(action.id))?.decidedBy;
    };
    expect(await resolved(true)).toBe('UONCALL');
    expect(await resolved(false)).toBe('policy');
    expect(machine.effects).toBe(2);
  } finally {
    await core.stop();
  }
});

describe('what is earned is earned for the very same', () => {
  test('and not for other arguments of the same tool and runbook [F7]', async () => {
    await earn();
    expect((await propose('box', 'rm -rf everything, never seen before')).autonomousAt).toBeNull();
    await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
    expect((await propose()).autonomousAt).not.toBeNull();
  });

  test('nor by three that were each another [F7]', async () => {
    for (const how of ['one', 'two', 'three']) await done('fixed', 'box', how);
    for (const how of ['one', 'two', 'three', 'four']) {
      expect((await propose('box', how)).autonomousAt).toBeNull();
      await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
    }
  });

  test('nor for another version of the runbook, whenever it is changed [F7]', async () => {
    await earn();
    runbook = 'version 2';
    expect((await propose()).autonomousAt).toBeNull();
    await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
    runbook = 'version 1';
    const action = await propose();
    await wait(action);
    expect(await rig.core.approvals.approveEarned(action.id)).toBe(true);
    // After the rule's word and before the run.
    runbook = 'version 2';
    const before = rig.machine.effects;
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
    expect(rig.machine.effects).toBe(before);
  });

  test('nor for what no known runbook proposes, whatever it calls itself [F7]', async () => {
    await earn();
    for (const runbookId of [null, 'boxes', 'BOX', '']) {
      const action = await propose(runbookId);
      expect(action).toMatchObject({ autonomousAt: null, autonomyKey: null });
      await rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;
    }
  });

  test('nor from rows that somebody wrote: successes that nobody signed [F7] [F10]', async () => {
    await earn();
    await rig.core.sql`UPDATE action SET approval_seqs = '{}', approval_seq = NULL`;
    expect((await propose()).autonomousAt).toBeNull();
  });
});
