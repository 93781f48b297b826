import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseTargets } from '../../../src/config/targets.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Role } from '../../../src/core/incident.ts';
import type { Target } from '../../../src/core/target.ts';
import { boxTarget } from '../../support/core.ts';
import { createRig, mend, never, openIncident, type Rig } from './rig.ts';

/** `box` may read `metrics`, which may read `vault`; `pod` may read `box`. */
const targets: readonly Target[] = [
  { ...boxTarget, neighbours: ['metrics', 'elsewhere'] },
  { ...boxTarget, name: 'metrics', neighbours: ['vault'] },
  { ...boxTarget, name: 'elsewhere', domain: 'kubernetes' },
  { ...boxTarget, name: 'vault' },
  { ...boxTarget, name: 'pod', neighbours: ['box'] },
];

let rig: Rig;
let incidentId: IncidentId;
beforeAll(async () => {
  rig = await createRig({ gate: { targets: new Map(targets.map((target) => [target.name, target])) } });
  incidentId = await openIncident(rig);
});
afterAll(() => rig.stop());

async function ask(role: Role, target: string, tool = 'box_state', own = ['box']) {
  const credential = rig.core.vault.mint({ role, incidentId, targets: own });
  try {
    const input = tool === 'box_mend' ? { how: 'a' } : {};
    return await rig.core.gate.call(credential, { tool, target, input }, { signal: never });
  } finally {
    rig.core.vault.revoke(credential);
  }
}

test('an incident reads what its target has declared, and the record says which system it was', async () => {
  const result = await ask('detective', 'metrics');
  expect(result.kind).toBe('ok');
  const record = await rig.core.records.load(incidentId);
  expect(record?.toolCalls.find(({ id }) => id === result.toolCallId)).toMatchObject({ target: 'metrics' });
});

test.each([
  ['a target that nobody declared', 'vault', ['elsewhere']],
  ['the neighbour of a neighbour', 'vault', ['box']],
  ['what declares it, the other way round', 'pod', ['box']],
  ['a neighbour of another incident’s target', 'metrics', ['pod']],
  ['a neighbour where it has no target', 'metrics', []],
])('it does not read %s', async (_, target, own) => {
  expect(await ask('detective', target, 'box_state', own)).toMatchObject({
    kind: 'refused',
    code: 'TARGET_OUT_OF_SCOPE',
  });
});

test('whoever investigates is told of them one step far', () => {
  const told = (target: string) => rig.core.gate.neighbours(target).map(({ name }) => name);
  expect(told('box')).toEqual(['metrics', 'elsewhere']);
  expect(told('vault')).toEqual([]);
  expect(told('nobody')).toEqual([]);
});

test('nothing is proposed or run on a neighbour', async () => {
  const before = rig.machine.effects;
  expect(await ask('surgeon', 'metrics', 'box_mend')).toMatchObject({
    kind: 'refused',
    code: 'NEIGHBOUR_READ_ONLY',
  });
  // A later step of a plan is on its first step's target, which is checked.
  const credential = rig.core.vault.mint({ role: 'surgeon', incidentId, targets: ['box'] });
  const proposal = { why: 'x', runbookId: null, verify: null, andThen: [{ ...mend('b'), why: 'x' }] };
  expect(
    await rig.core.gate.call(credential, { ...mend('a', 'metrics'), proposal }, { signal: never }),
  ).toMatchObject({ code: 'NEIGHBOUR_READ_ONLY' });
  expect(rig.machine.effects).toBe(before);
  expect((await rig.core.records.load(incidentId))?.actions).toEqual([]);
});

test('a neighbour is read by the tools of its own domain only', async () => {
  expect(await ask('detective', 'elsewhere')).toMatchObject({ code: 'WRONG_DOMAIN' });
});

test('whoever is refused learns of the incident’s own target and neighbours, and of nothing else', async () => {
  const refused = await ask('detective', 'vault');
  if (refused.kind !== 'refused') throw new Error('it was let through');
  expect(refused.reason).toBe(
    `"vault" is not part of this incident. This incident's target is box. Its neighbours may be read: metrics, elsewhere.`,
  );
});

test('a criterion that is about a neighbour is read there, and of no other target', async () => {
  const criterion = (target: string) =>
    rig.core.gate.readCriterion({
      incidentId,
      target: 'box',
      plan: {
        steps: [{ tool: 'box_state', target, input: {}, measure: { name: 'broken' }, says: '' }],
        holdMs: 1,
        timeoutMs: 1,
      },
      purpose: 'Is it over?',
      signal: never,
    });
  const { state, toolCallIds } = await criterion('metrics');
  expect(state).toBe('red');
  const record = await rig.core.records.load(incidentId);
  expect(record?.toolCalls.find(({ id }) => id === toolCallIds[0])?.target).toBe('metrics');
  expect((await criterion('vault')).state).toBe('unread');
});

test.each([
  [['box'], /it names itself/],
  [['nowhere'], /there is no target called "nowhere"/],
])('neighbours that are none are told: %j', (neighbours, says) => {
  const entry = { name: 'box', kind: 'host', roots: ['/srv'], neighbours };
  expect(() => parseTargets({ targets: [entry] }, {}, 'sentry.yaml')).toThrow(says);
});
