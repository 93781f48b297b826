import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { resolveUnknownOutcome } from '../../../src/actions/approvals/resolve-unknown-outcome.ts';
import type { ActionId, IncidentId } from '../../../src/core/ids.ts';
import type { VerifyStep } from '../../../src/core/tool-call.ts';
import { LASTING_TURN } from '../../../src/incidents/phases/lasting.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { boxAlert } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  approve,
  at,
  coreOf,
  learnt,
  open,
  proposed,
  reasons,
  resetWorld,
  script,
  until,
  verdicts,
  world,
} from './recovery-rig.ts';

/** Worlds in which a fix looks as if it had helped. */
let database: ScratchDatabase;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  at.core = await coreOf(database.url, { sourceWaitMs: 50 });
  await at.core.start();
});
afterAll(async () => {
  await at.core.stop();
  await database.drop();
});
beforeEach(resetWorld);
afterEach(() => vi.restoreAllMocks());

const helps = () => {
  world.waiting = 0;
};
let messages = 0;
/** A chat message of its own: nobody waits for its end. */
const inChat = () => {
  messages += 1;
  const name = `BoxBroken${messages}`;
  return { source: 'slack', name, labels: { alertname: name, instance: 'box' } };
};

async function fixed(): Promise<IncidentId> {
  world.acts = helps;
  const id = await open(at.core, inChat());
  await approve(id);
  expect((await until(id, 'resolved')).incident).toMatchObject({ resolvedBy: 'confirmed', verdict: 'fixed' });
  return id;
}

/** What comes by itself after one, five and fifteen minutes, now. */
const lookAgain = (id: IncidentId) => createTurn(at.core)(id, LASTING_TURN, (_, work) => work());

/** As if it had been undone: beside it stands its inverse. */
async function undo(id: ActionId, state: string): Promise<ActionId> {
  const undoId = `act_undo_${id.slice(-6)}` as ActionId;
  await at.core.sql`
    INSERT INTO action
    SELECT (jsonb_populate_record(a, jsonb_build_object('id', ${undoId}::text, 'plan_id', ${undoId}::text, 'undoes', a.id, 'beside', true, 'purpose', 'undo',
      'state', ${state}::text, 'done_by', clock_timestamp() - interval '1 minute', 'finished_at', clock_timestamp()))).*
      FROM action a WHERE a.id = ${id}`;
  return undoId;
}

describe('what was called fixed', () => {
  test('and is another process at each look since did not last, however healthy it looks', async () => {
    const id = await fixed();
    world.starts += 1;
    await lookAgain(id);
    expect((await at.core.records.incident(id))?.state).toBe('resolved');
    // Once may have been anybody.
    await lookAgain(id);
    expect((await at.core.records.incident(id))?.state).toBe('resolved');
    world.starts += 1;
    await lookAgain(id);
    const { events } = await until(id, 'reported', 2);
    expect(verdicts(events).slice(0, 2)).toEqual(['fixed', 'not_fixed']);
    expect([learnt(id)[0], learnt(id).at(-1)]).toEqual([true, false]);
  });

  test('by an action whose run says it failed is looked at again as well', async () => {
    world.ends = 'failed';
    const id = await fixed();
    expect(learnt(id)).toEqual([null]);
    world.waiting = 9;
    await lookAgain(id);
    await lookAgain(id);
    expect(verdicts((await until(id, 'reported', 2)).events)).toEqual(['fixed', 'not_fixed']);
  });

  test('and did not last is looked at again although the target has another, unlike incident', async () => {
    const id = await fixed();
    await at.core.sql`
      INSERT INTO incident (id, state, title, alert_name, severity, domain, target, source, fingerprint, incident_type, labels, annotations)
      VALUES ('INC-900', 'reported', 'The disk is full', 'DiskFull', 'warning', 'postgres', 'box', 'slack', 'disk', 'disk', '{}', '{}')`;
    world.waiting = 9;
    await lookAgain(id);
    await lookAgain(id);
    expect(verdicts((await until(id, 'reported', 2)).events)).toEqual(['fixed', 'not_fixed']);
  });

  test('and did not last for the third time goes to people', async () => {
    const id = await fixed();
    const failed = {
      type: 'verification.concluded',
      round: 1,
      verdict: 'not_fixed',
      reason: 'Still so',
    } as const;
    await at.core.sql.begin(async (tx) => {
      for (const n of [1, 2]) await at.core.records.append(tx, id, failed, `before ${n}`);
    });
    world.waiting = 9;
    await lookAgain(id);
    await lookAgain(id);
    const { incident, events } = await until(id, 'escalated');
    expect(incident).toMatchObject({ resolvedBy: null, verdict: 'not_fixed' });
    expect(incident.nextStep).toContain('a person has to take over');
    expect(events.some(({ type }) => type === 'incident.escalated')).toBe(true);
  });
});

