import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
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

let database: ScratchDatabase;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  at.core = await coreOf(database.url);
  await at.core.start();
});
afterAll(async () => {
  await at.core.stop();
  await database.drop();
});
beforeEach(resetWorld);

describe('a repair', () => {
  test('is fixed when the symptom is gone, and only then learnt as a success', async () => {
    world.acts = () => {
      world.waiting = 0;
    };
    const id = await open();
    const action = await approve(id);
    expect(action).toMatchObject({
      purpose: 'repair',
      verify: { steps: [{ measure: { name: 'waiting', bound: 2 } }, {}] },
    });
    const record = await until(id, 'resolved');
    const { incident, events } = record;
    expect(incident).toMatchObject({ resolvedBy: 'confirmed', verdict: 'fixed' });
    expect(verdicts(events)).toEqual(['fixed']);
    expect(learnt(id)).toEqual([true]);
    // Its closing tells the numbers that were read, and draws them.
    const closing = draw(record, {
      threadUrl: () => null,
      approvers: null,
      measured: at.core.gate.readRecorded,
    }).find(({ slot }) => slot === 'summary:1');
    expect(closing?.text).toMatch(/🟢 Fixed .*: 3 → 0\. Confirmed by my own check, held for /);
    expect(JSON.stringify(closing?.blocks)).toMatch(/"data_visualization".*"value":3.*"value":0/);
  });

  test.each([
    ['does nothing to the symptom', () => undefined],
    ['makes it better and not good', () => (world.waiting = 2.5)],
    ['makes it worse', () => (world.waiting = 30)],
  ])('that takes effect and %s is not fixed, and learnt as a failure', async (_what, acts) => {
    world.acts = acts;
    const id = await open();
    await approve(id);
    const { incident, events } = await until(id, 'reported', 2);
    expect(world.acted).toBe(1);
    expect(incident.resolvedBy).toBeNull();
    expect(verdicts(events)).toEqual(['not_fixed']);
    expect(learnt(id)).toEqual([false]);
  });

  test('of a service that is started again and again is not fixed, however healthy each look is', async () => {
    world.acts = () => {
      world.waiting = 0;
      world.loops = true;
    };
    const id = await open();
    await approve(id);
    const { incident, events } = await until(id, 'reported', 2);
    expect(incident.resolvedBy).toBeNull();
    expect(verdicts(events)).toEqual(['not_fixed']);
    expect(reasons(events)).toContain('was started again');
    expect(learnt(id)).toEqual([false]);
  });

  test('is not proposed when the problem is over by then', async () => {
    script.reads = ['queue_state', 'queue_state'];
    const id = await open();
    const action = await proposed(id);
    // Denied, asked for another way, and over meanwhile.
    world.waiting = 0;
    script.proposes = { tool: 'queue_tune', what: 'consumer-7' };
    const { id: actionId, planHash } = action;
    const no = { decision: 'deny', reason: 'look again', anotherWay: true } as const;
    expect(await at.core.approvals.decide({ actionId, planHash, by: 'UONCALL', ...no })).toMatchObject({
      ok: true,
    });
    const { incident, actions } = await until(id, 'reported');
    expect(actions).toHaveLength(1);
    expect(incident.nextStep).toContain('over by itself');
    expect(world.acted).toBe(0);
  });

  test('that was approved does not run when the problem has ended before', async () => {
    const id = await open();
    await proposed(id);
    world.waiting = 1;
    const { id: actionId } = await approve(id);
    const { incident } = await until(id, 'reported');
    expect(world.acted).toBe(0);
    expect(await at.core.records.action(actionId)).toMatchObject({ state: 'void' });
    expect(incident.nextStep).toContain('over by itself');
    expect(learnt(id)).toEqual([]);
  });

  test('does not run when it can no longer be read whether the problem is there', async () => {
    const id = await open();
    await proposed(id);
    world.readable = false;
    await approve(id);
    await waitFor('the void', async () => (await at.core.records.load(id))?.actions[0]?.state === 'void');
    expect(world.acted).toBe(0);
  });

  test('needs a cited read that shows the problem', async () => {
    script.reads = ['queue_name'];
    const id = await open();
    const { toolCalls, actions } = await until(id, 'reported');
    expect(actions).toEqual([]);
    expect(toolCalls.at(-1)).toMatchObject({ tool: 'queue_kick', code: 'NO_SYMPTOM' });
  });

  test('touches what the diagnosis names, and not something beside it', async () => {
    for (const what of ['consumer-70', 'billing', 'consumer']) {
      script.proposes = { tool: 'queue_kick', what };
      const { toolCalls, actions } = await until(await open(), 'reported');
      expect(actions).toEqual([]);
      expect(toolCalls.at(-1)).toMatchObject({ tool: 'queue_kick', code: 'NOT_BLAMED' });
    }
  });

  test('is judged by the read in which the symptom is seen, where that read is red', async () => {
    const judgedBy = async () => (await proposed(await open())).verify.steps[0];
    script.reads = ['queue_state', 'queue_age', 'queue_name'];
    expect(await judgedBy()).toMatchObject({ tool: 'queue_state', measure: { name: 'waiting', bound: 2 } });
    script.symptom = 1;
    expect(await judgedBy()).toMatchObject({ tool: 'queue_age', measure: { name: 'oldest', bound: 10 } });
    // It shows nothing red.
    script.symptom = 2;
    expect(await judgedBy()).toMatchObject({ tool: 'queue_state', measure: { name: 'waiting', bound: 2 } });
  });
});

