import { approved, decide, execute, mend, propose, typed } from '../../actions/rig.ts';
import type { Row } from '../play.ts';
import { came } from '../scene.ts';

export const reuse: readonly Row[] = [
  {
    tries: 'one approval used five times at once',
    after: 'one effect',
    station: '9 claimed once',
    trace: /gate.outcome/,
    async run({ rig, gate }) {
      const { id } = await approved(rig);
      await Promise.all(Array.from({ length: 5 }, () => execute(rig, id, gate())));
      return rig.machine.effects > 1;
    },
  },
  {
    tries: 'one approval used again when it has run',
    after: 'one effect',
    trace: /gate.outcome/,
    async run({ rig, gate }) {
      const { id } = await approved(rig);
      for (let again = 0; again < 3; again += 1) await execute(rig, id, gate());
      return rig.machine.effects !== 1;
    },
  },
  {
    tries: 'one approval used again by a row set back to approved',
    after: 'the audit log knows that it ran: one effect',
    station: '9 approved by a person, by the audit log',
    trace: /gate.refused NOT_APPROVED/,
    async run({ rig, gate }) {
      const { id } = await approved(rig);
      await execute(rig, id, gate());
      await typed(rig, `UPDATE action SET state = 'approved' WHERE id = '${id}'`);
      await execute(rig, id, gate());
      return rig.machine.effects !== 1;
    },
  },
  {
    tries: 'the approval of one action lent to another',
    after: 'the entry names another action: no effect',
    station: '9 approved by a person, by the audit log',
    trace: /gate.refused NOT_APPROVED/,
    async run({ rig, gate }) {
      const [one, two] = [await approved(rig), await propose(rig, mend('another'))];
      await typed(
        rig,
        `UPDATE action SET state = 'approved', decided_by = 'UONCALL', approval_seq =
           (SELECT approval_seq FROM action WHERE id = '${one.id}') WHERE id = '${two.id}'`,
      );
      await execute(rig, two.id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'a press on one card with the hash of another',
    after: 'the press counts for nothing',
    trace: /approval.refused PLAN_CHANGED/,
    async run({ rig }) {
      const [one, two] = [await approved(rig), await propose(rig, mend('another'))];
      return (await decide(rig, { id: two.id, planHash: one.planHash })).ok;
    },
  },
  {
    tries: 'an approval whose time is over',
    after: 'no effect',
    station: '9 not expired, and claimed in one transaction',
    trace: /gate.refused EXPIRED/,
    async run({ rig, gate }) {
      const action = await propose(rig);
      const { id } = action;
      // The approval signs until when it holds.
      await typed(
        rig,
        `UPDATE action SET expires_at = clock_timestamp() + interval '5 seconds' WHERE id = '${id}'`,
      );
      if (!(await decide(rig, action)).ok) throw new Error('the approval came too late');
      await typed(
        rig,
        `SELECT pg_sleep(extract(epoch FROM expires_at - clock_timestamp()) + 0.1) FROM action WHERE id = '${id}'`,
      );
      await execute(rig, id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'a late press on an old card',
    after: 'the press counts for nothing',
    trace: /approval.refused EXPIRED/,
    async run({ rig }) {
      const action = await propose(rig);
      await typed(
        rig,
        `UPDATE action SET expires_at = now() - interval '1 second' WHERE id = '${action.id}'`,
      );
      return (await decide(rig, action)).ok;
    },
  },
  {
    tries: 'an approval given before a failover',
    after: 'another server, another question: no effect',
    station: '9 the same server',
    trace: /gate.refused FAILED_OVER/,
    async run({ rig, gate }) {
      const { id } = await approved(rig);
      rig.identity.timelineId = 2;
      await execute(rig, id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'an approval given before the state moved',
    after: 'void: no effect',
    station: '9 state unchanged',
    trace: /gate.refused STATE_MOVED/,
    async run({ rig, gate }) {
      const { id } = await approved(rig);
      rig.machine.generation = 2;
      await execute(rig, id, gate());
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'what ran and did not help, asked for again in other spelling',
    after: 'refused, and no second card',
    trace: /gate.refused TRIED_ALREADY/,
    async run({ rig, gate, ask, incidentId }) {
      const action = await propose(rig, mend('2026-11-21T10:00:00Z x'), incidentId);
      await decide(rig, action);
      await execute(rig, action.id, gate());
      return came(await ask(gate(), 'surgeon', 'box_mend', { how: '2026-11-21T12:00:00+02  x;' }));
    },
  },
];