describe('the end that a source tells', () => {
  const over = (id: IncidentId, fingerprint: string) =>
    at.core.accept(
      boxAlert({
        fingerprint,
        status: 'resolved',
        deliveryKey: `${id} over`,
        endsAt: new Date().toISOString(),
      }),
    );

  /** Our own check has held, and the source went on firing: nobody can tell. */
  async function heldWhileItFired(fingerprint: string) {
    world.acts = helps;
    const id = await open(at.core, { fingerprint });
    const { id: actionId } = await approve(id);
    expect((await until(id, 'escalated')).incident.verdict).toBe('cannot_tell');
    return { id, actionId };
  }

  test('after our own check has held is fixed, and looked at again later', async () => {
    const asked = vi.spyOn(at.core.engine, 'enqueueTurn');
    const { id } = await heldWhileItFired('1'.repeat(32));
    await over(id, '1'.repeat(32));
    expect((await until(id, 'resolved')).incident).toMatchObject({
      resolvedBy: 'confirmed',
      verdict: 'fixed',
    });
    await waitFor('the looks to come', async () => {
      const looks = asked.mock.calls.filter(([of, reason]) => of === id && reason === LASTING_TURN);
      return looks.length === 3;
    });
    expect(learnt(id)).toEqual([null, true]);
  });

  test.each(['succeeded', 'unknown'])(
    'of what a person has taken back (%s) confirms nothing',
    async (state) => {
      const fingerprint = state === 'unknown' ? '2'.repeat(32) : '3'.repeat(32);
      const { id, actionId } = await heldWhileItFired(fingerprint);
      await undo(actionId, state);
      await over(id, fingerprint);
      expect((await until(id, 'resolved')).incident).toMatchObject({
        resolvedBy: 'source',
        verdict: 'cannot_tell',
      });
      expect(learnt(id)).toEqual([null]);
      // What nobody knows of would keep everything else on the target waiting.
      await at.core.sql`UPDATE action SET state = 'failed' WHERE undoes = ${actionId}`;
    },
  );

  test('confirms nothing where it has been started again since our check held', async () => {
    const { id } = await heldWhileItFired('4'.repeat(32));
    world.starts += 1;
    await over(id, '4'.repeat(32));
    expect((await until(id, 'resolved')).incident.resolvedBy).toBe('source');
  });
});

