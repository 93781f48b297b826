import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';

/** *Edit* of an open card: another plan through the whole gate, asked for by who changed it; the card that was is void. */
let rig: PlansRig;
beforeAll(async () => {
  const path = join(scratchDir(), 'policy.yaml');
  const rules = [
    '{name: burning, tools: [part_burn], self_approval: false}',
    '{name: mending, tools: [part_mend], approvals: 2}',
    '{name: all}',
  ];
  writeFileSync(path, `rules: [${rules.join(', ')}]\n`);
  rig = await startPlansRig({ policyPath: path });
});
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.core.sql`DELETE FROM rate_claim`;
  await rig.core.sql`DELETE FROM denial`;
  rig.world.ran.length = 0;
  rig.world.parts.clear();
});

const head = ([first]: readonly Action[]): Action => {
  if (!first) throw new Error('no plan');
  return first;
};
const click = (plan: readonly Action[], by = 'UONCALL') => ({
  actionId: head(plan).id,
  planHash: head(plan).planHash,
  by,
});
const decide = (plan: readonly Action[], by: string, decision: 'approve' | 'deny' = 'approve') =>
  rig.core.approvals.decide({ ...click(plan, by), decision, reason: '', anotherWay: false });
/** What stands in its place. */
const insteadOf = async (plan: readonly Action[]): Promise<readonly Action[]> =>
  ((await rig.core.records.load(head(plan).incidentId))?.actions ?? []).filter(
    ({ planId }) => planId !== head(plan).planId,
  );
const judged = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating', 'verifying'].includes(state);
/** The card stands as it did, and nothing else was asked for. */
async function untouched(plan: readonly Action[], state = 'proposed'): Promise<void> {
  expect((await rig.states(plan))[0]).toBe(state);
  expect(await insteadOf(plan)).toEqual([]);
  expect(rig.world.ran).toEqual([]);
}

describe('a changed argument', () => {
  test('is asked for as a plan of its own, seen anew, by who changed it; the old card is void', async () => {
    const plan = await rig.propose(['part_do a', 'part_do b']);
    expect(rig.edits.fieldsOf(plan)).toEqual([
      { step: 1, fields: [{ name: 'size', value: '' }] },
      { step: 2, fields: [{ name: 'size', value: '' }] },
    ]);
    rig.world.part('b').generation += 1;
    expect(await rig.edits.save(click(plan), { 2: { size: '4' } })).toEqual({ ok: true });
    expect((await rig.states(plan))[0]).toBe('void');
    const now = await insteadOf(plan);
    expect(
      now.map(({ state, command, requestedBy, runbookId, autonomousAt }) => [
        state,
        command,
        requestedBy,
        runbookId,
        autonomousAt,
      ]),
    ).toEqual([
      ['proposed', 'part_do a', 'UONCALL', null, null],
      ['queued', 'part_do b --size 4', 'UONCALL', null, null],
    ]);
    expect(now[1]?.guard).toEqual({ generation: 2 });
    const { incidentId } = head(plan);
    expect((await rig.core.records.incident(incidentId))?.requesters).toContain('UONCALL');
    const events = (await rig.core.records.load(incidentId))?.events ?? [];
    expect(events.filter(({ type }) => type === 'action.edited')).toMatchObject([
      { actionId: head(plan).id, by: 'UONCALL' },
    ]);
    // A turn that comes by meanwhile waits for the new card.
    await rig.turn(incidentId);
    expect(await rig.stateOf(incidentId)).toBe('awaiting_approval');
    await rig.approve(now);
    await rig.drive(now, judged);
    expect(rig.world.ran).toEqual(['part_do a', 'part_do b --size 4']);
  });

  test('is for the new card alone: a press on the old one runs nothing', async () => {
    const plan = await rig.propose(['part_do a']);
    expect(await rig.edits.save(click(plan), { 1: { size: '4' } })).toEqual({ ok: true });
    expect(await decide(plan, 'USECOND')).toMatchObject({ ok: false, code: 'VOID' });
    expect(await rig.edits.save(click(plan), { 1: { size: '5' } })).toMatchObject({
      code: 'ALREADY_DECIDED',
    });
    await rig.turn(head(plan).incidentId);
    expect(rig.world.ran).toEqual([]);
    expect(await insteadOf(plan)).toMatchObject([{ state: 'proposed', command: 'part_do a --size 4' }]);
  });

  test('is not approved by who changed it, where a rule wants somebody else', async () => {
    const plan = await rig.propose(['part_burn a']);
    expect(await rig.edits.save(click(plan), { 1: { size: '4' } })).toEqual({ ok: true });
    const now = await insteadOf(plan);
    expect(await decide(now, 'UONCALL')).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    // By the record alone as well, whatever becomes of the list.
    await rig.core.sql`UPDATE incident SET requesters = '{}' WHERE id = ${head(plan).incidentId}`;
    expect(await decide(now, 'UONCALL')).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    expect(await decide(now, 'USECOND')).toMatchObject({ ok: true });
  });

  test('takes no approval of the old card with it', async () => {
    const plan = await rig.propose(['part_mend a']);
    expect(await decide(plan, 'USECOND')).toMatchObject({ ok: true });
    expect(await rig.edits.save(click(plan), { 1: { size: '4' } })).toEqual({ ok: true });
    expect(await insteadOf(plan)).toMatchObject([{ state: 'proposed', approvedBy: [], approvalsNeeded: 2 }]);
  });

  test('carries the No that stands against the act', async () => {
    const denied = await rig.propose(['part_do a'], rig.target('one'));
    const plan = await rig.propose(['part_do a'], rig.target('one'));
    expect(await decide(denied, 'USECOND', 'deny')).toMatchObject({ ok: true });
    // The No has called it off; what is asked for in its place has it on the card.
    await untouched(plan, 'void');
    const next = await rig.propose(['part_do a'], rig.target('one'));
    expect(head(next).denialsAcknowledged).toHaveLength(1);
    expect(await rig.edits.save(click(next), { 1: { size: '4' } })).toEqual({ ok: true });
    expect((await insteadOf(next))[0]?.denialsAcknowledged).toEqual(head(next).denialsAcknowledged);
  });
});

