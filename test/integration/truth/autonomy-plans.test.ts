import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mayRunUnasked } from '../../../src/actions/policy/autonomy.ts';
import type { Action } from '../../../src/core/action.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';

/** Plans that a rule lets run unasked: never more than it lets, never what a person said No to or took back. */
const RUNBOOK = 'mend-parts';
const rules = (doing = 1, burning = 1): string => `rules:
  - {name: doing, tools: [part_do], runbooks: [${RUNBOOK}], autonomy: {after: 1, actions: ${doing}, minutes: 60, veto_minutes: 1}}
  - {name: burning, tools: [part_burn], runbooks: [${RUNBOOK}], autonomy: {after: 1, actions: ${burning}, minutes: 60, veto_minutes: 2}}
  - {name: rest}
`;
const path = join(scratchDir(), 'policy.yaml');
let rig: PlansRig;
/** A system of each test's own, on which nothing has been earned. */
let target: string;
let parts = 0;
beforeAll(async () => {
  writeFileSync(path, rules());
  rig = await startPlansRig({ policyPath: path });
});
afterAll(() => rig.stop());
beforeEach(() => {
  writeFileSync(path, rules());
  target = rig.target();
  rig.world.ran.length = 0;
  rig.world.parts.clear();
});

const judged = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating', 'verifying'].includes(state);
const head = ([first]: readonly Action[]): Action => {
  if (!first) throw new Error('no plan');
  return first;
};

/** A plan of a runbook's own: each tool on a part of its own. */
function propose(...tools: readonly string[]): Promise<readonly Action[]> {
  const steps = tools.map((tool) => {
    parts += 1;
    return `${tool} p${parts}`;
  });
  return rig.propose(steps, target, RUNBOOK);
}

async function earn(...tools: readonly string[]): Promise<readonly Action[]> {
  const plan = await propose(...tools);
  await rig.approve(plan);
  await rig.drive(plan, judged);
  expect(await rig.stateOf(head(plan).incidentId)).toBe('resolved');
  rig.world.ran.length = 0;
  return plan;
}

/** Its veto time has passed. */
async function unasked(plan: readonly Action[]): Promise<boolean> {
  const { id } = head(plan);
  await rig.core
    .sql`UPDATE action SET autonomous_at = clock_timestamp() WHERE id = ${id} AND autonomous_at IS NOT NULL`;
  return rig.core.approvals.approveEarned(id);
}
/** Milliseconds from the proposal on; null: it waits for people. */
const veto = async (plan: readonly Action[]): Promise<number | null> => {
  const { autonomousAt, proposedAt } = head(await rig.steps(plan));
  return autonomousAt === null ? null : Date.parse(autonomousAt) - Date.parse(proposedAt);
};
const deny = (plan: readonly Action[], scope: 'object' | 'action' = 'action') => {
  const { id: actionId, planHash } = head(plan);
  const reach = { scope, minutes: null } as const;
  const no = { decision: 'deny', by: 'UONCALL', reason: '', anotherWay: false } as const;
  return rig.core.approvals.decide({ actionId, planHash, reach, ...no });
};
const withdraw = () => rig.core.sql`UPDATE action SET state = 'void' WHERE state = 'proposed'`;

describe('a plan of which every step has earned it', () => {
  test('stands for the longest of their veto times, and then runs whole, as the policy’s', async () => {
    await earn('part_do', 'part_burn');
    const plan = await propose('part_do', 'part_burn');
    expect(await veto(plan)).toBeGreaterThan(110_000);
    expect(await rig.core.approvals.approveEarned(head(plan).id)).toBe(false);
    expect(await unasked(plan)).toBe(true);
    await rig.drive(plan, judged);
    expect(rig.world.ran).toHaveLength(2);
    expect((await rig.steps(plan)).map(({ decidedBy }) => decidedBy)).toEqual(['policy', 'policy']);
  });

  test('asks where one of them has not, or where a tool is in it twice', async () => {
    await earn('part_do');
    expect(await veto(await propose('part_do', 'part_burn'))).toBeNull();
    await withdraw();
    writeFileSync(path, rules(9));
    expect(await veto(await propose('part_do', 'part_do'))).toBeNull();
    await withdraw();
    expect(await veto(await propose('part_do'))).not.toBeNull();
  });

  test('asks where the person approving is the one thing that was right: another runbook, or none', async () => {
    await earn('part_do', 'part_burn');
    expect(await veto(await rig.propose(['part_do x', 'part_burn y'], target, 'another'))).toBeNull();
    await withdraw();
    expect(await veto(await rig.propose(['part_do x', 'part_burn y'], target))).toBeNull();
  });

  test('never where somebody changed the rows that earned it: the plan is not the one that was signed [F7]', async () => {
    const [first] = await earn('part_do');
    if (!first) throw new Error('no step');
    const autonomy = { after: 1, atMost: { actions: 9, minutes: 60 }, vetoMinutes: 1 };
    const { sql: tx, seal } = rig.core;
    const asked = { ...first, planId: asActionId('act_new') };
    expect(await mayRunUnasked({ tx, seal }, asked, autonomy)).toBe(true);
    await tx`UPDATE action SET autonomy_key = 'mine' WHERE id = ${first.id}`;
    expect(await mayRunUnasked({ tx, seal }, { ...asked, autonomyKey: 'mine' }, autonomy)).toBe(false);
    await tx`UPDATE action SET autonomy_key = ${first.autonomyKey}, tool = 'part_burn' WHERE id = ${first.id}`;
    expect(await mayRunUnasked({ tx, seal }, { ...asked, tool: 'part_burn' }, autonomy)).toBe(false);
  });
});

