import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../../../../src/core/incident.ts';
import { approved, auditBodies, decide, execute, never, noHooks, propose, typed } from '../../actions/rig.ts';
import type { Row } from '../play.ts';
import { came, changed } from '../scene.ts';
import { deaf } from '../switched-off.ts';

const byRole = (role: Role): Row => ({
  tries: `the ${role} calls the mutation itself`,
  after: 'refused, and nothing is proposed',
  station: '2 role',
  trace: /gate.refused ROLE_MAY_NOT/,
  run: async ({ ask, gate }) => came(await ask(gate(), role, 'box_mend', { how: 'a' })),
});

export const withoutApproval: readonly Row[] = [
  ...(['supervisor', 'triage', 'detective', 'validator'] as const).map(byRole),
  {
    tries: 'the surgeon calls it and waits for no one',
    after: 'a proposal, and no effect',
    station: '9 an active tool is only proposed',
    trace: /gate.outcome/,
    async run({ ask, gate, rig }) {
      await ask(gate(), 'surgeon', 'box_mend', { how: 'a' });
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'an action object that calls itself approved',
    after: 'the row on record counts: no effect',
    trace: /gate.refused NOT_APPROVED/,
    async run({ rig, gate }) {
      const made = changed(await propose(rig), { state: 'approved', decidedBy: 'UONCALL' });
      await gate().execute(made, noHooks, never);
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'an approval written into the ledger by hand',
    after: 'the audit log tells of none: no effect',
    station: '9 approved by a person, by the audit log',
    trace: /gate.refused NOT_APPROVED/,
    async run({ rig, gate }) {
      const { id } = await propose(rig);
      await typed(rig, `UPDATE action SET state = 'approved', decided_by = 'UONCALL' WHERE id = '${id}'`);
      await execute(rig, id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'a denial turned into an approval in the ledger',
    after: 'the audit log tells of a denial: no effect',
    station: '9 approved by a person, by the audit log',
    trace: /gate.refused NOT_APPROVED/,
    async run({ rig, gate }) {
      const action = await propose(rig);
      await decide(rig, action, 'deny');
      await typed(
        rig,
        `UPDATE action SET state = 'approved', approval_seq = (SELECT seq FROM audit_head) WHERE id = '${action.id}'`,
      );
      // Whoever writes there would write away the denial that the claim looks for as well.
      await typed(rig, `DELETE FROM denial WHERE action_id = '${action.id}'`);
      await execute(rig, action.id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'somebody who may not approve presses Approve',
    after: 'the press counts for nothing: no effect',
    trace: /approval.refused/,
    async run({ rig, gate }) {
      const action = await propose(rig);
      await decide(rig, action, 'approve', 'USTRANGER');
      await execute(rig, action.id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'an action shown while nothing may be changed',
    after: 'it was for show: never run',
    station: '9 mode and STOP_SENTRY',
    trace: /gate.refused AUDIT_ONLY/,
    async run({ rig, gate }) {
      const action = await approved(rig);
      await typed(rig, `UPDATE action SET audit_only = true WHERE id = '${action.id}'`);
      // The claim would refuse it too, by another word: what counts is whether the check lets it get that far.
      const ran = await gate().execute(action, noHooks, never);
      return ran.kind !== 'not_run' || ran.code !== 'AUDIT_ONLY';
    },
  },
  {
    tries: 'running on after the switch was set',
    after: 'the claim reads the switch: no effect',
    station: '9 the switch in the database',
    trace: /gate.refused STOPPED/,
    async run({ rig, gate }) {
      const action = await approved(rig);
      await typed(
        rig,
        `INSERT INTO switch (scope, stopped) VALUES ('target:box', true)
         ON CONFLICT (scope) DO UPDATE SET stopped = true`,
      );
      await execute(rig, action.id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'running on after STOP_SENTRY was laid down',
    after: 'the file is read before every change: no effect',
    station: '9 mode and STOP_SENTRY',
    trace: /gate.refused STOPPED/,
    async run({ rig, gate }) {
      const action = await approved(rig);
      const file = join(rig.dataDir, 'STOP_SENTRY');
      writeFileSync(file, '');
      try {
        const ran = await execute(rig, action.id, gate());
        return ran.kind !== 'not_run' || rig.machine.effects > 0;
      } finally {
        rmSync(file);
      }
    },
  },
  {
    tries: 'acting while the audit log cannot be written',
    after: 'what cannot be audited is not done',
    station: '8 audit before',
    trace: /approval.decided/,
    async run({ rig, gate, deps }) {
      const action = await approved(rig);
      await gate({ ...deps, audit: deaf(rig.core.audit, 'gate.intent', true) })
        .execute(action, noHooks, never)
        .catch(() => undefined);
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'a call that leaves no trace of how it ended',
    after: 'its ending is in the audit log under its number',
    station: '12 audit after',
    trace: /gate.outcome/,
    async run({ rig, gate, ask }) {
      const result = await ask(gate(), 'detective', 'box_state', {});
      const entries = await auditBodies(rig);
      return !entries.some(
        ({ kind, details }) =>
          kind === 'gate.outcome' && (details as { toolCall?: string }).toolCall === result.toolCallId,
      );
    },
  },
  {
    tries: 'a call of a tool that would approve',
    after: 'there is none',
    trace: /gate.refused UNKNOWN_TOOL/,
    run: async ({ ask, gate, rig }) => {
      const { id } = await propose(rig);
      const asked = await ask(gate(), 'surgeon', 'approve_action', { action: id });
      return came(asked) || (await execute(rig, id, gate())).kind === 'ran';
    },
  },
];
