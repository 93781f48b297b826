import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takeDenialBack } from '../../../src/actions/approvals/take-back.ts';
import type { Action } from '../../../src/core/action.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';

/** A plan of several steps, of which each person may decide some: no way round the rule of a step. */
const POLICY = `rules:
  - {name: book, runbooks: [risky], approvals: 2, self_approval: false}
  - {name: burning, tools: [part_burn], approvers: [USECOND], self_approval: false}
  - {name: mend, tools: [part_mend], approvers: [UJUNIOR, USECOND]}
  - {name: all, approvers: [UONCALL, USECOND]}
`;

let rig: PlansRig;
beforeAll(async () => {
  const path = join(scratchDir(), 'policy.yaml');
  writeFileSync(path, POLICY);
  rig = await startPlansRig({ policyPath: path });
});
afterAll(() => rig.stop());

const click = ([first]: readonly Action[], by: string) => ({
  actionId: first?.id as Action['id'],
  planHash: first?.planHash ?? '',
  by,
});
const decide = (plan: readonly Action[], by: string, decision: 'approve' | 'deny') =>
  rig.core.approvals.decide({ ...click(plan, by), decision, reason: '', anotherWay: false });

test('an argument that one person changes does not leave the rule of its runbook behind', async () => {
  const plan = await rig.propose(['part_do a'], undefined, 'risky');
  expect(await decide(plan, 'UONCALL', 'approve')).toMatchObject({ ok: true });
  expect(await rig.edits.save(click(plan, 'UONCALL'), { 1: { size: '4' } })).toMatchObject({
    ok: false,
    code: 'EASIER_RULE',
  });
  expect(await rig.states(plan)).toEqual(['proposed']);
});

test('who may say no to one step of a plan says no elsewhere to that step alone', async () => {
  const burn = await rig.propose(['part_burn c'], rig.target('sys1'));
  expect(await decide(burn, 'UJUNIOR', 'deny')).toMatchObject({ ok: false, code: 'NOT_AN_APPROVER' });
  const plan = await rig.propose(['part_mend b', 'part_burn c'], rig.target('sys1'));
  expect(await decide(plan, 'UJUNIOR', 'deny')).toMatchObject({ ok: true });
  expect(await rig.states(plan)).toEqual(['denied', 'skipped']);
  expect(await rig.states(burn)).toEqual(['proposed']);
});

test('another’s No to a plan is taken back by who may approve every step of it alone', async () => {
  const plan = await rig.propose(['part_mend d', 'part_burn e'], rig.target('sys2'));
  expect(await decide(plan, 'USECOND', 'deny')).toMatchObject({ ok: true });
  expect(await takeDenialBack({ ...rig.core }, click(plan, 'UJUNIOR'))).toMatchObject({
    ok: false,
    code: 'NOT_AN_APPROVER',
  });
  expect(await takeDenialBack({ ...rig.core }, click(plan, 'USECOND'))).toMatchObject({ ok: true });
});
