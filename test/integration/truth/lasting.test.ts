import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { mayRunUnasked } from '../../../src/actions/policy/autonomy.ts';
import { type Action, isLastingFix } from '../../../src/core/action.ts';
import type { Prevention } from '../../../src/core/diagnosis.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { createChangeOfMind } from '../../../src/incidents/after-all.ts';
import { endRepetition } from '../../../src/incidents/failed-turn.ts';
import { createKillSwitchService } from '../../../src/incidents/kill-switch/kill-switch-service.ts';
import { BESIDE_TURN } from '../../../src/incidents/move.ts';
import { formatLastingFix } from '../../../src/incidents/questions/format-lasting-fix.ts';
import { answerFromRecord } from '../../../src/incidents/questions/record-answer.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { triedIn } from '../../../src/incidents/tried-in.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { findsNothing } from '../../support/core.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';

/** What keeps a fixed problem from coming back: its own card beside the incident, which stays over whatever becomes of it. */
let rig: PlansRig;
beforeAll(async () => {
  rig = await startPlansRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.core.sql`DELETE FROM rate_claim`;
  await rig.core.sql`UPDATE switch SET stopped = false`;
  // Nothing of another test's is read as part of this one's problem.
  rig.world.ran.length = 0;
  rig.world.parts.clear();
  rig.world.apart.clear();
  rig.world.apart.add('keep').add('also');
});

const KEEP: Prevention = { tool: 'part_do', input: { part: 'keep' }, why: 'It stays done.' };

/** A repair of part `a`, approved; what its diagnosis knows to last stands on record. */
async function repairing(
  prevent: readonly Prevention[] = [KEEP],
  target = rig.target(),
): Promise<readonly Action[]> {
  const plan = await rig.propose(['part_do a'], target);
  const id = incidentOf(plan);
  const diagnosis = {
    ...findsNothing,
    origin: 'runbook',
    verdict: 'cause_found',
    rootCause: 'Parts are undone.',
    runbookId: 'parts',
    prevent,
  } as const;
  await rig.core.sql.begin((tx) =>
    rig.core.records.append(tx, id, { type: 'diagnosis.concluded', round: 1, diagnosis }),
  );
  for (const { input } of prevent) rig.world.part((input as { part: string }).part);
  await rig.approve(plan);
  return plan;
}

const ended = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating', 'verifying'].includes(state);

async function fixed(prevent?: readonly Prevention[], target?: string): Promise<readonly Action[]> {
  const plan = await repairing(prevent, target);
  await rig.drive(plan, ended);
  expect(await outcome(incidentOf(plan))).toEqual(FIXED);
  return plan;
}

function incidentOf([first]: readonly Action[]): IncidentId {
  if (!first) throw new Error('no plan');
  return first.incidentId;
}

const FIXED = { state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' };
async function outcome(id: IncidentId) {
  const incident = await rig.core.records.incident(id);
  return { state: incident?.state, verdict: incident?.verdict, resolvedBy: incident?.resolvedBy };
}

const beside = (id: IncidentId) => rig.turn(id, BESIDE_TURN);
const recordOf = async (id: IncidentId) => {
  const record = await rig.core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
};
const lastingOf = async (id: IncidentId) => (await recordOf(id)).actions.filter(isLastingFix);
const statesOf = async (id: IncidentId) => (await lastingOf(id)).map(({ state }) => state);
const standing = async (id: IncidentId) => formatLastingFix(await recordOf(id));

/** The card for what lasts, after the turn that asks for it. */
async function asked(id: IncidentId): Promise<Action> {
  await beside(id);
  const card = (await lastingOf(id)).findLast(({ state }) => state === 'proposed');
  if (!card) throw new Error(`nothing is asked for: ${(await recordOf(id)).incident.nextStep}`);
  return card;
}

const decide = ({ id: actionId, planHash }: Action, decision: 'approve' | 'deny', by = 'UONCALL') =>
  rig.core.approvals.decide({ actionId, planHash, by, decision, reason: '', anotherWay: false });

/** Approved, run, and looked at until what is to be seen of it has been said. */
async function done(id: IncidentId): Promise<Action> {
  const card = await asked(id);
  expect(await decide(card, 'approve')).toMatchObject({ ok: true });
  await untilChecked(id);
  return card;
}

async function untilChecked(id: IncidentId): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await recordOf(id)).events.some(({ type }) => type === 'action.checked')) {
    if (Date.now() > end) throw new Error(`not checked: ${(await statesOf(id)).join(', ')}`);
    await beside(id);
  }
}

