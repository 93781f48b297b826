import { describe, expect, it } from 'vitest';
import { createApprovalPolicy } from '../../../../src/actions/policy/policy.ts';
import { directoryOf } from '../../../support/directory.ts';

const members: Readonly<Record<string, readonly string[]>> = { dba: ['UDBA'], oncall: ['UONCALL'] };

const policy = (approvers: readonly string[], groupMembers = async (name: string) => members[name] ?? []) =>
  createApprovalPolicy({
    approvers: approvers.map((name) => ({ kind: 'group', name })),
    admins: [{ kind: 'user', id: 'UADMIN' }],
    oncallGroup: 'oncall',
    directory: directoryOf({ groupMembers }),
  });

describe('who may have more of a live system read', () => {
  it.each(['UDBA', 'UADMIN', 'UONCALL'])('is %s: approvers, admins and who is on call', async (user) => {
    expect(await policy(['dba']).mayAsk(user)).toBeUndefined();
  });

  it.each(['USTRANGER', '', 'udba'])('is not “%s”', async (user) => {
    expect(await policy(['dba']).mayAsk(user)).toMatchObject({ ok: false, code: 'MAY_NOT_ASK' });
  });

  it('is everybody where nobody is configured to approve', async () => {
    expect(await policy([]).mayAsk('UANYBODY')).toBeUndefined();
  });

  it('is nobody but who is named while Slack cannot say who is in a group', async () => {
    const away = policy(['dba'], () => Promise.reject(new Error('ratelimited')));
    expect(await away.mayAsk('UDBA')).toMatchObject({ ok: false, code: 'APPROVERS_UNKNOWN' });
    expect(await away.mayAsk('UADMIN')).toBeUndefined();
  });
});
