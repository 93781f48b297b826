import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import type { Action } from '../../../../src/core/action.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { createApprovalSeal } from '../../../../src/safety/vault/approval-seal.ts';
import { openVaultKey } from '../../../../src/safety/vault/vault-key.ts';
import { actionOf, approved, auditBodies, createRig, decide, execute, propose, type Rig } from '../rig.ts';

/** What somebody can do who has the bot's database and not its key. */
let rig: Rig;
beforeAll(async () => {
  rig = await createRig({
    approvers: ['UONCALL', 'USECOND'].map((id) => ({ kind: 'user', id }) as const),
  });
});
beforeEach(async () => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
});
afterAll(() => rig.stop());

type Entry = { readonly actor: string; readonly incident: string; readonly details: Record<string, Json> };

/** The entry of a real approval, as it stands in the audit log. */
async function entryOf({ id }: Action): Promise<Entry> {
  const entries = (await auditBodies(rig)) as unknown as (Entry & { kind: string })[];
  const found = entries.findLast(
    ({ kind, details }) => kind === 'approval.decided' && details['action'] === id,
  );
  if (!found) throw new Error('no approval');
  return found;
}

/** As `SELECT audit_append(…)` and `UPDATE action …` would, in the bot's own role. */
async function forge(action: Action, entry: Partial<Entry>): Promise<void> {
  const { sql, audit } = rig.core;
  const by = entry.actor ?? 'UONCALL';
  await audit.append({
    kind: 'approval.decided',
    actor: by,
    incidentId: entry.incident ?? action.incidentId,
    details: { action: action.id, decision: 'approve', planHash: action.planHash, ...entry.details },
  });
  await sql`
    UPDATE action SET state = 'approved', decided_by = ${by}, decided_at = now(), approved_by = ARRAY[${by}],
           approval_seq = (SELECT max(seq) FROM audit_entry), approval_seqs = ARRAY(SELECT max(seq) FROM audit_entry),
           claim_id = NULL, done_by = NULL, started_at = NULL, finished_at = NULL, tool_call_id = NULL
     WHERE id = ${action.id}`;
}

async function refused(action: Action): Promise<void> {
  const before = rig.machine.effects;
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
  expect(rig.machine.effects).toBe(before);
}

describe('an approval that is not signed is none', () => {
  test.each<[string, Record<string, Json>]>([
    ['nothing', {}],
    ['an empty one', { after: 0, signature: '' }],
    ['zeros', { after: 0, signature: '0'.repeat(64) }],
    ['no text', { after: 0, signature: null }],
    ['a list', { after: 0, signature: ['0'.repeat(64)] }],
    ['true', { after: 0, signature: true }],
  ])('with %s in place of a signature [F10]', async (_, details) => {
    const action = await propose(rig);
    await forge(action, { details });
    await refused(action);
  });

  it('whoever it is said to be of: nobody, the policy, a process [F10]', async () => {
    for (const actor of ['policy', 'system', '', 'USECOND']) {
      const action = await propose(rig);
      await forge(action, { actor });
      await refused(action);
    }
  });

  it('signed with another deployment’s key [F10]', async () => {
    const action = await propose(rig);
    const seal = createApprovalSeal(openVaultKey('', Buffer.alloc(32, 8)));
    const { id, planHash, expiresAt, incidentId: incident } = action;
    const signature = seal.sign({ action: id, incident, planHash, by: 'UONCALL', expiresAt, after: 0 });
    await forge(action, { details: { after: 0, signature } });
    await refused(action);
  });
});

describe('a real signature is for one approval', () => {
  async function stolen(): Promise<Entry> {
    return entryOf(await approved(rig));
  }

  it('and none for another action, incident or plan [F10]', async () => {
    const { details } = await stolen();
    const victim = await propose(rig);
    const { after, signature } = details as { after: number; signature: string };
    await forge(victim, { details: { after, signature } });
    await refused(victim);
    // With all that it said.
    await forge(victim, { details });
    await refused(victim);
    // Of the same plan in another incident, to the letter.
    const twin = await propose(rig);
    await forge(twin, { details: { ...details, planHash: twin.planHash } });
    await refused(twin);
  });

  it('and none for another approver: one person’s is not two people’s [F10]', async () => {
    const action = await approved(rig);
    const entry = await entryOf(action);
    await rig.core.sql`UPDATE action SET approvals_needed = 2 WHERE id = ${action.id}`;
    await forge(action, { ...entry, actor: 'USECOND' });
    await refused(action);
    // The real one beside its copies is still one.
    await rig.core.sql`
      UPDATE action SET decided_by = 'UONCALL', approved_by = ARRAY['UONCALL', 'USECOND'],
             approval_seqs = ARRAY(SELECT seq FROM audit_entry WHERE body LIKE ${`%"${action.id}"%`}) WHERE id = ${action.id}`;
    await refused(action);
  });

  it('and none for longer: who moves the expiry has no approval any more [F10]', async () => {
    const action = await approved(rig);
    await rig.core.sql`UPDATE action SET expires_at = expires_at + interval '1 hour' WHERE id = ${action.id}`;
    await refused(action);
  });

  it.each(['after: null', 'after: -1', 'after: 1e15'])(
    'nor with another place in the log: %s [F10]',
    async (change) => {
      const action = await approved(rig);
      const entry = await entryOf(action);
      const after = { 'after: null': null, 'after: -1': -1, 'after: 1e15': 1e15 }[change] ?? null;
      await forge(action, { ...entry, details: { ...entry.details, after } });
      await refused(action);
    },
  );

  it('and none for a second run, also when its entry is written again after the end [F10]', async () => {
    const action = await approved(rig);
    const entry = await entryOf(action);
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
    rig.machine.broken = true;
    await forge(action, entry);
    await refused(action);
    expect(rig.machine.effects).toBe(1);
  });

  it('and none once it was taken back: what was voided stays void [F10]', async () => {
    const action = await approved(rig);
    const { sql, approvals } = rig.core;
    await sql.begin((tx) => approvals.void(tx, action, 'somebody stopped it'));
    await forge(action, await entryOf(action));
    await refused(action);
  });
});

it('what a person presses is signed, and runs [F10]', async () => {
  const action = await propose(rig);
  expect(await decide(rig, action)).toMatchObject({ ok: true });
  expect((await entryOf(action)).details['signature']).toMatch(/^[0-9a-f]{64}$/);
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
  expect((await actionOf(rig, action.id)).state).toBe('succeeded');
});
