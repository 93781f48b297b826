import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApprovalPolicy } from '../../../../src/actions/policy/policy.ts';
import { openPolicyRules } from '../../../../src/actions/policy/policy-rules.ts';
import { createWorkspaceSettings, type Settings } from '../../../../src/actions/policy/workspace-settings.ts';
import type { Action } from '../../../../src/core/action.ts';
import type { Incident } from '../../../../src/core/incident.ts';
import type { Log } from '../../../../src/core/log.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { openVaultKey } from '../../../../src/safety/vault/vault-key.ts';
import { directoryOf } from '../../../support/directory.ts';
import { scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const user = (id: string) => ({ kind: 'user', id }) as const;
const path = join(scratchDir(), 'policy.yaml');
const POLICY = `rules:
  - {name: by admins, tools: [mend], approvers: [admins]}
  - {name: by on-call, approvers: [oncall]}
`;
const incident = { requesters: [] } as unknown as Incident;
const of = (tool: string) =>
  ({ tool, target: 'box', risk: 'low', runbookId: null, requestedBy: null }) as unknown as Action;
const before = { approvers: [user('UCHOSEN')], admins: [user('UADMIN'), user('ULEAVER')] };

let scratch: Awaited<ReturnType<typeof scratchDatabase>>;
let database: ReturnType<typeof openDatabase>;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url);
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});
beforeEach(() => writeFileSync(path, POLICY));

let teams = 0;
/** A deployment of a workspace of its own, set up as said. */
async function deployment(first: Settings) {
  const { sql } = database;
  const audit = createAuditLog(sql);
  teams += 1;
  const team = `T${teams}`;
  const key = openVaultKey('', Buffer.alloc(32, 7));
  const settings = createWorkspaceSettings({ sql, audit, key, fixed: {}, team: () => team });
  const set = async (now: Settings) =>
    expect(
      await settings.save({ by: 'UADMIN', as: 'admin', version: settings.version, settings: now }),
    ).toEqual({ ok: true });
  await settings.refresh();
  await set(first);
  const warned: unknown[] = [];
  const log: Log = { ...quiet, warn: (details: unknown) => void warned.push(details) };
  const start = () =>
    openPolicyRules({
      sql,
      audit,
      log,
      path,
      isRequired: true,
      people: settings,
      subjects: () => null,
      approvers: before.approvers,
      approvalMinutes: 5,
      environmentOf: () => '',
    });
  const rules = await start();
  const policy = createApprovalPolicy({
    approvers: before.approvers,
    get admins() {
      return settings.admins;
    },
    refresh: settings.refresh,
    directory: directoryOf({ groupMembers: async (group) => (group === 'oncall' ? ['UONCALL'] : []) }),
    rules,
  });
  const may = (who: string, tool: string, decision: 'approve' | 'deny' = 'approve') =>
    policy.mayDecide(who, of(tool), incident, decision);
  return { set, start, rules, policy, may, warned };
}

describe('“oncall” and “admins” in a rule mean who they are at the press', () => {
  test('without an on-call group nobody who was in it may approve, at once', async () => {
    const { set, policy, may, rules, warned } = await deployment({ ...before, oncallGroup: 'oncall' });
    expect(await may('UONCALL', 'other')).toBeUndefined();
    expect(await policy.stillMay('UONCALL', of('other'), incident)).toBeUndefined();
    expect(warned).toEqual([]);
    await set(before);
    expect(await may('UONCALL', 'other')).toMatchObject({
      code: 'NO_APPROVERS',
      reason: expect.stringContaining('the policy leaves it to admins or to who is on call'),
    });
    expect(await policy.stillMay('UONCALL', of('other'), incident)).toMatchObject({ code: 'NO_APPROVERS' });
    expect(await policy.takes('UONCALL', of('other'))).toBeNull();
    // Nor does it fall to anybody else.
    expect(await may('UCHOSEN', 'other')).toMatchObject({ code: 'NO_APPROVERS' });
    expect(await may('UADMIN', 'other')).toMatchObject({ code: 'NO_APPROVERS' });
    // The file is as good as it was; what it names in vain is told once.
    expect(rules.status()).toMatchObject({ rules: 2, problems: [] });
    expect(warned).toEqual([
      { path, warnings: ['rule "by on-call": "oncall" means nobody: no group is on call'] },
    ]);
    await set({ ...before, oncallGroup: 'oncall' });
    expect(await may('UONCALL', 'other')).toBeUndefined();
  });

  test('what nobody may approve for want of people can still be denied, by those who approve where no rule says who', async () => {
    const { may } = await deployment(before);
    expect(await may('UCHOSEN', 'other', 'deny')).toBeUndefined();
    expect(await may('UONCALL', 'other', 'deny')).toMatchObject({ code: 'NOT_AN_APPROVER' });
  });

  test('while one word means nobody, the other follows the settings and the rules their file', async () => {
    const { set, may } = await deployment({ ...before, oncallGroup: 'oncall' });
    await set(before);
    expect(await may('ULEAVER', 'mend')).toBeUndefined();
    await set({ ...before, admins: [user('UADMIN')] });
    expect(await may('ULEAVER', 'mend')).toMatchObject({ code: 'NOT_AN_APPROVER' });
    expect(await may('UADMIN', 'mend')).toBeUndefined();
    writeFileSync(path, `${POLICY.replace('[admins]', '[admins], never: true')}#\n`);
    expect(await may('UADMIN', 'mend')).toMatchObject({ code: 'POLICY_FORBIDS' });
  });

  test('Sentry starts where they mean nobody yet, and says so', async () => {
    const { start, may, warned } = await deployment({ approvers: before.approvers });
    expect((await start()).status()).toMatchObject({ rules: 2, problems: [] });
    expect(await may('UADMIN', 'mend')).toMatchObject({ code: 'NO_APPROVERS' });
    expect(JSON.stringify(warned)).toContain('\\"admins\\" means nobody');
  });
});