const around = { approvers: null, open: [], now: new Date(), mayUndo: () => false, elsewhere: false };
const answer = async (id: IncidentId, question: string): Promise<string> =>
  (answerFromRecord(await recordOf(id), question, around) ?? [])
    .map((line) => line.map((piece) => (typeof piece === 'string' ? piece : '…')).join(''))
    .join('\n');

describe('a lasting fix', () => {
  test('is asked for once the incident is fixed, not before, and only once', async () => {
    const plan = await repairing();
    const id = incidentOf(plan);
    await rig.drive(plan, (_, state) => state === 'verifying');
    await beside(id);
    expect(await lastingOf(id)).toEqual([]);
    await rig.drive(plan, ended);
    // Whoever called it fixed has asked for this turn.
    const turns = await rig.core.sql`
      SELECT inputs FROM dbos.workflow_input WHERE inputs LIKE ${`%${id}"%`} AND inputs LIKE ${`%"${BESIDE_TURN}"%`}`;
    expect(turns.length).toBeGreaterThan(0);
    expect(await asked(id)).toMatchObject({
      state: 'proposed',
      purpose: 'prevent',
      beside: true,
      undoes: null,
      tool: 'part_do',
      runbookId: 'parts',
      autonomousAt: null,
    });
    await beside(id);
    await Promise.all([beside(id), beside(id)]);
    expect(await statesOf(id)).toEqual(['proposed']);
    expect(await outcome(id)).toEqual(FIXED);
    expect(await standing(id)).toBe('To keep it from coming back: change part keep. It waits for approval.');
    expect(await answer(id, 'what is open?')).toContain('It waits for approval.');
    expect(await answer(id, 'is it over?')).toContain('To keep it from coming back');
    expect(await answer(id, 'what is next?')).toContain('To keep it from coming back, a decision on …');
  });

  test('runs once after its approval, is seen, and leaves the verdict as it is', async () => {
    const learnt = vi.spyOn(rig.core.memory, 'recordEpisode');
    const id = incidentOf(await fixed());
    learnt.mockClear();
    rig.world.ran.length = 0;
    const card = await done(id);
    await beside(id);
    expect(rig.world.ran).toEqual(['part_do keep']);
    expect(await outcome(id)).toEqual(FIXED);
    expect(await standing(id)).toMatch(/keep\. Done as asked: .*keep is done/);
    const { events } = await recordOf(id);
    expect(events.filter(({ type }) => type === 'action.checked')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'verification.concluded')).toHaveLength(1);
    expect(why(await recordOf(id))).toContain('• asked for once it was fixed, to keep it from coming back');
    expect(why(await recordOf(id))).toContain('• Done as asked: ');
    // What was fixed before it ran earned it nothing, and memory knows it as no remedy.
    const { sql: tx, seal } = rig.core;
    const autonomy = { after: 1, atMost: { actions: 9, minutes: 60 }, vetoMinutes: 1 };
    expect(await mayRunUnasked({ tx, seal }, card, autonomy)).toBe(false);
    expect(learnt).not.toHaveBeenCalled();
    learnt.mockRestore();
  });

  test('of several steps runs them in order, and the last is looked for', async () => {
    const andThen = [{ tool: 'part_do', input: { part: 'also' }, why: 'So does it.' }];
    const id = incidentOf(await fixed([{ ...KEEP, andThen }]));
    rig.world.part('also');
    rig.world.ran.length = 0;
    await done(id);
    expect(rig.world.ran).toEqual(['part_do keep', 'part_do also']);
    expect(await standing(id)).toMatch(/Done as asked: .*also is done/);
  });

  test('whose effect is not seen is said to be so', async () => {
    const id = incidentOf(await fixed());
    rig.world.part('keep').shows = false;
    await done(id);
    expect(await standing(id)).toContain('It ran, and its effect is not to be seen: ');
    expect(await outcome(id)).toEqual(FIXED);
  });

  test('that fails is said to have failed, and nothing else changes', async () => {
    const id = incidentOf(await fixed());
    rig.world.part('keep').ends = 'failed';
    expect(await decide(await asked(id), 'approve')).toMatchObject({ ok: true });
    await beside(id);
    await beside(id);
    expect(await statesOf(id)).toEqual(['failed']);
    expect(await standing(id)).toContain('It failed: ');
    expect(await outcome(id)).toEqual(FIXED);
  });

  test.each(['done', 'not_done'] as const)(
    'of which nobody knows whether it ran is looked at: %s',
    async (looks) => {
      const id = incidentOf(await fixed());
      Object.assign(rig.world.part('keep'), { ends: 'unknown', looks, done: false });
      expect(await decide(await asked(id), 'approve')).toMatchObject({ ok: true });
      await beside(id);
      expect(await statesOf(id)).toEqual(['unknown']);
      rig.world.part('keep').done = looks === 'done';
      await rig.core.sql`UPDATE action SET done_by = clock_timestamp() WHERE incident_id = ${id} AND beside`;
      if (looks === 'done') await untilChecked(id);
      else await beside(id);
      expect(await statesOf(id)).toEqual([looks === 'done' ? 'succeeded' : 'failed']);
      expect(rig.world.ran.filter((act) => act === 'part_do keep')).toHaveLength(1);
      expect(await outcome(id)).toEqual(FIXED);
    },
  );

  test('is not asked for when its runbook names none, or somebody has seen to it already', async () => {
    const none = incidentOf(await fixed([]));
    await beside(none);
    expect(await lastingOf(none)).toEqual([]);
    rig.world.parts.clear();
    const id = incidentOf(await fixed());
    rig.world.part('keep').done = true;
    await beside(id);
    expect(await lastingOf(id)).toEqual([]);
    expect((await rig.core.records.incident(id))?.nextStep).toBeNull();
  });

  test('that only mends cannot be asked for, and why is said', async () => {
    const id = incidentOf(await fixed([{ ...KEEP, tool: 'part_mend' }]));
    await beside(id);
    expect(await lastingOf(id)).toEqual([]);
    expect((await rig.core.records.incident(id))?.nextStep).toMatch(
      /^What would keep it from coming back cannot be asked for: /,
    );
  });

  test('comes from the second thing that its runbook names where the first cannot be asked for', async () => {
    const id = incidentOf(await fixed([{ ...KEEP, tool: 'part_mend' }, KEEP]));
    expect(await asked(id)).toMatchObject({ tool: 'part_do' });
  });
});

