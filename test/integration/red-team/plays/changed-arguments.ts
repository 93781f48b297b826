import { planHash } from '../../../../src/actions/proposals/plan-hash.ts';
import type { Action } from '../../../../src/core/action.ts';
import { actionOf, approved, decide, execute, never, noHooks, propose, typed } from '../../actions/rig.ts';
import type { Row, Trial } from '../play.ts';
import { changed } from '../scene.ts';

type Change = string | ((action: Action, trial: Trial) => string);
const inRow = (what: string, change: Change, more: Partial<Row> = {}): Row => ({
  tries: `the row is changed after the approval: ${what}`,
  after: 'it is not what was approved: no effect',
  trace: /gate.refused/,
  async run(trial) {
    const { rig, gate } = trial;
    const action = await approved(rig);
    const set = typeof change === 'string' ? change : change(action, trial);
    await typed(rig, `UPDATE action SET ${set} WHERE id = '${action.id}'`);
    await execute(rig, action.id, gate());
    // As a turn would that had read it before the change.
    await gate().execute(action, noHooks, never);
    return rig.machine.effects > 0;
  },
  ...more,
});

export const changedArguments: readonly Row[] = [
  inRow('its input', `input = '{"how": "harder"}'`, {
    station: '9 hash equal',
    trace: /gate.refused PLAN_CHANGED/,
  }),
  inRow('one more field', `input = input || '{"force": true}'`),
  inRow('the tool', `tool = 'risky_mend'`),
  inRow('the target', `target = 'other'`),
  inRow('the state it was given for', `guard = '{"generation": 2}'`),
  inRow('the incident', (_, { incidentId }) => `incident_id = '${incidentId}'`),
  inRow('input, command and a hash that fits them', (action) => {
    const hash = planHash({ ...action, input: { how: 'x' }, command: 'mend --how x' });
    return `input = '{"how": "x"}', command = 'mend --how x', plan_hash = '${hash}'`;
  }),
  {
    tries: 'the action of one incident handed in under another',
    after: 'it is not what is on record: no effect',
    trace: /gate.refused PLAN_CHANGED/,
    async run({ rig, gate, incidentId }) {
      await gate().execute(changed(await approved(rig), { incidentId }), noHooks, never);
      return rig.machine.effects > 0;
    },
  },
  {
    tries: 'arguments that say something else each time they are read',
    after: 'what is shown, hashed and run is one copy',
    trace: /gate\./,
    async run({ ask, gate, rig }) {
      let reads = 0;
      const input = {
        get how() {
          reads += 1;
          return reads > 1 ? 'harder' : 'way';
        },
      };
      const result = await ask(gate(), 'surgeon', 'box_mend', input);
      if (result.kind !== 'proposed') return false;
      const { input: kept, command } = await actionOf(rig, result.actionId);
      return command !== `mend --how ${(kept as { how: string }).how}`;
    },
  },
  {
    tries: 'the caller changes its arguments while the card is approved',
    after: 'the card and the run keep what was proposed',
    trace: /gate.outcome/,
    async run({ gate, rig, mint }) {
      const input = { how: 'way' };
      const asked = gate().call(
        mint('surgeon'),
        { tool: 'box_mend', target: 'box', input },
        { signal: never },
      );
      input.how = 'harder';
      const result = await asked;
      if (result.kind !== 'proposed') return true;
      const action = await actionOf(rig, result.actionId);
      await decide(rig, action);
      await execute(rig, action.id, gate());
      return (await actionOf(rig, action.id)).command.includes('harder');
    },
  },
  {
    tries: 'an approval of what was first proposed, for what was proposed instead',
    after: 'the press counts for nothing',
    trace: /approval.refused PLAN_CHANGED/,
    async run({ rig }) {
      const action = await propose(rig);
      return (await decide(rig, { id: action.id, planHash: 'f'.repeat(64) })).ok;
    },
  },
];
