import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApprovals } from '../../../../src/actions/approvals/approvals.ts';
import { createGate } from '../../../../src/actions/gate.ts';
import { createApprovalPolicy } from '../../../../src/actions/policy/policy.ts';
import { openPolicyRules } from '../../../../src/actions/policy/policy-rules.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createRecords } from '../../../../src/record/record.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { directoryOf } from '../../../support/directory.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import type { Row } from '../../../support/typed.ts';
import {
  actionOf,
  auditBodies,
  call,
  createRig,
  decide,
  execute,
  mend,
  openIncident,
  propose,
  type Rig,
  typed,
} from '../rig.ts';

const folder = scratchDir();
const path = join(folder, 'policy.yaml');
const approvers = ['UONCALL', 'USECOND', 'UTHIRD'].map((id) => ({ kind: 'user', id }) as const);
const two = 'rules:\n  - name: two\n    approvals: 2\n';
let rig: Rig;
beforeAll(async () => {
  write('rules: [{name: all}]');
  rig = await createRig({ policyPath: path, approvers });
});
beforeEach(async () => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  await rig.core.sql`UPDATE action SET state = 'failed', tool_call_id = NULL`;
});
afterAll(() => rig.stop());

/** A size of its own each time, so that a clock that stands still hides nothing. */
let versions = 0;
function write(text: string): void {
  versions += 1;
  writeFileSync(path, `${text}\n${'#'.repeat(versions)}\n`);
}
const kinds = async (id: string) =>
  (await auditBodies(rig))
    .filter((entry) => (entry['details'] as { action?: string }).action === id)
    .map((entry) => [entry['kind'], entry['actor']]);

describe('two people', () => {
  test('have to approve, and only then it runs; the same one twice is one', async () => {
    write(two);
    const action = await propose(rig);
    expect(action).toMatchObject({ approvalsNeeded: 2, policyRule: 'two' });
    expect(await decide(rig, action)).toMatchObject({
      ok: true,
      action: { state: 'proposed', approvedBy: ['UONCALL'] },
    });
    expect(await decide(rig, action)).toMatchObject({ ok: false, code: 'APPROVED_ALREADY' });
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
    expect(await decide(rig, action, 'approve', 'USECOND')).toMatchObject({
      ok: true,
      action: { state: 'approved' },
    });
    expect(await decide(rig, action, 'approve', 'UTHIRD')).toMatchObject({
      ok: false,
      code: 'ALREADY_DECIDED',
    });
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
    expect(rig.machine.effects).toBe(1);
    expect((await kinds(action.id)).filter(([kind]) => kind === 'approval.decided')).toEqual([
      ['approval.decided', 'UONCALL'],
      ['approval.decided', 'USECOND'],
    ]);
  });

  test('one of them may deny what the other approved', async () => {
    write(two);
    const action = await propose(rig);
    await decide(rig, action);
    expect(await decide(rig, action, 'deny', 'USECOND')).toMatchObject({
      ok: true,
      action: { state: 'denied' },
    });
    expect(await decide(rig, action, 'approve', 'UTHIRD')).toMatchObject({ code: 'ALREADY_DECIDED' });
  });

  test('are asked for by default where the risk is high', async () => {
    write('rules: [{name: all}]');
    const action = await propose(rig, { tool: 'risky_mend', target: 'box', input: { n: 1 } });
    expect(action.approvalsNeeded).toBe(2);
  });

  test('a hundred presses of one person and another at once are two approvals', async () => {
    write(two);
    const action = await propose(rig);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => decide(rig, action, 'approve', n % 2 ? 'UONCALL' : 'USECOND')),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(2);
    const now = await actionOf(rig, action.id);
    expect(now.state).toBe('approved');
    expect(now.approvedBy.toSorted()).toEqual(['UONCALL', 'USECOND']);
  });

  test('a hundred presses of one person at once, in two processes, are one', async () => {
    write(two);
    const action = await propose(rig);
    const other = openDatabase(rig.database.url, { max: 5 });
    try {
      const { sql } = other;
      await sql`SELECT 1`;
      const audit = createAuditLog(sql);
      const policy = createApprovalPolicy({
        approvers,
        admins: [],
        directory: directoryOf(),
        rules: await rulesOn(sql),
      });
      const elsewhere = createApprovals({
        sql,
        records: createRecords(sql),
        audit,
        policy,
        seal: rig.core.seal,
      });
      const press = {
        actionId: action.id,
        planHash: action.planHash,
        by: 'UONCALL',
        reason: '',
        anotherWay: false,
      };
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          n % 2 ? decide(rig, action) : elsewhere.decide({ ...press, decision: 'approve' }),
        ),
      );
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
      // As after a restart: what was approved stands in the database.
      expect(await elsewhere.decide({ ...press, by: 'UTHIRD', decision: 'approve' })).toMatchObject({
        ok: true,
        action: { state: 'approved', approvedBy: ['UONCALL', 'UTHIRD'] },
      });
    } finally {
      await other.close();
    }
  });

  const tricks: Readonly<Record<string, string>> = {
    'the number lowered': 'approvals_needed = 1',
    'a name added': "approved_by = approved_by || 'USECOND'::text",
    'the one approval counted twice': 'approval_seqs = approval_seqs || approval_seqs',
    'another entry of the log': 'approval_seqs = approval_seqs || 1::bigint',
  };
  test.each(Object.entries(tricks))('by hand in the table do not help: %s', async (_, change) => {
    write(two);
    const action = await propose(rig);
    await decide(rig, action);
    await typed(
      rig,
      `UPDATE action SET ${change}, state = 'approved', decided_by = 'UONCALL' WHERE id = '${action.id}'`,
    );
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
    expect(rig.machine.effects).toBe(0);
  });
});

