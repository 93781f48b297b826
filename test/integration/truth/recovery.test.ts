import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Investigator } from '../../../src/agents/ports.ts';
import type { Alert } from '../../../src/domain/alert.ts';
import type { IncidentId } from '../../../src/domain/ids.ts';
import type { IncidentState } from '../../../src/domain/incident.ts';
import { measureAt } from '../../../src/domain/measure.ts';
import type { Json } from '../../../src/domain/tool-call.ts';
import type { InvestigationMemory } from '../../../src/investigation/deps.ts';
import { createTurn } from '../../../src/investigation/turn.ts';
import { defineActiveTool, defineReadTool, type Tool } from '../../../src/tools/define.ts';
import { boxAlert, type Core, createCore, findsNothing } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A system whose symptom and whose change are two different things: what is done may help, or only happen. */
interface World {
  /** Jobs that wait; more than none is the problem. */
  waiting: number;
  /** Times its supervisor has started it again. */
  starts: number;
  /** It starts again at each look. */
  loops: boolean;
  /** Times the action took effect. */
  acted: number;
  /** What the action does to the symptom. */
  acts: () => void;
  readable: boolean;
}
const world: World = { waiting: 3, starts: 0, loops: false, acted: 0, acts: () => undefined, readable: true };

const active = (
  name: string,
  rest: Partial<Parameters<typeof defineActiveTool<{ what: string }, Json>>[0]> = {},
) =>
  defineActiveTool<{ what: string }, Json>({
    name,
    description: 'Does something to the queue.',
    kind: 'active',
    domain: 'postgres',
    input: z.strictObject({ what: z.string() }),
    timeoutMs: 5_000,
    command: ({ what }) => `${name} ${what}`,
    preflight: async () => ({
      guard: null,
      clock: null,
      lines: ['as it is'],
      blastRadius: 'the queue',
      undo: 'cannot be undone',
      risk: 'low',
    }),
    run: async () => {
      world.acted += 1;
      world.acts();
      return { kind: 'succeeded', text: 'done' };
    },
    look: async () => 'cannot_tell',
    // It always takes effect: that must never be taken for help.
    effect: () => ({
      steps: [{ tool: 'queue_state', input: {}, holds: 'true', says: 'it was done' }],
      holdMs: 50,
      timeoutMs: 300,
    }),
    subject: ({ what }) => ({ kind: 'name', name: what }),
    objects: () => [],
    ...rest,
  });

const tools: readonly Tool[] = [
  defineReadTool({
    name: 'queue_state',
    description: 'How many jobs wait.',
    kind: 'read',
    domain: 'postgres',
    measures: [
      measureAt('waiting', {
        name: 'waiting',
        label: 'waiting jobs',
        unit: 'jobs',
        healthy: 'at_most',
        bound: 2,
      }),
      measureAt('starts', { name: 'starts', label: 'starts', unit: '', healthy: 'steady', bound: 0 }),
    ],
    input: z.strictObject({}),
    timeoutMs: 5_000,
    run: async () => {
      if (!world.readable) throw new Error('the queue does not answer');
      if (world.loops) world.starts += 1;
      const { waiting, starts } = world;
      return {
        text: `${waiting} jobs wait behind consumer-7; started ${starts} times`,
        data: { waiting, starts },
      };
    },
  }),
  defineReadTool({
    name: 'queue_age',
    description: 'How long the oldest job waits.',
    kind: 'read',
    domain: 'postgres',
    measures: [
      measureAt('oldest', { name: 'oldest', label: 'oldest job', unit: 's', healthy: 'at_most', bound: 10 }),
    ],
    input: z.strictObject({}),
    timeoutMs: 5_000,
    run: async () => ({ text: 'the oldest job of consumer-7 waits for 90 s', data: { oldest: 90 } }),
  }),
  defineReadTool({
    name: 'queue_name',
    description: 'What the queue is called.',
    kind: 'read',
    domain: 'postgres',
    input: z.strictObject({}),
    timeoutMs: 5_000,
    run: async () => ({ text: 'the queue is called consumer-7', data: {} }),
  }),
  active('queue_kick', { repairsOnly: true }),
  active('queue_tune'),
];

