import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { Row } from '../../support/typed.ts';
import { type Kind, kinds, sessions, settings } from './denials-kinds.ts';
import { type Call, type DenialsRig, startDenialsRig } from './denials-rig.ts';

/** What was denied, of each kind, met again by each way to a proposal, and by what was under way when the No came. */
let rig: DenialsRig;
beforeAll(async () => {
  rig = await startDenialsRig();
}, 180_000);
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.core.sql`DELETE FROM denial`;
  await rig.core.sql`DELETE FROM rate_claim`;
  await rig.core.sql`UPDATE action SET state = 'void' WHERE state IN ('proposed', 'approved')`;
  await rig.core.sql`UPDATE action SET state = 'skipped' WHERE state = 'queued'`;
});

const OBJECT = { scope: 'object', minutes: 60 } as const;

type Way = (call: Call, beside: () => Call) => Promise<readonly Action[]>;
const ways: Readonly<Record<string, Way>> = {
  'another incident': async (call) => [await rig.propose(call)],
  'a runbook': async (call) => rig.plan([call]),
  'the first step of a plan': async (call, beside) => rig.plan([call, beside()]),
  'a later step of a plan': async (call, beside) => rig.plan([beside(), call]),
};
const met = kinds.flatMap((kind) => Object.keys(ways).map((way) => ({ name: kind.kind, way, kind })));

/** Runs the steps of an approved plan until one does not. */
async function run(steps: readonly Action[]) {
  for (const step of steps) {
    let result = await rig.execute(step);
    for (let n = 0; result.kind === 'later' && n < 100; n += 1) {
      await sleep(100);
      result = await rig.execute(step);
    }
    if (result.kind !== 'ran') return result;
  }
  return undefined;
}
const states = async ([head]: readonly Action[]): Promise<readonly string[]> =>
  head ? (await rig.core.records.plan(head.planId)).map(({ state }) => state) : [];
const head = ([first]: readonly Action[]): Action => {
  if (!first) throw new Error('no plan');
  return first;
};

test.each(met)('a denied $name is on the card of $way, on all its steps', async ({ kind, way }) => {
  const [call] = await kind.calls(rig);
  const id = await rig.deny(await rig.propose(call), OBJECT);
  const steps = (await ways[way]?.(call, () => kind.beside(rig))) ?? [];
  expect(steps.map(({ denialsAcknowledged }) => denialsAcknowledged)).toEqual(steps.map(() => [id]));
});

describe.each(kinds)('a No to a $kind', (kind: Kind) => {
  test('voids a plan that has not begun and touches it later on', async () => {
    const [call, other] = await kind.calls(rig);
    const plan = await rig.plan([kind.beside(rig), call]);
    await rig.approve(head(plan));
    await rig.deny(await rig.propose(other), OBJECT);
    expect(await states(plan)).toEqual(['void', 'skipped']);
    expect(await run(plan)).toMatchObject({ kind: 'not_run', code: 'VOID' });
  });

  test('lets a step that waits for the one before it not begin', async () => {
    const [call, other] = await kind.calls(rig);
    const plan = await rig.plan([kind.beside(rig), call]);
    // Before the plan's first claim reserves what it may do only so often.
    const open = await rig.propose(other);
    await rig.approve(head(plan));
    expect(await run(plan.slice(0, 1))).toBeUndefined();
    expect(await states(plan)).toEqual(['succeeded', 'queued']);
    await rig.deny(open, OBJECT);
    expect(await run(plan.slice(1))).toMatchObject({ kind: 'not_run', why: 'void', code: 'DENIED' });
    expect((await rig.core.records.action(plan[1]?.id ?? head(plan).id))?.startedAt).toBeNull();
  });

  test('as a part of a denied plan is one to it alone as well, whatever else the plan touched', async () => {
    const [call] = await kind.calls(rig);
    const id = await rig.deny(head(await rig.plan([kind.beside(rig), call])), OBJECT);
    expect((await rig.propose(call)).denialsAcknowledged).toEqual([id]);
  });

  test('as this action here, of a plan, keeps each of its steps back in the incident, and in no other', async () => {
    const [call] = await kind.calls(rig);
    const plan = await rig.plan([kind.beside(rig), call]);
    await rig.deny(head(plan), { scope: 'action', minutes: null });
    expect(await rig.call(head(plan).incidentId, call)).toMatchObject({ kind: 'refused', code: 'DENIED' });
    expect((await rig.propose(call)).denialsAcknowledged).toEqual([]);
  });

  test('ends with its time, and when it is taken back', async () => {
    const [call] = await kind.calls(rig);
    const id = await rig.deny(await rig.propose(call), OBJECT);
    await rig.core.sql`UPDATE denial SET until = clock_timestamp() WHERE id = ${id}`;
    expect((await rig.propose(call)).denialsAcknowledged).toEqual([]);
    await rig.core.sql`UPDATE denial SET until = NULL, taken_back_at = clock_timestamp() WHERE id = ${id}`;
    expect((await rig.propose(call)).denialsAcknowledged).toEqual([]);
  });
});

describe('a No to an application', () => {
  const APPLICATION = { scope: 'application', minutes: 60 } as const;

  test('said to a plan is one to what belongs to none as well', async () => {
    const [end] = await sessions.calls(rig);
    const [set] = await settings.calls(rig);
    const id = await rig.deny(head(await rig.plan([set, end])), APPLICATION);
    for (const call of [end, set]) expect((await rig.propose(call)).denialsAcknowledged).toEqual([id]);
    const [row] = await rig.core.sql<Row>`SELECT label FROM denial WHERE id = ${id}`;
    expect(row?.['label']).toBe('setting idle_session_timeout and 1 more');
  });

  test('where there is none is one to the thing', async () => {
    const [set] = await settings.calls(rig);
    const id = await rig.deny(await rig.propose(set), APPLICATION);
    expect((await rig.propose(set)).denialsAcknowledged).toEqual([id]);
  });
});