const rulesOn = (sql: Rig['core']['sql']) =>
  openPolicyRules({
    sql,
    audit: createAuditLog(sql),
    log: quiet,
    path,
    isRequired: true,
    people: { oncallGroup: null, admins: [] },
    subjects: () => null,
    approvers,
    approvalMinutes: 5,
    environmentOf: () => 'test',
  });

test.each(['why', 'undo', 'blast_radius', 'risk', 'runbook_id'])(
  'what the card says is approved with it: another %s afterwards is another plan',
  async (column) => {
    write('rules: [{name: all}]');
    const action = await propose(rig);
    await decide(rig, action);
    await typed(rig, `UPDATE action SET ${column} = 'medium' WHERE id = '${action.id}'`);
    expect(await execute(rig, action.id)).toMatchObject({
      kind: 'not_run',
      why: 'void',
      code: 'PLAN_CHANGED',
    });
    expect(rig.machine.effects).toBe(0);
  },
);

describe('who, when and how often', () => {
  test('only whom the rule names', async () => {
    write('rules: [{name: dba, approvers: [USECOND]}]');
    const action = await propose(rig);
    expect(await decide(rig, action)).toMatchObject({ ok: false, code: 'NOT_AN_APPROVER' });
    expect(await decide(rig, action, 'approve', 'USECOND')).toMatchObject({ ok: true });
  });

  test('not whoever asked for it, where the rule says so; but they may deny it', async () => {
    write('rules: [{name: other, self_approval: false}]');
    const incidentId = await openIncident(rig);
    await rig.core.sql`UPDATE incident SET requesters = ARRAY['UONCALL'] WHERE id = ${incidentId}`;
    const action = await propose(rig, mend('a'), incidentId);
    expect(await decide(rig, action)).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    expect(await decide(rig, action, 'deny')).toMatchObject({ ok: true });
  });

  test('in its hours; it may be denied at any time', async () => {
    const day = new Intl.DateTimeFormat('en-US', { weekday: 'short', timeZone: 'UTC' });
    const inTwoDays = day.format(Date.now() + 2 * 86_400_000).toLowerCase();
    write(`rules: [{name: then, hours: {days: [${inTwoDays}], from: "00:00", to: "23:59", timezone: UTC}}]`);
    const action = await propose(rig);
    expect(await decide(rig, action)).toMatchObject({ ok: false, code: 'OUTSIDE_HOURS' });
    expect(await decide(rig, action, 'deny')).toMatchObject({ ok: true });
  });

  test('for as long as the rule says', async () => {
    write('rules: [{name: short, expires_minutes: 1}]');
    const action = await propose(rig);
    const [row] = await rig.core
      .sql<Row>`SELECT expires_at < clock_timestamp() + interval '61 seconds' AS soon FROM action WHERE id = ${action.id}`;
    expect(row?.['soon']).toBe(true);
  });

  test('never, and what no rule covers: it cannot even be proposed', async () => {
    for (const [text, code] of [
      ['rules: [{name: no, never: true}]', 'POLICY_FORBIDS'],
      ['rules: [{name: other, tools: [other]}]', 'POLICY_SILENT'],
    ] as const) {
      write(text);
      expect(await call(rig, 'surgeon', await openIncident(rig), mend('a'))).toMatchObject({
        kind: 'refused',
        code,
      });
    }
  });

  test('what nobody may approve any more may still be denied', async () => {
    write('rules: [{name: all}]');
    const action = await propose(rig);
    write('rules: [{name: no, never: true}]');
    expect(await decide(rig, action)).toMatchObject({ ok: false, code: 'POLICY_FORBIDS' });
    expect(await decide(rig, action, 'deny', 'USTRANGER')).toMatchObject({
      ok: false,
      code: 'NOT_AN_APPROVER',
    });
    expect(await decide(rig, action, 'deny')).toMatchObject({ ok: true, action: { state: 'denied' } });
  });

  test('no more on a target than the cap, by whichever process: the claim counts them', async () => {
    write('rules: [{name: capped, at_most: {actions: 2, minutes: 60}}]');
    const other = openDatabase(rig.database.url, { max: 5 });
    try {
      await other.sql`SELECT 1`;
      const gates = [
        rig.core.gate,
        createGate({ ...rig.core.gateDeps, sql: other.sql, rules: await rulesOn(other.sql) }),
      ];
      const actions = [];
      for (let n = 0; n < 6; n += 1) actions.push(await propose(rig, mend(`way ${n}`)));
      for (const action of actions) expect(await decide(rig, action)).toMatchObject({ ok: true });
      const results = await Promise.all(
        actions.map(async ({ id }, n) => {
          for (;;) {
            const result = await execute(rig, id, gates[n % 2]);
            if (result.kind !== 'later') return result;
          }
        }),
      );
      expect(results.filter(({ kind }) => kind === 'ran')).toHaveLength(2);
      expect(results.filter((result) => result.kind === 'not_run' && result.code === 'CAPPED')).toHaveLength(
        4,
      );
      expect(rig.machine.effects).toBe(2);
    } finally {
      await other.close();
    }
  });
});