/** What the investigator cites, chooses and proposes; each test says. */
interface Script {
  reads: readonly string[];
  proposes: { tool: string; what: string };
  /** Which of its reads it calls the symptom. */
  symptom?: number;
}
const script: Script = { reads: ['queue_state'], proposes: { tool: 'queue_kick', what: 'consumer-7' } };

const scripted: Investigator = {
  name: 'playbook',
  triage: async ({ incident }) => ({
    severity: incident.severity,
    incidentType: null,
    routine: true,
    ignore: false,
    reason: 'known',
  }),
  diagnose: async (work) => {
    const evidence = [];
    for (const tool of script.reads) {
      const seen = await work.callTool({ tool, target: work.incident.target, input: {} });
      evidence.push({
        claim: 'consumer-7 is to blame.',
        toolCallIds: [seen.toolCallId],
        quote: seen.kind === 'ok' ? seen.text : null,
      });
    }
    const symptom = script.symptom === undefined ? undefined : evidence[script.symptom]?.toolCallIds[0];
    return {
      ...findsNothing,
      verdict: 'cause_found',
      rootCause: 'consumer-7 does not work on its jobs.',
      category: 'stuck_queue',
      confidence: 0.97,
      // As a runbook's: it is planned from as it stands.
      suggested: [],
      evidence,
      ...(symptom === undefined ? {} : { symptomNow: { present: true, toolCallId: symptom } }),
    };
  },
  plan: async (work) => {
    const { tool, what } = script.proposes;
    const proposed = await work.callTool({
      tool,
      target: work.incident.target,
      input: { what },
      proposal: { why: 'It may help.', runbookId: null, verify: null },
    });
    return proposed.kind === 'proposed'
      ? { kind: 'proposed', actionId: proposed.actionId }
      : { kind: 'none', reason: proposed.kind === 'ok' ? 'it only reads' : proposed.reason };
  },
};

const episodes: { readonly incidentId: IncidentId; readonly success: boolean | null }[] = [];
const memory: InvestigationMemory = {
  recall: async () => ({
    incidents: [],
    runbooks: [],
    episodes: { similar: [], failedCommands: [] },
    missing: null,
  }),
  prepare: async () => null,
  recordShown: async () => undefined,
  enabled: true,
  rememberIncident: async () => undefined,
  recordEpisode: async (episode) => {
    episodes.push(episode);
  },
};

let database: ScratchDatabase;
let core: Core;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({ url: database.url, tools, investigator: scripted, memory });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(() => {
  Object.assign(world, {
    waiting: 3,
    starts: 0,
    loops: false,
    acted: 0,
    acts: () => undefined,
    readable: true,
  });
  Object.assign(script, { reads: ['queue_state'], proposes: { tool: 'queue_kick', what: 'consumer-7' } });
  delete script.symptom;
});

