import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApprovals } from '../../../src/actions/approvals/approvals.ts';
import { createApprovalPolicy } from '../../../src/actions/policy/policy.ts';
import type { Action } from '../../../src/core/action.ts';
import type { Principal } from '../../../src/core/principal.ts';
import { directoryOf } from '../../support/directory.ts';
import { actionOf, auditBodies, createRig, openIncident, propose, type Rig, SECRET } from './rig.ts';

let rig: Rig;
let members: readonly string[] | Error;
beforeAll(async () => {
  rig = await createRig();
});
beforeEach(() => {
  members = ['UONCALL', 'USECOND'];
});
afterAll(() => rig.stop());

const oncall: Principal = { kind: 'group', name: 'oncall' };

async function press(
  action: Action,
  by: string,
  options: {
    readonly approvers?: readonly Principal[];
    readonly decision?: 'approve' | 'deny';
    readonly reason?: string;
  } = {},
) {
  const ask = async (): Promise<readonly string[]> => {
    if (members instanceof Error) throw members;
    return members;
  };
  const policy = createApprovalPolicy({
    approvers: options.approvers ?? [oncall],
    admins: [],
    directory: directoryOf({ groupMembers: ask, channelMembers: ask }),
  });
  const { sql, records, audit, seal } = rig.core;
  return createApprovals({ sql, records, policy, audit, seal }).decide({
    actionId: action.id,
    planHash: action.planHash,
    by,
    decision: options.decision ?? 'approve',
    reason: options.reason ?? '',
    anotherWay: false,
  });
}

describe('whoever may not approve does not', () => {
  test('nobody, where nobody is configured', async () => {
    expect(await press(await propose(rig), 'UONCALL', { approvers: [] })).toMatchObject({
      code: 'NO_APPROVERS',
    });
  });

  test('a stranger, a look-alike and the empty name', async () => {
    const action = await propose(rig);
    for (const by of ['USTRANGER', 'uoncall', 'UONCALL ', '', 'UONCALL,USECOND'])
      expect(await press(action, by)).toMatchObject({ ok: false, code: 'NOT_AN_APPROVER' });
    expect((await actionOf(rig, action.id)).state).toBe('proposed');
  });

  test('somebody who was taken out of the group since the card was shown', async () => {
    const action = await propose(rig);
    members = ['USECOND'];
    expect(await press(action, 'UONCALL')).toMatchObject({ ok: false, code: 'NOT_AN_APPROVER' });
  });

  test('anybody, while the group cannot be asked', async () => {
    const action = await propose(rig);
    members = new Error('missing_scope');
    expect(await press(action, 'UONCALL')).toMatchObject({ ok: false, code: 'APPROVERS_UNKNOWN' });
    expect((await actionOf(rig, action.id)).state).toBe('proposed');
    // Who is named needs no asking.
    expect(
      await press(action, 'UONCALL', { approvers: [oncall, { kind: 'user', id: 'UONCALL' }] }),
    ).toMatchObject({ ok: true });
  });

  const risky = { tool: 'risky_mend', target: 'box', input: { n: 1 } };

  test('for high risk: whoever asked for it, in whichever way the row is dressed', async () => {
    const incidentId = await openIncident(rig);
    await rig.core.sql`UPDATE incident SET requesters = ARRAY['UONCALL'] WHERE id = ${incidentId}`;
    const action = await propose(rig, risky, incidentId);
    expect(action.risk).toBe('high');
    expect(await press(action, 'UONCALL')).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    await rig.core.sql`UPDATE action SET risk = 'none at all' WHERE id = ${action.id}`;
    expect(await press(action, 'UONCALL')).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    expect(await press(action, 'USECOND')).toMatchObject({ ok: true });
  });

  test('for high risk: whoever becomes its requester while the press is on its way', async () => {
    const incidentId = await openIncident(rig);
    const action = await propose(rig, risky, incidentId);
    const { sql, records, audit } = rig.core;
    let asked = 0;
    const policy = createApprovalPolicy({
      approvers: [oncall],
      admins: [],
      directory: directoryOf({
        groupMembers: async () => {
          asked += 1;
          return ['UONCALL'];
        },
      }),
    });
    const slow = {
      ...policy,
      mayDecide: async (...args: Parameters<typeof policy.mayDecide>) => {
        const answer = await policy.mayDecide(...args);
        if (asked === 1)
          await sql`UPDATE incident SET requesters = ARRAY['UONCALL'] WHERE id = ${incidentId}`;
        return answer;
      },
    };
    const decided = await createApprovals({ sql, records, policy: slow, audit, seal: rig.core.seal }).decide({
      actionId: action.id,
      planHash: action.planHash,
      by: 'UONCALL',
      decision: 'approve',
      reason: '',
      anotherWay: false,
    });
    expect(decided).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    expect((await actionOf(rig, action.id)).state).toBe('proposed');
  });
});

test('every press is in the audit log, refused ones with their code', async () => {
  const action = await propose(rig);
  await press(action, 'USTRANGER');
  await press(action, 'UONCALL');
  await press(action, 'USECOND');
  const own = (await auditBodies(rig)).filter(
    (entry) =>
      (entry['details'] as { action?: string }).action === action.id &&
      String(entry['kind']).startsWith('approval.'),
  );
  expect(
    own.map((entry) => [entry['kind'], entry['actor'], (entry['details'] as { code?: string }).code]),
  ).toEqual([
    ['approval.refused', 'USTRANGER', 'NOT_AN_APPROVER'],
    ['approval.decided', 'UONCALL', undefined],
    ['approval.refused', 'USECOND', 'ALREADY_DECIDED'],
  ]);
});

test('what expires or is taken back is in the audit log, too', async () => {
  const [one, two] = [await propose(rig), await propose(rig)];
  await rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE id = ${one.id}`;
  expect(await rig.core.approvals.expire(one.id)).toBe(true);
  expect(await rig.core.sql.begin((tx) => rig.core.approvals.void(tx, two, 'over'))).toBe(true);
  const kinds = (await auditBodies(rig)).slice(-2).map((entry) => entry['kind']);
  expect(kinds).toEqual(['approval.expired', 'approval.void']);
});

test('a reason for a denial holds no secret, no NUL, and has an end', async () => {
  const action = await propose(rig);
  const reason = `because ${SECRET}\u0000 ${'and '.repeat(5_000)}`;
  expect(await press(action, 'UONCALL', { decision: 'deny', reason })).toMatchObject({ ok: true });
  const kept = (await actionOf(rig, action.id)).decisionReason ?? '';
  expect(kept.includes(SECRET)).toBe(false);
  expect(kept.length).toBeLessThanOrEqual(2_000);
  expect(
    JSON.stringify([await rig.core.records.load(action.incidentId), await auditBodies(rig)]).includes(SECRET),
  ).toBe(false);
});