describe('the card stands as it was', () => {
  test.each([
    ['what the tool does not take', { 1: { size: '11' } }, 'INVALID_INPUT'],
    ['words for a number', { 1: { size: 'many' } }, 'INVALID_INPUT'],
    ['the thing it is done to', { 1: { part: 'b' } }, 'NOT_EDITABLE'],
    ['an argument that there is not', { 1: { force: 'true' } }, 'NOT_EDITABLE'],
    ['a name that every object has', { 1: { __proto__x: 'y', constructor: 'z' } }, 'NOT_EDITABLE'],
    ['nothing', { 1: { size: '' } }, 'NOTHING_CHANGED'],
    ['a step that there is not', { 7: { size: '4' } }, 'NOTHING_CHANGED'],
  ])('for %s', async (_, edited, code) => {
    const plan = await rig.propose(['part_do a']);
    expect(await rig.edits.save(click(plan), edited)).toMatchObject({ ok: false, code });
    await untouched(plan);
  });

  test('for who may not say No to it, and for another plan than the card shows', async () => {
    const plan = await rig.propose(['part_do a']);
    const edited = { 1: { size: '4' } };
    expect(await rig.edits.save(click(plan, 'USTRANGER'), edited)).toMatchObject({ code: 'NOT_AN_APPROVER' });
    const other = { ...click(plan), planHash: 'a'.repeat(64) };
    expect(await rig.edits.save(other, edited)).toMatchObject({ code: 'PLAN_CHANGED' });
    await untouched(plan);
  });

  test('for what the gate refuses, which is told: over by itself, stopped, moved on', async () => {
    const plan = await rig.propose(['part_do a']);
    rig.world.part('a').done = true;
    const edited = { 1: { size: '4' } };
    expect(await rig.edits.save(click(plan), edited)).toMatchObject({ code: 'OVER_BY_ITSELF' });
    rig.world.part('a').done = false;
    const { incidentId } = head(plan);
    await rig.core
      .sql`UPDATE incident SET state = 'stopped', stopped_from = 'awaiting_approval' WHERE id = ${incidentId}`;
    expect((await rig.edits.save(click(plan), edited)).ok).toBe(false);
    await untouched(plan);
  });

  test('or is decided: of an approval and a change at once one is too late, in every order', async () => {
    for (let n = 0; n < 8; n += 1) {
      const plan = await rig.propose([`part_do race-${n}`]);
      const [approved, saved] = await Promise.all([
        decide(plan, 'USECOND'),
        rig.edits.save(click(plan), { 1: { size: '4' } }),
      ]);
      expect([approved.ok, saved.ok].filter(Boolean)).toHaveLength(1);
      const [state] = await rig.states(plan);
      expect(state).toBe(approved.ok ? 'approved' : 'void');
      expect(await insteadOf(plan)).toHaveLength(approved.ok ? 0 : 1);
    }
  });

  test('once for two who change it at the same time', async () => {
    const plan = await rig.propose(['part_do a']);
    const saved = await Promise.all(
      ['3', '4'].map((size, n) => rig.edits.save(click(plan, n ? 'USECOND' : 'UONCALL'), { 1: { size } })),
    );
    expect(saved.filter(({ ok }) => ok)).toHaveLength(1);
    const open = (await insteadOf(plan)).filter(({ state }) => state === 'proposed');
    expect(open).toHaveLength(1);
  });
});
