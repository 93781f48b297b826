import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import {
  actionOf,
  approved,
  call,
  createRig,
  decide,
  execute,
  mend,
  noHooks,
  openIncident,
  propose,
  type Rig,
} from './rig.ts';

/** Ways to have something run that nobody approved as it runs, beside those of no-authority and races. None comes through. */
let rig: Rig;
beforeAll(async () => {
  rig = await createRig({ approvers: ['UONCALL', 'USECOND'].map((id) => ({ kind: 'user', id }) as const) });
});
beforeEach(() => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
});
afterEach(async () => {
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
});
afterAll(() => rig.stop());

const risky = (n: Json) => ({ tool: 'risky_mend', target: 'box', input: { n } });

describe('a number is the same on the card, in the hash, in the record and in the run', () => {
  test.each([
    -0,
    1e21,
    1e-7,
    0.1 + 0.2,
    2 ** 53,
    2 ** 53 + 2,
    5e-324,
    1.7976931348623157e308,
    -1e300,
    123456789.12345679,
  ])('%d', async (n) => {
    const action = await propose(rig, risky(n));
    expect(action.command).toBe(`risky ${n + 0}`);
    expect(canonicalJson(action.input)).toBe(canonicalJson({ n: n + 0 }));
    expect(await decide(rig, action)).toMatchObject({ ok: true });
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
    expect(rig.machine.effects).toBe(1);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 10n, '1', [1], { valueOf: () => 1 }, new Number(1)])(
    'what is none is not proposed: %s',
    async (n) => {
      const incidentId = await openIncident(rig);
      expect(await call(rig, 'surgeon', incidentId, risky(n as Json))).toMatchObject({ kind: 'refused' });
    },
  );
});

describe('two inputs never have one hash', () => {
  test.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [{ a: [] }, { a: {} }],
    [{ a: ['1,2'] }, { a: ['1', '2'] }],
    [{ 'a":1,"b': 2 }, { a: 1, b: 2 }],
    [{ a: '\u00e9' }, { a: 'e\u0301' }],
    [{ a: 'K' }, { a: '\u212a' }],
    [{ a: { b: 1 }, c: 2 }, { a: { b: 1, c: 2 } }],
    [{ constructor: 1 }, {}],
    [{ toJSON: 1 }, {}],
    [{ a: 1e21 }, { a: '1e+21' }],
  ])('%j and %j', async (one, other) => {
    const hashes = [];
    for (const input of [one, other])
      hashes.push((await propose(rig, { tool: 'odd_mend', target: 'box', input: input as Json })).planHash);
    expect(hashes[0]).not.toBe(hashes[1]);
  });
});

describe('who presses', () => {
  test.each([
    'uoncall',
    'UONCALL ',
    ' UONCALL',
    'UONCALL\u200b',
    'U\u041eNCALL',
    'WONCALL',
    '<@UONCALL>',
    '',
    'policy',
    '*',
    'null',
  ])('is who is listed, to the letter: %j approves nothing', async (by) => {
    const action = await propose(rig);
    expect(await decide(rig, action, 'approve', by)).toMatchObject({ ok: false });
    expect((await actionOf(rig, action.id)).state).toBe('proposed');
  });

  test('is one of two only once, under whatever hash or step', async () => {
    const action = await propose(rig);
    await rig.core.sql`UPDATE action SET approvals_needed = 2 WHERE id = ${action.id}`;
    expect(await decide(rig, action)).toMatchObject({ ok: true, action: { state: 'proposed' } });
    for (const again of [action, { ...action, planHash: action.planHash.toUpperCase() }])
      expect(await decide(rig, again)).toMatchObject({ ok: false });
    expect((await actionOf(rig, action.id)).approvedBy).toEqual(['UONCALL']);
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run' });
  });
});

describe('what happens at once', () => {
  const ends = async (action: Action) => (await actionOf(rig, action.id)).state;

  test('an approval, a denial, an expiry and a withdrawal leave one of them, and what ran was approved', async () => {
    for (let round = 0; round < 6; round += 1) {
      const action = await propose(rig);
      const before = rig.machine.effects;
      await Promise.all([
        decide(rig, action),
        decide(rig, action, 'deny', 'USECOND'),
        rig.core.approvals.expire(action.id),
        rig.core.sql.begin((tx) => rig.core.approvals.void(tx, action, 'over')),
        execute(rig, action.id),
      ]);
      const state = await ends(action);
      await Promise.all([execute(rig, action.id), execute(rig, action.id), decide(rig, action)]);
      const ran = rig.machine.effects - before;
      expect(ran).toBeLessThanOrEqual(['approved', 'succeeded', 'started'].includes(state) ? 1 : 0);
      await rig.core
        .sql`UPDATE action SET state = 'failed' WHERE id = ${action.id} AND state NOT IN ('denied', 'void')`;
    }
  });

  test('a claim that is given back and taken by another is run once, and only by that', async () => {
    const action = await approved(rig);
    const { ledger } = await import('../../../src/actions/ledger/execution.ts').then((m) => ({
      ledger: m.executionParts.ledger,
    }));
    const claimOf = (claimId: string) =>
      ledger.claim(rig.core.gateDeps, {
        action,
        claimId,
        timeoutMs: 100,
        scopes: ['*'],
        onClaimed: async () => undefined,
      });
    const [mine, other] = [
      '11111111-1111-4111-8111-111111111111',
      '22222222-2222-4222-8222-222222222222',
    ] as const;
    expect(await claimOf(mine)).toMatchObject({ kind: 'claimed' });
    const back = () =>
      ledger.release(rig.core.gateDeps, { action, claimId: mine, onReleased: async () => undefined });
    expect(await back()).toBe(true);
    expect(await claimOf(other)).toMatchObject({ kind: 'claimed' });
    // Whoever gave it back gives back, and ends, nothing of the other's.
    expect(await back()).toBe(false);
    const outcome = { kind: 'succeeded', text: 'mine' } as const;
    expect(
      await ledger.finish(rig.core.gateDeps, {
        action,
        claimId: mine,
        outcome,
        toolCallId: null,
        onEnded: async () => undefined,
      }),
    ).toBe(false);
    expect(await ends(action)).toBe('started');
  });
});

test('an action of one incident, handed over as another’s, runs nothing in either', async () => {
  const mine = await approved(rig);
  const yours = await propose(rig, mend('another way'));
  for (const made of [
    { ...yours, id: mine.id },
    { ...mine, incidentId: yours.incidentId },
    { ...mine, id: yours.id, planId: mine.planId },
    { ...mine, planHash: yours.planHash },
  ])
    expect(await rig.core.gate.execute(made as Action, noHooks, new AbortController().signal)).toMatchObject({
      kind: 'not_run',
    });
  expect(rig.machine.effects).toBe(0);
});

test('a proposal that names a prototype’s tool, or a target by another spelling, is refused', async () => {
  const incidentId = await openIncident(rig);
  for (const tool of [
    '__proto__',
    'constructor',
    'toString',
    'box_mend ',
    'BOX_MEND',
    'box_mend\u0000',
    'b\u043ex_mend',
  ])
    expect(await call(rig, 'surgeon', incidentId, { ...mend('x'), tool })).toMatchObject({
      kind: 'refused',
      code: 'UNKNOWN_TOOL',
    });
  for (const target of ['BOX', 'box ', 'b\u043ex', '__proto__', 'other', '*'])
    expect(await call(rig, 'surgeon', incidentId, mend('x', target))).toMatchObject({ kind: 'refused' });
});
