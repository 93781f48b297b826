import { expect, it } from 'vitest';
import { mayDecideNow } from '../../../../src/actions/policy/may-decide-now.ts';
import { createApprovalPolicy } from '../../../../src/actions/policy/policy.ts';
import { directoryOf } from '../../../support/directory.ts';
import { anAction, anIncident } from '../../../support/incident-record.ts';

/** Who was on call a moment ago by the cache, and who is now. */
const asked = (before: readonly string[], now: readonly string[]) => {
  const policy = createApprovalPolicy({
    approvers: [{ kind: 'group', name: 'oncall' }],
    admins: [],
    directory: directoryOf({ groupMembers: async () => now }),
  });
  const cached = directoryOf({ groupMembers: async () => before });
  return mayDecideNow(policy, cached, ['U1', anAction({ risk: 'low' }), anIncident(), 'deny']);
};

it('refuses nobody for what Slack said a moment ago', async () => {
  expect(await asked([], ['U1'])).toBeUndefined();
  expect(await asked([], [])).toMatchObject({ code: 'NOT_AN_APPROVER' });
  expect(await asked(['U1'], [])).toBeUndefined();
});