describe('nothing that lasts is asked for', () => {
  test('when the repair did not help', async () => {
    const plan = await repairing();
    rig.world.part('b');
    await rig.drive(plan, ended);
    expect((await outcome(incidentOf(plan))).verdict).toBe('not_fixed');
    await beside(incidentOf(plan));
    expect(await lastingOf(incidentOf(plan))).toEqual([]);
  });

  test('when it cannot be told', async () => {
    const plan = await repairing();
    await rig.drive(plan, (_, state) => state === 'verifying');
    await rig.core
      .sql`UPDATE incident SET state = 'escalated', verdict = 'cannot_tell' WHERE id = ${incidentOf(plan)}`;
    await beside(incidentOf(plan));
    expect(await lastingOf(incidentOf(plan))).toEqual([]);
  });

  test.each(['source', 'person'])('when it is over on the word of a %s alone', async (by) => {
    const id = incidentOf(await fixed());
    await rig.core.sql`UPDATE incident SET resolved_by = ${by} WHERE id = ${id}`;
    await beside(id);
    expect(await lastingOf(id)).toEqual([]);
  });

  test('when what fixed it has been taken back', async () => {
    const [repair] = await fixed();
    if (!repair) throw new Error('no repair');
    const { id: actionId, planHash, incidentId } = repair;
    expect(await rig.undo.press({ actionId, planHash, by: 'UONCALL' })).toMatchObject({ ok: true });
    await beside(incidentId);
    expect(await lastingOf(incidentId)).toEqual([]);
    expect(await rig.stateOf(incidentId)).toBe('diagnosing');
    // It is told as that person's doing, and the fix is not said to stand.
    const record = await rig.core.records.load(incidentId);
    if (!record) throw new Error('no record');
    const slots = draw(record, { threadUrl: () => null, approvers: null, nameOf: () => 'olivia' });
    const shown = (name: string) => JSON.stringify(slots.find(({ slot }) => slot === name));
    expect(shown('again:opening-2')).toContain('olivia undid the fix');
    expect(shown('summary:1')).toContain('Undone by @olivia.');
    expect(shown('summary:1')).not.toContain('🟢');
  });
});