describe('no more than the rule’s rate', () => {
  test('counts a later step from the approval of its plan on', async () => {
    await earn('part_do', 'part_burn');
    const [plan, single] = [await propose('part_do', 'part_burn'), await propose('part_burn')];
    expect(await unasked(plan)).toBe(true);
    expect(await unasked(single)).toBe(false);
    expect(await veto(single)).toBeNull();
  });

  test('counts a single action for a plan that has the tool later on', async () => {
    await earn('part_do', 'part_burn');
    const [plan, single] = [await propose('part_do', 'part_burn'), await propose('part_burn')];
    expect(await unasked(single)).toBe(true);
    expect(await unasked(plan)).toBe(false);
  });

  test('holds when both come at once, in whichever place of a plan the tool is', async () => {
    await earn('part_do', 'part_burn');
    writeFileSync(path, rules(99));
    for (let round = 0; round < 8; round += 1) {
      const waiting = [
        await propose('part_do', 'part_burn'),
        await propose('part_burn'),
        await propose('part_burn', 'part_do'),
      ];
      const answers = await Promise.all(waiting.map(unasked));
      expect({ round, approved: answers.filter(Boolean).length }).toEqual({ round, approved: 1 });
      await rig.core.sql`UPDATE action SET state = 'void', decided_by = NULL WHERE state = 'approved'`;
      await withdraw();
    }
  });

  test('ends a plan between two steps where its rule is taken away', async () => {
    await earn('part_do', 'part_burn');
    const plan = await propose('part_do', 'part_burn');
    expect(await unasked(plan)).toBe(true);
    await rig.turn(head(plan).incidentId);
    writeFileSync(path, 'rules: [{name: rest}]\n');
    await rig.drive(plan, judged);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped']);
    expect(rig.world.ran).toHaveLength(1);
  });

  test('holds at the claim as well, for a step whose plan was approved before the rule was tightened', async () => {
    await earn('part_do', 'part_burn');
    writeFileSync(path, rules(2, 2));
    const [one, two] = [await propose('part_do', 'part_burn'), await propose('part_do', 'part_burn')];
    expect([await unasked(one), await unasked(two)]).toEqual([true, true]);
    writeFileSync(path, rules(2, 1));
    await rig.drive(two, judged);
    expect(rig.world.ran).toEqual([]);
    expect(await rig.states(two)).toEqual(['void', 'skipped']);
  });
});

describe('a person’s word', () => {
  test('Deny in the veto time is one to every step: each has to earn it again', async () => {
    await earn('part_do', 'part_burn');
    const plan = await propose('part_do', 'part_burn');
    expect(await deny(plan)).toMatchObject({ ok: true });
    expect(await unasked(plan)).toBe(false);
    for (const tool of ['part_do', 'part_burn']) {
      expect({ tool, veto: await veto(await propose(tool)) }).toEqual({ tool, veto: null });
      await withdraw();
    }
  });

  test('a No elsewhere to what its last step touches takes it back', async () => {
    await earn('part_do', 'part_burn');
    const plan = await propose('part_do', 'part_burn');
    const [part = ''] = (await rig.steps(plan)).slice(1).map(({ command }) => command.split(' ')[1]);
    const other = await rig.propose([`part_undo ${part}`], target);
    expect(await deny(other, 'object')).toMatchObject({ ok: true });
    expect(await rig.states(plan)).toEqual(['void', 'skipped']);
    expect(await unasked(plan)).toBe(false);
  });

  test('an undo of one of its steps takes what that step’s tool had earned, and so the plan’s', async () => {
    const plan = await earn('part_do', 'part_burn');
    const { id: actionId, planHash, incidentId } = head(plan);
    expect(await rig.undo.press({ actionId, planHash, by: 'UONCALL' })).toMatchObject({ ok: true });
    await rig.turn(incidentId, 'undo');
    expect(await veto(await propose('part_do', 'part_burn'))).toBeNull();
    await withdraw();
    expect(await veto(await propose('part_burn'))).not.toBeNull();
  });

  test('the rest of a plan, asked for by a person, waits for a person', async () => {
    await earn('part_do', 'part_burn');
    const plan = await propose('part_do', 'part_burn');
    await rig.approve(plan);
    await rig.turn(head(plan).incidentId);
    for (const part of rig.world.parts.values()) part.generation += 1;
    await rig.drive(plan, judged);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped']);
    await rig.core.sql`UPDATE incident SET state = 'reported' WHERE id = ${head(plan).incidentId}`;
    // Nothing that went wrong stands against it by itself.
    await rig.core
      .sql`DELETE FROM event WHERE incident_id = ${head(plan).incidentId} AND type = 'verification.concluded'`;
    const { id: actionId, planHash } = head(plan);
    expect(await rig.mind.runRest({ actionId, planHash, by: 'UONCALL' })).toMatchObject({ ok: true });
    const [rest] = ((await rig.core.records.load(head(plan).incidentId))?.actions ?? []).filter(
      ({ state }) => state === 'proposed',
    );
    expect(rest).toMatchObject({ tool: 'part_burn', autonomousAt: null });
  });
});