async function open(on = core, alert: Partial<Alert> = {}): Promise<IncidentId> {
  const { incidentId } = await on.accept(boxAlert(alert));
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

async function until(id: IncidentId, state: IncidentState, round = 1) {
  let seen: unknown;
  await waitFor(
    `${id} to be ${state}`,
    async () => {
      const incident = await core.records.incident(id);
      seen = incident && { state: incident.state, round: incident.round, next: incident.nextStep };
      return incident?.state === state && incident.round >= round;
    },
    { seen: () => seen },
  );
  const record = await core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
}

async function proposed(id: IncidentId, round = 1) {
  const action = (await until(id, 'awaiting_approval', round)).actions.at(-1);
  if (!action) throw new Error('no action');
  return action;
}

async function approve(id: IncidentId) {
  const action = await proposed(id);
  const { id: actionId, planHash } = action;
  const order = {
    actionId,
    planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  } as const;
  expect(await core.approvals.decide(order)).toMatchObject({ ok: true });
  return action;
}

const verdicts = (events: readonly { readonly type: string }[]) =>
  events.flatMap((event) =>
    event.type === 'verification.concluded' ? [(event as { verdict?: string }).verdict] : [],
  );
const learnt = (id: IncidentId) =>
  episodes.filter(({ incidentId }) => incidentId === id).map(({ success }) => success);

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
    const { incident, events } = await until(id, 'resolved');
    expect(incident).toMatchObject({ resolvedBy: 'confirmed', verdict: 'fixed' });
    expect(verdicts(events)).toEqual(['fixed']);
    expect(learnt(id)).toEqual([true]);
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
    await waitFor('many looks', async () => {
      const [row] =
        await core.sql`SELECT count(*)::int AS n FROM criterion_reading WHERE incident_id = ${id} AND phase = 'watch'`;
      return Number(row?.['n']) >= 8;
    });
    expect((await core.records.incident(id))?.state).toBe('verifying');
    // As soon as it stays up, it is.
    world.loops = false;
    expect((await until(id, 'resolved')).incident.resolvedBy).toBe('confirmed');
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
    expect(await core.approvals.decide({ actionId, planHash, by: 'UONCALL', ...no })).toMatchObject({
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
    expect(await core.records.action(actionId)).toMatchObject({ state: 'void' });
    expect(incident.nextStep).toContain('over by itself');
    expect(learnt(id)).toEqual([]);
  });

  test('does not run when it can no longer be read whether the problem is there', async () => {
    const id = await open();
    await proposed(id);
    world.readable = false;
    await approve(id);
    await waitFor('the void', async () => (await core.records.load(id))?.actions[0]?.state === 'void');
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
  const over = (id: IncidentId, fingerprint: string, on = core) =>
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
    const id = await open(core, { fingerprint });
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
    const id = await open(core, { fingerprint });
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
    const waiting = await createCore({
      url: database.url,
      tools,
      investigator: scripted,
      memory,
      sourceWaitMs: 600_000,
    });
    // Its engine takes the turns; the other one's would not wait.
    await core.stop();
    await waiting.start();
    try {
      world.acts = () => {
        world.waiting = 0;
      };
      const fingerprint = 'c'.repeat(32);
      const id = await open(waiting, { fingerprint });
      core = waiting;
      await approve(id);
      await waitFor('the wait for the source', async () =>
        (await core.records.incident(id))?.nextStep?.includes('Waiting for Alertmanager'),
      );
      expect((await core.records.incident(id))?.state).toBe('verifying');
      await over(id, fingerprint, waiting);
      expect((await until(id, 'resolved')).incident).toMatchObject({
        resolvedBy: 'confirmed',
        verdict: 'fixed',
      });
    } finally {
      await waiting.stop();
      core = await createCore({ url: database.url, tools, investigator: scripted, memory });
      await core.start();
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
    await core.engine.enqueueTurn(id, 'does it last');
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
    await createTurn(core)(id, 'does it last', (_, work) => work());
    expect(await core.records.incident(id)).toMatchObject({ state: 'resolved', resolvedBy: 'confirmed' });
    expect(learnt(id)).toEqual([true]);
  });

  test('that lasts stays resolved', async () => {
    world.acts = () => {
      world.waiting = 0;
    };
    const id = await open();
    await approve(id);
    await until(id, 'resolved');
    await core.engine.enqueueTurn(id, 'does it last');
    await waitFor('the look', async () => {
      const [row] =
        await core.sql`SELECT count(*)::int AS n FROM criterion_reading WHERE incident_id = ${id} AND phase = 'after'`;
      return Number(row?.['n']) >= 1;
    });
    expect((await core.records.incident(id))?.state).toBe('resolved');
  });
});
