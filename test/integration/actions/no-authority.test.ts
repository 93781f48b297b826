import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resolveUnknownOutcome } from '../../../src/actions/approvals/resolve-unknown-outcome.ts';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Role } from '../../../src/core/incident.ts';
import {
  type Credential,
  type CredentialVault,
  openCredentialVault,
} from '../../../src/safety/vault/credentials.ts';
import { quiet } from '../../support/quiet.ts';
import {
  actionOf,
  approved,
  auditBodies,
  call,
  createRig,
  decide,
  execute,
  mend,
  never,
  openIncident,
  propose,
  type Rig,
  typed,
} from './rig.ts';

let rig: Rig;
/** Of another process of the same deployment. */
let elsewhere: CredentialVault;
let incidentId: IncidentId;
beforeAll(async () => {
  rig = await createRig();
  const { sql, audit, identities } = rig.core;
  elsewhere = await openCredentialVault({ sql, audit, identities, executorId: 'elsewhere', log: quiet });
});
beforeEach(async () => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  Object.assign(rig.identity, { systemIdentifier: '1', timelineId: 1 });
  incidentId = await openIncident(rig);
});
afterEach(async () => {
  // Whatever a test left running or unknown would block the target for the next one.
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
});
afterAll(() => rig.stop());

describe('a mutation nobody approved does not happen', () => {
  test.each<Role>(['supervisor', 'triage', 'detective', 'validator'])('called by the %s', async (role) => {
    expect(await call(rig, role, incidentId, mend('a'))).toMatchObject({
      kind: 'refused',
      code: 'ROLE_MAY_NOT',
    });
    expect(rig.machine.effects).toBe(0);
    expect((await rig.core.records.load(incidentId))?.actions).toEqual([]);
  });

  test('called by the supervisor, who may not read either', async () => {
    const read = { tool: 'box_state', target: 'box', input: {} };
    expect(await call(rig, 'supervisor', incidentId, read)).toMatchObject({ code: 'ROLE_MAY_NOT' });
  });

  test('called by the surgeon: it becomes a proposal', async () => {
    const result = await call(rig, 'surgeon', incidentId, mend('a'));
    expect(result).toMatchObject({ kind: 'proposed' });
    expect(rig.machine.effects).toBe(0);
  });

  const forgeries: Readonly<Record<string, (real: Credential) => Credential>> = {
    'a copy': (real) => ({ ...real }),
    'a copy for another target': (real) => ({ ...real, targets: ['box', 'other'] }),
    'one that inherits from a real one': (real) => Object.create(real) as Credential,
    'a proxy of a real one': (real) => new Proxy(real, {}),
    'one made of nothing': (real) => ({
      ...real,
      id: 'cred_made_up',
      toolsets: new Set<string>(),
      expiresAt: Number.POSITIVE_INFINITY,
    }),
    'one of another process': (real) =>
      elsewhere.mint({ role: real.role, incidentId: real.incidentId, targets: real.targets }),
    'one for an incident there is not': (real) => ({ ...real, incidentId: 'INC-999999999' as IncidentId }),
  };
  test.each(Object.entries(forgeries))('with a forged credential: %s', async (_, forge) => {
    const real = rig.core.vault.mint({ role: 'surgeon', incidentId, targets: ['box'] });
    const result = await rig.core.gate.call(forge(real), mend('a'), { signal: never });
    expect(result).toMatchObject({ kind: 'refused', code: 'CREDENTIAL_INVALID' });
    expect((await rig.core.records.load(incidentId))?.actions).toEqual([]);
    expect((await auditBodies(rig)).findLast((body) => body['kind'] === 'gate.refused')).toMatchObject({
      kind: 'gate.refused',
      actor: 'unknown',
    });
  });

  test('a second time, when a person has said that it ran and the row is set back', async () => {
    const action = await approved(rig);
    const { sql } = rig.core;
    await sql`
      UPDATE action SET state = 'unknown', claim_id = 'x', done_by = clock_timestamp() - interval '1 second' WHERE id = ${action.id}`;
    const said = { actionId: action.id, ran: true, by: 'ops', reason: 'seen on the box' };
    expect(await resolveUnknownOutcome(rig.core, said)).toEqual({ ok: true });
    await sql`UPDATE action SET state = 'approved', claim_id = NULL, done_by = NULL WHERE id = ${action.id}`;
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
    expect(rig.machine.effects).toBe(0);
  });

  test('with a real credential that somebody widens', () => {
    const real = rig.core.vault.mint({ role: 'detective', incidentId, targets: ['box'] });
    expect(() => Object.assign(real, { role: 'surgeon' })).toThrow(TypeError);
    expect(() => (real.targets as string[]).push('other')).toThrow(TypeError);
    expect(() => (real.toolsets as Set<string>).add('memory')).toThrow(TypeError);
    expect(real.toolsets.has('memory')).toBe(false);
  });

  test('with a credential that expires while it waits, or is revoked at once', async () => {
    let now = 0;
    const other = await createRig({ vault: { now: () => now } });
    const { vault } = other.core;
    try {
      const id = await openIncident(other);
      const credential = vault.mint({ role: 'surgeon', incidentId: id, targets: ['box'] });
      now = 15 * 60_000;
      const expired = await other.core.gate.call(credential, mend('a'), { signal: never });
      expect(expired).toMatchObject({ kind: 'refused', code: 'CREDENTIAL_EXPIRED' });
      now = 0;
      vault.revoke(credential);
      const revoked = await other.core.gate.call(credential, mend('a'), { signal: never });
      expect(revoked).toMatchObject({ kind: 'refused', code: 'CREDENTIAL_INVALID' });
    } finally {
      await other.stop();
    }
  });

  test('on a target outside the credential, by another tool’s domain, or by a target’s other spelling', async () => {
    for (const [target, code] of [
      ['other', 'TARGET_OUT_OF_SCOPE'],
      ['BOX', 'UNKNOWN_TARGET'],
      ['box ', 'UNKNOWN_TARGET'],
      ['bo\u0445', 'UNKNOWN_TARGET'],
      ['__proto__', 'UNKNOWN_TARGET'],
    ] as const)
      expect(await call(rig, 'surgeon', incidentId, mend('a', target))).toMatchObject({
        kind: 'refused',
        code,
      });
    const pod = rig.core.vault.mint({ role: 'surgeon', incidentId, targets: ['pod'] });
    expect(await rig.core.gate.call(pod, mend('a', 'pod'), { signal: never })).toMatchObject({
      code: 'WRONG_DOMAIN',
    });
  });

  test('by an action object made up by the caller', async () => {
    const real = await propose(rig);
    const made: Action = { ...real, state: 'approved', decidedBy: 'UONCALL' };
    expect(
      await rig.core.gate.execute(
        made,
        { claimed: async () => undefined, released: async () => undefined, ended: async () => undefined },
        never,
      ),
    ).toMatchObject({
      kind: 'not_run',
      code: 'NOT_APPROVED',
    });
    expect(rig.machine.effects).toBe(0);
  });
});