describe('a lasting fix that waits', () => {
  test('and is denied is not asked for again, unless a person has it so', async () => {
    const id = incidentOf(await fixed());
    const card = await asked(id);
    expect(await decide(card, 'deny')).toMatchObject({ ok: true });
    await beside(id);
    expect(await statesOf(id)).toEqual(['denied']);
    expect(await outcome(id)).toEqual(FIXED);
    expect(await standing(id)).toContain('Somebody said no to it.');
    const mind = createChangeOfMind({ ...rig.core, policy: rig.core.policy });
    const click = { actionId: card.id, planHash: card.planHash, by: 'UONCALL' };
    expect(await mind.askAgain(click)).toEqual({ ok: true, text: null });
    expect(await statesOf(id)).toEqual(['denied', 'proposed']);
    expect(await outcome(id)).toEqual(FIXED);
  });

  test('and runs out ends quietly', async () => {
    const id = incidentOf(await fixed());
    const card = await asked(id);
    await rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE id = ${card.id}`;
    await beside(id);
    await beside(id);
    expect(await statesOf(id)).toEqual(['expired']);
    expect(await outcome(id)).toEqual(FIXED);
  });

  test.each([false, true])('is void when the alert fires again; approved: %s', async (isApproved) => {
    const id = incidentOf(await fixed());
    const card = await asked(id);
    if (isApproved) expect(await decide(card, 'approve')).toMatchObject({ ok: true });
    await rig.core.sql`UPDATE incident SET fired_again_at = clock_timestamp() WHERE id = ${id}`;
    await rig.turn(id);
    expect(await rig.stateOf(id)).toBe('diagnosing');
    const [voided] = await lastingOf(id);
    expect(voided).toMatchObject({ state: 'void', outcome: expect.stringContaining('fired again') });
    await beside(id);
    expect(await statesOf(id)).toEqual(['void']);
    expect(rig.world.ran).not.toContain('part_do keep');
  });

  test('does not begin once the incident is not fixed any more, whoever has approved it', async () => {
    const id = incidentOf(await fixed());
    expect(await decide(await asked(id), 'approve')).toMatchObject({ ok: true });
    // In between: it was moved by a turn of another process.
    await rig.core
      .sql`UPDATE incident SET state = 'diagnosing', round = 2, resolved_by = NULL WHERE id = ${id}`;
    await beside(id);
    expect(rig.world.ran).not.toContain('part_do keep');
    expect(await statesOf(id)).toEqual(['approved']);
  });

  test('does not stand in the way of the repair’s undo, which ends it', async () => {
    const [repair] = await fixed();
    if (!repair) throw new Error('no repair');
    const { id: actionId, planHash, incidentId: id } = repair;
    await asked(id);
    expect(await rig.undo.press({ actionId, planHash, by: 'UONCALL' })).toEqual({ ok: true, text: null });
    expect(await statesOf(id)).toEqual(['proposed']);
    await beside(id);
    expect(await rig.stateOf(id)).toBe('diagnosing');
    expect(await statesOf(id)).toEqual(['void']);
  });

  test('shows a No that another incident’s people said to what it touches', async () => {
    const target = rig.target();
    const problem = rig.world.part('c');
    const [other] = await rig.propose(['part_do keep'], target);
    problem.done = true;
    if (!other) throw new Error('no plan');
    const { id: actionId, planHash } = other;
    await rig.core.approvals.decide({
      actionId,
      planHash,
      by: 'USECOND',
      decision: 'deny',
      reason: 'not now',
      anotherWay: false,
      reach: { scope: 'object', minutes: null },
    });
    const id = incidentOf(await fixed([KEEP], target));
    const card = await asked(id);
    expect(card.denialsAcknowledged).toHaveLength(1);
    expect(card.autonomousAt).toBeNull();
  });

  test('is asked for again with a No that is said to what it touches meanwhile', async () => {
    const target = rig.target();
    const id = incidentOf(await fixed([KEEP], target));
    expect((await asked(id)).denialsAcknowledged).toEqual([]);
    rig.world.part('c');
    const [other] = await rig.propose(['part_undo keep'], target);
    if (!other) throw new Error('no plan');
    const { id: actionId, planHash } = other;
    const order = { actionId, planHash, by: 'USECOND', reason: 'not now', anotherWay: false } as const;
    const reach = { scope: 'object', minutes: null } as const;
    expect(await rig.core.approvals.decide({ ...order, decision: 'deny', reach })).toMatchObject({
      ok: true,
    });
    expect(await statesOf(id)).toEqual(['void']);
    expect((await asked(id)).denialsAcknowledged).toHaveLength(1);
    expect(await statesOf(id)).toEqual(['void', 'proposed']);
  });

  test('is void when its state moved, and asked for as it is now', async () => {
    const id = incidentOf(await fixed());
    expect(await decide(await asked(id), 'approve')).toMatchObject({ ok: true });
    rig.world.part('keep').generation += 1;
    await beside(id);
    expect(await statesOf(id)).toEqual(['void']);
    await asked(id);
    expect(await statesOf(id)).toEqual(['void', 'proposed']);
    expect(rig.world.ran).not.toContain('part_do keep');
  });

  test('and whose turn keeps failing leaves the incident fixed', async () => {
    const id = incidentOf(await fixed());
    expect(await decide(await asked(id), 'approve')).toMatchObject({ ok: true });
    for (let n = 0; n < 6; n += 1) await endRepetition(rig.core, id, new Error('it broke'), true);
    expect(await statesOf(id)).toEqual(['void']);
    expect(await outcome(id)).toEqual(FIXED);
  });
});

describe('while nothing may be changed', () => {
  const stop = () => rig.core.sql`UPDATE switch SET stopped = true, reason = 'a freeze' WHERE scope = '*'`;
  const goOn = async () => {
    await rig.core.sql`UPDATE switch SET stopped = false`;
    await createKillSwitchService({ ...rig.core, ...rig.core.gateDeps }).look();
  };

  test('it is said what would be asked for, and it is asked for afterwards', async () => {
    const id = incidentOf(await fixed());
    await stop();
    expect(await asked(id)).toMatchObject({ auditOnly: true, state: 'proposed' });
    await beside(id);
    expect(await statesOf(id)).toEqual(['proposed']);
    expect(await standing(id)).toContain('Nothing may be changed now.');
    await goOn();
    await done(id);
    expect(await statesOf(id)).toEqual(['void', 'succeeded']);
    expect(await outcome(id)).toEqual(FIXED);
  });

  test('its open card offers no approval until somebody resumes, although its incident is over', async () => {
    const repair = await fixed();
    const id = incidentOf(repair);
    const card = await asked(id);
    const offered = async () => {
      const record = await rig.core.records.load(id);
      if (!record) throw new Error(`no ${id}`);
      expect(record.incident.state).toBe('resolved');
      const options = { threadUrl: () => null, approvers: '@oncall', oncall: null };
      return JSON.stringify(draw(record, options).find(({ slot }) => slot === `action:${card.id}`)).includes(
        'sentry_approve',
      );
    };
    const board = createKillSwitchService({ ...rig.core, ...rig.core.gateDeps });
    for (const scope of [`target:${repair[0]?.target}`, '*']) {
      const order = { scope, by: 'UADMIN', reason: 'a freeze' };
      expect(await offered()).toBe(true);
      await board.stop({ ...order, forMs: null });
      expect(await offered()).toBe(false);
      expect(await board.resume(order)).toBe(true);
    }
    expect(await offered()).toBe(true);
  });

  test('what was approved before does not run, and is asked for again afterwards', async () => {
    const id = incidentOf(await fixed());
    expect(await decide(await asked(id), 'approve')).toMatchObject({ ok: true });
    await stop();
    await beside(id);
    expect((await statesOf(id))[0]).toBe('void');
    expect(rig.world.ran).not.toContain('part_do keep');
    await goOn();
    await done(id);
    expect(rig.world.ran.filter((act) => act === 'part_do keep')).toHaveLength(1);
  });
});

describe('a lasting fix that ran', () => {
  test('can be taken back, and the incident stays fixed', async () => {
    const id = incidentOf(await fixed());
    const { id: actionId, planHash } = await done(id);
    expect(await rig.undo.press({ actionId, planHash, by: 'UONCALL' })).toEqual({ ok: true, text: null });
    await beside(id);
    expect(rig.world.ran.at(-1)).toBe('part_undo keep');
    expect(await outcome(id)).toEqual(FIXED);
    expect(await standing(id)).toContain('It was taken back.');
    await beside(id);
    expect(await statesOf(id)).toEqual(['succeeded']);
  });

  test('is neither tried nor repaired when the problem comes back, and the repair is judged for itself', async () => {
    const plan = await fixed();
    const id = incidentOf(plan);
    await done(id);
    await rig.core.sql.begin((tx) =>
      rig.core.records.append(tx, id, {
        type: 'verification.concluded',
        round: 1,
        verdict: 'not_fixed',
        reason: 'It did not last.',
      }),
    );
    const tried = triedIn(await recordOf(id));
    expect(tried.map(({ command, verdict }) => [command, verdict])).toEqual([
      ['part_do a', 'not_fixed'],
      ['part_do keep', null],
    ]);
  });

  test('of one incident leaves nothing to ask for in another on the same system', async () => {
    const target = rig.target();
    const first = incidentOf(await fixed([KEEP], target));
    await done(first);
    rig.world.part('a').done = false;
    const second = incidentOf(await fixed([KEEP], target));
    await beside(second);
    expect(await lastingOf(second)).toEqual([]);
    expect(await statesOf(first)).toEqual(['succeeded']);
  });
});