describe('an undo', () => {
  test('that nobody knew of and a person says ran opens what it had fixed, and leaves it unknown whether that helped [B7]', async () => {
    const id = await fixed();
    const actionId = (await at.core.records.load(id))?.actions[0]?.id as ActionId;
    const undoId = await undo(actionId, 'unknown');
    expect(
      await resolveUnknownOutcome(at.core, {
        actionId: undoId,
        ran: true,
        by: 'ops',
        reason: 'seen on the queue',
      }),
    ).toEqual({ ok: true });
    const { events } = await until(id, 'reported', 2);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'state.changed', from: 'resolved', to: 'diagnosing' }),
    );
    // Neither what worked nor what failed; whichever turn comes for what runs beside writes the same once more.
    expect([...new Set(learnt(id))]).toEqual([true, null]);
  });

  test('of what did not help leaves it a failure', async () => {
    const id = await open(at.core, inChat());
    await approve(id);
    await until(id, 'reported', 2);
    const actionId = (await at.core.records.load(id))?.actions[0]?.id as ActionId;
    const undoId = await undo(actionId, 'unknown');
    await resolveUnknownOutcome(at.core, { actionId: undoId, ran: true, by: 'ops', reason: '' });
    await waitFor('what is learnt of it', async () => learnt(id).length === 2);
    expect(learnt(id)).toEqual([false, false]);
    const { incident } = await until(id, 'reported', 2);
    expect(incident.nextStep).toContain('taken back');
  });

  test('of what was being watched when a person stopped it leaves nothing to call fixed', async () => {
    world.acts = () => {
      world.waiting = 0;
      world.loops = true;
    };
    const id = await open(at.core, inChat());
    const { id: actionId } = await approve(id);
    await until(id, 'verifying');
    await at.core.steering.stop(id, 'UONCALL', '');
    await until(id, 'stopped');
    await undo(actionId, 'succeeded');
    world.loops = false;
    await at.core.steering.resume(id, 'UONCALL');
    expect((await until(id, 'escalated')).incident).toMatchObject({
      resolvedBy: null,
      verdict: 'cannot_tell',
    });
    expect(learnt(id)).toEqual([null]);
  });
});

test('what nothing ran against, and is over, is not fixed', async () => {
  const id = await open(at.core, inChat());
  const { id: actionId } = await proposed(id);
  world.waiting = 0;
  // As a process leaves it whose claim came too late.
  await at.core.sql`UPDATE incident SET state = 'remediating' WHERE id = ${id}`;
  await at.core.sql`
    UPDATE action SET state = 'unknown', claim_id = 'x', done_by = clock_timestamp() - interval '1 second' WHERE id = ${actionId}`;
  await resolveUnknownOutcome(at.core, { actionId, ran: false, by: 'ops', reason: '' });
  const { incident, events } = await until(id, 'reported');
  expect(incident).toMatchObject({ resolvedBy: null, verdict: 'cannot_tell' });
  expect(incident.nextStep).toContain('over by itself');
  expect(verdicts(events)).toEqual(['cannot_tell']);
  expect(learnt(id)).toEqual([]);
});

