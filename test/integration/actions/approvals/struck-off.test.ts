import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { refuse } from '../../../../src/core/errors.ts';
import { directoryOf } from '../../../support/directory.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { actionOf, auditBodies, createRig, decide, execute, propose, type Rig } from '../rig.ts';

/** Whose approval counts is asked again at the second press and at the run. */
const path = join(scratchDir(), 'policy.yaml');
const users = ['UONCALL', 'USECOND', 'UTHIRD'];
let members: readonly string[] | Error;
let gone: readonly string[];
let asked: number;
let versions = 0;
let rig: Rig;

function rule(approvals: number, approvers: readonly string[]): void {
  versions += 1;
  const list = JSON.stringify(approvers);
  writeFileSync(
    path,
    `rules: [{name: some, approvals: ${approvals}, approvers: ${list}}]\n${'#'.repeat(versions)}\n`,
  );
}

beforeAll(async () => {
  rule(1, users);
  rig = await createRig({
    policyPath: path,
    directory: directoryOf({
      async groupMembers() {
        asked += 1;
        if (members instanceof Error) throw members;
        return members;
      },
      mayAct: async (user) =>
        gone.includes(user) ? refuse('IS_BOT', 'Only people can do that.') : { ok: true },
    }),
  });
});
beforeEach(async () => {
  members = users;
  gone = [];
  asked = 0;
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  await rig.core.sql`UPDATE action SET state = 'failed', tool_call_id = NULL`;
});
afterAll(() => rig.stop());

it('whoever is taken out of the rule before the second press is not the first of two [F6]', async () => {
  rule(2, users);
  const action = await propose(rig);
  await decide(rig, action, 'approve', 'UONCALL');
  rule(2, ['USECOND', 'UTHIRD']);
  expect(await decide(rig, action, 'approve', 'USECOND')).toMatchObject({
    ok: true,
    action: { state: 'proposed', approvedBy: ['USECOND'] },
  });
  expect((await auditBodies(rig)).at(-1)).toMatchObject({
    kind: 'approval.decided',
    details: { count: 1, needed: 2, struck: ['UONCALL'] },
  });
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run' });
});

it('two who may after all are two, whoever was struck off between them [F6]', async () => {
  rule(2, users);
  const action = await propose(rig);
  await decide(rig, action, 'approve', 'UONCALL');
  rule(2, ['USECOND', 'UTHIRD']);
  await decide(rig, action, 'approve', 'USECOND');
  expect(await decide(rig, action, 'approve', 'UTHIRD')).toMatchObject({ action: { state: 'approved' } });
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
});

it('whoever is taken out between the press and the run has approved nothing [F6]', async () => {
  rule(1, users);
  const action = await propose(rig);
  await decide(rig, action);
  rule(1, ['USECOND']);
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', why: 'void', code: 'NOT_APPROVED' });
  expect(rig.machine.effects).toBe(0);
});

it('one of two who is taken out of the group before the run is missing [F6]', async () => {
  rule(2, ['group:oncall']);
  const action = await propose(rig);
  await decide(rig, action, 'approve', 'UONCALL');
  expect(await decide(rig, action, 'approve', 'USECOND')).toMatchObject({ action: { state: 'approved' } });
  members = ['USECOND', 'UTHIRD'];
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
  expect(rig.machine.effects).toBe(0);
});

it('whose account is gone or became a guest’s has approved nothing, also where the rule names them [F6]', async () => {
  rule(1, users);
  const action = await propose(rig);
  await decide(rig, action);
  gone = ['UONCALL'];
  expect(await decide(rig, await propose(rig), 'approve', 'UONCALL')).toMatchObject({ code: 'IS_BOT' });
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
});

it('while Slack cannot say who may, it waits, and runs or not by what Slack says then [F6]', async () => {
  rule(1, ['group:oncall']);
  const action = await propose(rig);
  await decide(rig, action);
  members = new Error('the network is away');
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'later' });
  expect((await actionOf(rig, action.id)).state).toBe('approved');
  members = users;
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
});

it('the second press counts nobody while Slack cannot say [F6]', async () => {
  rule(2, ['group:oncall', 'USECOND']);
  const action = await propose(rig);
  await decide(rig, action, 'approve', 'UONCALL');
  members = new Error('the network is away');
  expect(await decide(rig, action, 'approve', 'USECOND')).toMatchObject({ code: 'APPROVERS_UNKNOWN' });
  expect((await actionOf(rig, action.id)).approvedBy).toEqual(['UONCALL']);
});

it('the group is asked at every decision [F6]', async () => {
  rule(1, ['group:oncall']);
  const action = await propose(rig);
  await decide(rig, action);
  const atPress = asked;
  expect(atPress).toBeGreaterThan(0);
  await execute(rig, action.id);
  expect(asked).toBeGreaterThan(atPress);
});