describe('an approval is for exactly what was shown, and for once', () => {
  test('runs once, however often it is asked for', async () => {
    const action = await approved(rig);
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
    for (let again = 0; again < 3; again += 1)
      expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
    expect(rig.machine.effects).toBe(1);
  });

  test('is none when it was written into the ledger by hand', async () => {
    const action = await propose(rig);
    await typed(
      rig,
      `UPDATE action SET state = 'approved', decided_by = 'UONCALL', decided_at = now() WHERE id = '${action.id}'`,
    );
    expect(await execute(rig, action.id)).toMatchObject({
      kind: 'not_run',
      why: 'void',
      code: 'NOT_APPROVED',
    });
    // Nor with the approval of another action.
    const other = await approved(rig);
    await typed(
      rig,
      `UPDATE action SET approval_seq = (SELECT approval_seq FROM action WHERE id = '${other.id}') WHERE id = '${action.id}'`,
    );
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
    expect(rig.machine.effects).toBe(0);
  });

  test('is none when the audit log tells of a denial', async () => {
    const action = await propose(rig);
    await decide(rig, action, 'deny');
    await typed(
      rig,
      `UPDATE action SET state = 'approved', approval_seq = (SELECT seq FROM audit_head) WHERE id = '${action.id}'`,
    );
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
    expect(rig.machine.effects).toBe(0);
  });

  const changes: Readonly<Record<string, string>> = {
    input: `input = '{"how": "harder"}'`,
    'input by a field': `input = input || '{"force": true}'`,
    command: `command = command || ' --force'`,
    guard: `guard = '{"generation": 2}'`,
    'plan hash': `plan_hash = repeat('0', 64)`,
    target: `target = 'other'`,
    tool: `tool = 'risky_mend'`,
    'plan hash and input together': `input = '{"how": "x"}', command = 'mend --how x', plan_hash = 'HASH'`,
    'who decided': `decided_by = 'USOMEBODY'`,
    'nobody decided': `decided_by = NULL`,
    'the server': `system_identifier = '2'`,
    'the timeline': `timeline_id = 2`,
    'the incident': `incident_id = 'OTHER'`,
    'for show only': `audit_only = true`,
    'its time': `expires_at = clock_timestamp() - interval '1 ms'`,
    'its state, to void': `state = 'void'`,
    'its state, to expired': `state = 'expired'`,
    'its state, to denied': `state = 'denied'`,
    'its state, to proposed': `state = 'proposed'`,
  };
  test.each(Object.entries(changes))(
    'does not fit any more when the row is changed: %s',
    async (_, change) => {
      const action = await approved(rig);
      const { planHash } = await import('../../../src/actions/proposals/plan-hash.ts');
      const other = planHash({ ...action, input: { how: 'x' }, command: 'mend --how x' });
      await typed(
        rig,
        `UPDATE action SET ${change.replace('HASH', other).replace('OTHER', incidentId)} WHERE id = '${action.id}'`,
      );
      expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run' });
      // As a turn that read it before the change would.
      expect(
        await rig.core.gate.execute(
          action,
          { claimed: async () => undefined, released: async () => undefined, ended: async () => undefined },
          never,
        ),
      ).toMatchObject({ kind: 'not_run' });
      expect(rig.machine.effects).toBe(0);
    },
  );

  test('does not outlive the state, the server or the code it was given for', async () => {
    const moved = await approved(rig);
    rig.machine.generation = 2;
    expect(await execute(rig, moved.id)).toMatchObject({ kind: 'not_run', why: 'void', code: 'STATE_MOVED' });
    const away = await approved(rig);
    rig.identity.timelineId = 2;
    expect(await execute(rig, away.id)).toMatchObject({ kind: 'not_run', why: 'void', code: 'FAILED_OVER' });
    expect(rig.machine.effects).toBe(0);
  });

  test('cannot be used through another action, hash or incident', async () => {
    const [one, two] = [await approved(rig), await propose(rig, mend('another'))];
    expect(await decide(rig, { id: two.id, planHash: one.planHash })).toMatchObject({
      ok: false,
      code: 'PLAN_CHANGED',
    });
    expect(await decide(rig, { id: 'act_none' as never, planHash: one.planHash })).toMatchObject({
      ok: false,
      code: 'UNKNOWN_ACTION',
    });
    const swapped: Action = { ...one, incidentId: two.incidentId };
    const result = await rig.core.gate.execute(
      swapped,
      { claimed: async () => undefined, released: async () => undefined, ended: async () => undefined },
      never,
    );
    expect(result).toMatchObject({ kind: 'not_run', code: 'PLAN_CHANGED' });
    expect(rig.machine.effects).toBe(0);
  });

  test('a card for show only cannot be approved, and does not stand in the way of a real one', async () => {
    const show = await propose(rig, mend('a'), incidentId);
    await rig.core.sql`UPDATE action SET audit_only = true WHERE id = ${show.id}`;
    expect(await decide(rig, show)).toMatchObject({ ok: false, code: 'AUDIT_ONLY' });
    const real = await propose(rig, mend('a'), incidentId);
    expect(real.id).not.toBe(show.id);
    expect(real.auditOnly).toBe(false);
    expect((await actionOf(rig, show.id)).state).toBe('void');
  });

  test('a command that ran in this incident is refused in every disguise', async () => {
    const action = await propose(rig, mend('2026-11-21T10:00:00Z x'), incidentId);
    await decide(rig, action);
    await execute(rig, action.id);
    for (const how of [
      '2026-11-21T10:00:00Z  x',
      '2026-11-21T10:00:00Z x;',
      '2026-11-21 10:00:00.000000Z x',
      '2026-11-21T12:00:00+02 x',
      '\u{ff12}026-11-21T10:00:00Z x',
    ])
      expect(await call(rig, 'surgeon', incidentId, mend(how))).toMatchObject({
        kind: 'refused',
        code: 'TRIED_ALREADY',
      });
    expect(await call(rig, 'surgeon', incidentId, mend('2026-11-21T10:00:01Z x'))).toMatchObject({
      kind: 'proposed',
    });
    expect(rig.machine.effects).toBe(1);
  });

  test('what is harmless to repeat is asked for again in a later round, and nothing else is', async () => {
    rig.odd.mend = async () => ({ kind: 'succeeded', text: 'it removed nothing' });
    const harmless = { tool: 'odd_mend', target: 'box', input: {} };
    for (const request of [harmless, mend('a')]) {
      const action = await propose(rig, request, incidentId);
      await decide(rig, action);
      await execute(rig, action.id);
    }
    const again = async () =>
      Promise.all([harmless, mend('a')].map((request) => call(rig, 'surgeon', incidentId, request)));
    expect(await again()).toMatchObject([{ code: 'TRIED_ALREADY' }, { code: 'TRIED_ALREADY' }]);
    await rig.core.sql`UPDATE incident SET round = round + 1 WHERE id = ${incidentId}`;
    rig.machine.broken = true;
    expect(await again()).toMatchObject([{ kind: 'proposed' }, { code: 'TRIED_ALREADY' }]);
  });
});