describe('the file', () => {
  test('counts as it is now: what it forbids after the approval does not run, and what it asks for anew is missing', async () => {
    for (const [later, code] of [
      ['rules: [{name: no, never: true}]', 'POLICY_FORBIDS'],
      [two, 'NOT_APPROVED'],
    ] as const) {
      write('rules: [{name: all}]');
      const action = await propose(rig);
      await decide(rig, action);
      write(later);
      expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', why: 'void', code });
    }
    expect(rig.machine.effects).toBe(0);
  });

  test('in every version is in the audit log once, whichever process reads it', async () => {
    const loaded = async () =>
      (await auditBodies(rig)).filter((entry) => entry['kind'] === 'policy.loaded').length;
    write('rules: [{name: all}]');
    await propose(rig);
    const before = await loaded();
    await rulesOn(rig.core.sql);
    expect(await loaded()).toBe(before);
    write('rules: [{name: else}]');
    await Promise.all([propose(rig), rulesOn(rig.core.sql)]);
    expect(await loaded()).toBe(before + 1);
  });

  test('spoilt or taken away leaves in force what was, and says so', async () => {
    write(two);
    expect((await propose(rig)).approvalsNeeded).toBe(2);
    write('rules: [{name: two, approvals: 0}]');
    expect((await propose(rig)).approvalsNeeded).toBe(2);
    expect((await auditBodies(rig)).some((entry) => entry['kind'] === 'policy.rejected')).toBe(true);
    rmSync(path);
    expect((await propose(rig)).approvalsNeeded).toBe(2);
    // A start without it, or with a spoilt one, is none.
    await expect(rulesOn(rig.core.sql)).rejects.toMatchObject({ code: 'POLICY' });
    write('rules: [{name: two, approvals: 0}]');
    await expect(rulesOn(rig.core.sql)).rejects.toThrow(/policy\.yaml:1: rules\.0\.approvals/);
  });
});