test('what is to prevent is done as asked, and never called fixed', async () => {
  script.reads = ['queue_name'];
  script.proposes = { tool: 'queue_tune', what: 'consumer-7' };
  const id = await open();
  expect(await approve(id)).toMatchObject({ purpose: 'prevent' });
  const { incident, events } = await until(id, 'reported');
  expect(world.acted).toBe(1);
  expect(verdicts(events)).toEqual(['done']);
  expect(incident.nextStep).toContain('Done as asked');
  expect(learnt(id)).toEqual([null]);
});

describe('a source', () => {
  const over = (id: IncidentId, fingerprint: string, on = at.core) =>
    on.accept(
      boxAlert({
        fingerprint,
        status: 'resolved',
        deliveryKey: `${id} over`,
        endsAt: new Date().toISOString(),
      }),
    );

  test('that says it is over while the symptom is there ends it grey, and confirms nothing', async () => {
    const fingerprint = 'a'.repeat(32);
    const id = await open(at.core, { fingerprint });
    await proposed(id);
    await over(id, fingerprint);
    const { incident, events } = await until(id, 'resolved');
    expect(incident).toMatchObject({ resolvedBy: 'source', verdict: null });
    const summary = events.findLast((event) => event.type === 'incident.summary');
    expect(summary).toMatchObject({
      text: expect.stringContaining('does not confirm it: ✗ waiting jobs: 3 jobs'),
    });
  });

  test('that says so after a fix that did not help ends it grey as well', async () => {
    const fingerprint = 'b'.repeat(32);
    const id = await open(at.core, { fingerprint });
    await proposed(id);
    // It arrives while the action runs: nothing but the verification may judge then.
    world.acts = () => void over(id, fingerprint);
    await approve(id);
    const { incident, events } = await until(id, 'resolved');
    expect(incident).toMatchObject({ resolvedBy: 'source', verdict: 'cannot_tell' });
    expect(verdicts(events)).toEqual(['cannot_tell']);
    expect(learnt(id)).toEqual([null]);
  });

  test('that still fires keeps a held check from being called fixed, until it says so itself', async () => {
    const waiting = await coreOf(database.url, { sourceWaitMs: 600_000 });
    // Its engine takes the turns; the other one's would not wait.
    await at.core.stop();
    await waiting.start();
    try {
      world.acts = () => {
        world.waiting = 0;
      };
      const fingerprint = 'c'.repeat(32);
      const id = await open(waiting, { fingerprint });
      at.core = waiting;
      await approve(id);
      await waitFor('the wait for the source', async () =>
        (await at.core.records.incident(id))?.nextStep?.includes('Waiting for Alertmanager'),
      );
      expect((await at.core.records.incident(id))?.state).toBe('verifying');
      await over(id, fingerprint, waiting);
      expect((await until(id, 'resolved')).incident).toMatchObject({
        resolvedBy: 'confirmed',
        verdict: 'fixed',
      });
    } finally {
      await waiting.stop();
      at.core = await coreOf(database.url);
      await at.core.start();
    }
  });
});

describe('a fix', () => {
  test('that does not last opens the incident again, and becomes a failure', async () => {
    world.acts = () => {
      world.waiting = 0;
    };
    const id = await open();
    await approve(id);
    await until(id, 'resolved');
    world.waiting = 9;
    // What comes by itself after one, five and fifteen minutes.
    await at.core.engine.enqueueTurn(id, 'does it last');
    // The same is not proposed again: it has run in this incident.
    const { incident, events } = await until(id, 'reported', 2);
    expect(incident.resolvedBy).toBeNull();
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'state.changed',
        from: 'resolved',
        reason: expect.stringContaining('did not last'),
      }),
    );
    expect(verdicts(events)).toEqual(['fixed', 'not_fixed']);
    expect(learnt(id)).toEqual([true, false]);
  });

  test('is not blamed for what began anew and has an incident of its own', async () => {
    world.acts = () => {
      world.waiting = 0;
    };
    const id = await open();
    await approve(id);
    await until(id, 'resolved');
    world.waiting = 9;
    await proposed(await open());
    await createTurn(at.core)(id, 'does it last', (_, work) => work());
    expect(await at.core.records.incident(id)).toMatchObject({ state: 'resolved', resolvedBy: 'confirmed' });
    expect(learnt(id)).toEqual([true]);
  });

  test('is not blamed for what another alert opened an incident for, which is judged by the same measure', async () => {
    world.acts = () => {
      world.waiting = 0;
    };
    const id = await open();
    await approve(id);
    await until(id, 'resolved');
    world.waiting = 9;
    const another = { name: 'OtherBroken', labels: { alertname: 'OtherBroken', instance: 'box' } };
    const { incident } = await until(await open(at.core, another), 'awaiting_approval');
    await at.core.sql`UPDATE incident SET incident_type = 'another' WHERE id = ${incident.id}`;
    for (const _ of [1, 2]) await createTurn(at.core)(id, 'does it last', (_name, work) => work());
    expect(await at.core.records.incident(id)).toMatchObject({ state: 'resolved', resolvedBy: 'confirmed' });
    expect(learnt(id)).toEqual([true]);
  });

  test('that lasts stays resolved', async () => {
    world.acts = () => {
      world.waiting = 0;
    };
    const id = await open();
    await approve(id);
    await until(id, 'resolved');
    await at.core.engine.enqueueTurn(id, 'does it last');
    await waitFor('the look', async () => {
      const [row] = await at.core
        .sql<Row>`SELECT count(*)::int AS n FROM criterion_reading WHERE incident_id = ${id} AND phase = 'after'`;
      return Number(row?.['n']) >= 1;
    });
    expect((await at.core.records.incident(id))?.state).toBe('resolved');
  });
});