describe('what is to be acted on', () => {
  const drop = () => Object.assign(script, { proposes: { tool: 'queue_drop', what: 'consumer-7' } });

  test('and no longer shows the problem is left alone, however red the rest is, and the cause is looked for anew', async () => {
    const held = (by: string) => {
      Object.assign(script, { blames: by, proposes: { tool: 'queue_drop', what: by } });
      world.behind = { [by]: 3 };
    };
    held('consumer-7');
    const id = await open(at.core, inChat());
    expect(await proposed(id)).toMatchObject({
      verify: { steps: [{ measure: { name: 'waiting' } }, { measure: { name: 'behind' } }, {}] },
    });
    // Each time somebody approves, somebody else holds the queue up.
    held('consumer-8');
    const { id: first } = await approve(id);
    expect((await proposed(id, 2)).command).toBe('queue_drop consumer-8');
    held('consumer-9');
    await approve(id);
    expect((await proposed(id, 3)).command).toBe('queue_drop consumer-9');
    held('consumer-10');
    await approve(id);
    // Not for ever.
    const { incident } = await until(id, 'reported', 3);
    expect(world.acted).toBe(0);
    expect(await at.core.records.action(first)).toMatchObject({ state: 'void' });
    expect(incident.nextStep).toContain('not because of what was to be mended');
  });

  test('and has gone while its plan waited is no end either: the cause is looked for anew', async () => {
    const id = await open(at.core, inChat());
    const { id: first } = await proposed(id);
    world.gone = 'consumer-7';
    const plans = ['consumer-7', 'consumer-8'];
    script.blames = 'consumer-8';
    script.proposes = {
      tool: 'queue_kick',
      get what() {
        return plans.shift() ?? 'none';
      },
    };
    await approve(id);
    expect((await proposed(id, 2)).command).toBe('queue_kick consumer-8');
    expect(world.acted).toBe(0);
    expect(await at.core.records.action(first)).toMatchObject({ state: 'void' });
  });

  test('and has gone before it could be proposed, as when another incident’s fix ended it, is looked for anew, once', async () => {
    world.gone = 'consumer-7';
    script.proposes = {
      tool: 'queue_kick',
      get what() {
        const { blames } = script;
        script.blames = 'consumer-8';
        return blames;
      },
    };
    const id = await open(at.core, inChat());
    expect((await proposed(id, 2)).command).toBe('queue_kick consumer-8');
  });

  describe('and shows nothing of the problem before it could be proposed, while another one does,', () => {
    const behind = (what: string): VerifyStep => ({
      tool: 'consumer_state',
      input: { what },
      measure: { name: 'behind', bound: 0 },
      says: `Nothing waits behind ${what}.`,
    });
    const waiting: VerifyStep = {
      tool: 'queue_state',
      input: {},
      measure: { name: 'waiting', bound: 2 },
      says: 'Few jobs wait.',
    };
    const plans = (next: string) => ({
      tool: 'queue_kick',
      get what() {
        const { blames } = script;
        const verify = { steps: [behind(blames), waiting], holdMs: 100, timeoutMs: 600 };
        Object.assign(script, { notes: { runbookId: 'stuck-queues', verify }, blames: next });
        return blames;
      },
    });

    test('is looked for anew, once', async () => {
      world.behind = { 'consumer-8': 3 };
      script.proposes = plans('consumer-8');
      const id = await open(at.core, inChat());
      expect((await proposed(id, 2)).command).toBe('queue_kick consumer-8');
    });

    test('is for people when it is still not to blame', async () => {
      world.behind = { 'consumer-8': 3 };
      script.proposes = plans('consumer-7');
      const id = await open(at.core, inChat());
      const { incident } = await until(id, 'reported', 2);
      expect(incident).toMatchObject({ round: 2, resolvedBy: null });
      expect(world.acted).toBe(0);
    });
  });

  test('and is still not there after that is for people', async () => {
    world.gone = 'consumer-7';
    const id = await open(at.core, inChat());
    const { incident } = await until(id, 'reported', 2);
    expect(incident).toMatchObject({ round: 2, resolvedBy: null });
  });

  test('and still does is acted on, and has to be well itself afterwards', async () => {
    drop();
    world.behind = { 'consumer-7': 3 };
    world.acts = helps;
    const id = await open(at.core, inChat());
    await approve(id);
    const { events } = await until(id, 'reported', 2);
    expect(world.acted).toBe(1);
    expect(verdicts(events)).toEqual(['not_fixed']);
    expect(reasons(events)).toContain('✗ jobs behind it: 3');
  });

  test('and never showed anything of its own is judged by the problem alone', async () => {
    drop();
    world.acts = helps;
    const id = await open(at.core, inChat());
    await approve(id);
    expect((await until(id, 'resolved')).incident.resolvedBy).toBe('confirmed');
  });
});

test('what stayed away by itself for a while has to stay away for twice as long', async () => {
  script.reads = ['queue_blips', 'queue_blips', 'queue_blips'];
  script.pauseMs = 1_000;
  world.blips = [1, 0, 1];
  world.acts = () => {
    world.blips = [0];
  };
  const id = await open(at.core, inChat());
  await approve(id);
  await until(id, 'resolved');
  const [away] = await at.core.sql<Row>`
    SELECT extract(epoch FROM max(started_at) - min(started_at))::float8 AS s
      FROM (SELECT started_at FROM tool_call WHERE incident_id = ${id} AND tool = 'queue_blips' ORDER BY started_at OFFSET 1 LIMIT 2) t`;
  const [held] = await at.core.sql<Row>`
    SELECT extract(epoch FROM max(at) - min(at))::float8 AS s FROM criterion_reading
     WHERE incident_id = ${id} AND phase = 'watch' AND holds`;
  expect(Number(away?.['s'])).toBeGreaterThan(0.9);
  expect(Number(held?.['s'])).toBeGreaterThan(Number(away?.['s']) * 2 - 0.1);
});
