import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { drawActionCard } from '../../../src/slack/views/blocks/action-card.ts';
import { type Core, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { driving, queueInvestigator, queueTools, queueWorld } from './queue-rig.ts';

/** The tool's own bound for waiting jobs is 20, and 30 wait. */
const world = queueWorld();
let database: ScratchDatabase;
let core: Core;
let incident: ReturnType<typeof driving>;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({
    url: database.url,
    tools: queueTools(world),
    investigator: queueInvestigator(world),
  });
  incident = driving(core);
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(() => {
  Object.assign(world, queueWorld());
});

const asked = async (alert: Partial<Alert> = {}) => {
  const id = await incident.open(alert);
  return { id, action: await incident.proposed(id) };
};
const boundOf = async (alert: Partial<Alert> = {}) =>
  (await asked(alert)).action.verify.steps[0]?.measure?.bound;
const runbook = (bound?: number) => ({
  steps: [
    {
      tool: 'queue_state',
      input: {},
      measure: { name: 'waiting', ...(bound === undefined ? {} : { bound }) },
      says: 'few jobs wait',
    },
  ],
  holdMs: 100,
  timeoutMs: 600,
});
/** As a playbook's: its verify block goes with the suggestion. */
const suggests = (bound?: number): void => {
  const verify = runbook(bound);
  world.says = () => ({
    suggested: [{ tool: 'queue_kick', input: { what: 'consumer-7' }, why: 'It helps.', verify }],
  });
  world.verify = 'as suggested';
};
const graph = (expression: string): string =>
  `http://prometheus:9090/graph?g0.expr=${encodeURIComponent(expression)}&g0.tab=1`;
const notFixed = async (id: IncidentId) =>
  (await incident.until(id, 'reported', ({ incident: { round } }) => round === 2)).incident;

describe('the alert’s own rule', () => {
  test.each<[string, Partial<Alert>]>([
    ['the expression of an annotation', { annotations: { expr: 'queue_jobs_waiting > 10' } }],
    [
      'the expression of a label',
      { labels: { instance: 'box', expression: 'sum(queue_jobs_waiting) > 10' } },
    ],
    ['the link to its rule', { url: graph('queue_jobs_waiting{job="queue"} > 10') }],
    ['a metric and a threshold', { annotations: { metric: 'queue_jobs_waiting', threshold: '10 jobs' } }],
  ])('sets the bound, from %s, and the card says whose it is', async (_from, alert) => {
    const { id, action } = await asked(alert);
    expect(action.verify.steps[0]).toMatchObject({ measure: { name: 'waiting', bound: 10 } });
    const card = drawActionCard(await incident.load(id), action, { approvers: 'olivia' } as never);
    expect(JSON.stringify(card.blocks)).toContain(
      'waiting jobs: at most 10 jobs, as the alert’s own rule says',
    );
  });

  test.each<[string, Partial<Alert>]>([
    ['another metric', { annotations: { expr: 'queue_jobs_done > 10' } }],
    ['the other side', { annotations: { expr: 'queue_jobs_waiting < 10' } }],
    ['a calculation', { annotations: { expr: 'queue_jobs_waiting / queue_workers > 10' } }],
    ['two conditions', { annotations: { expr: 'queue_jobs_waiting > 10 and up > 0' } }],
    ['a part of the thing', { annotations: { expr: 'queue_jobs_waiting{queue="mail"} > 10' } }],
    ['another unit', { annotations: { metric: 'queue_jobs_waiting', threshold: '10 %' } }],
    ['a threshold of nobody knows what', { annotations: { threshold: '10' } }],
    ['a bound that is not itself healthy', { annotations: { expr: 'queue_jobs_waiting >= 10' } }],
    ['no number', { annotations: { expr: 'queue_jobs_waiting > limit' } }],
    [
      'two rules that contradict each other',
      { annotations: { expr: 'queue_jobs_waiting > 10' }, url: graph('queue_jobs_waiting > 12') },
    ],
  ])('that is about %s sets nothing', async (_what, alert) => {
    expect(await boundOf(alert)).toBe(20);
  });

  test('is what fixed means: beyond it nothing is fixed, though the tool’s own bound is met', async () => {
    world.acts = () => (world.waiting = 15);
    const id = await incident.open({ annotations: { expr: 'queue_jobs_waiting > 10' } });
    await incident.approve(id);
    expect((await notFixed(id)).resolvedBy).toBeNull();
    world.acts = () => (world.waiting = 15);
    world.waiting = 30;
    const other = await incident.open({ annotations: { expr: 'queue_jobs_waiting > 16' } });
    await incident.approve(other);
    expect((await incident.until(other, 'resolved')).incident.resolvedBy).toBe('confirmed');
  });

  test('shows the problem where the tool’s own bound does not, and no longer where it is met', async () => {
    world.waiting = 15;
    expect(await boundOf({ annotations: { expr: 'queue_jobs_waiting > 10' } })).toBe(10);
    const { toolCalls, actions } = await incident.until(
      await incident.open({ annotations: { expr: 'queue_jobs_waiting > 15' } }),
      'reported',
    );
    expect(actions).toEqual([]);
    expect(toolCalls.at(-1)).toMatchObject({ code: 'NO_SYMPTOM' });
  });

  test('takes a runbook’s place only where it is stricter, or the runbook sets none', async () => {
    const rule = (bound: number) => ({ annotations: { expr: `queue_jobs_waiting > ${bound}` } });
    suggests(12);
    expect(await boundOf(rule(10))).toBe(10);
    expect(await boundOf(rule(25))).toBe(12);
    suggests();
    expect(await boundOf(rule(25))).toBe(25);
  });
});

describe('a bound that the investigator asks for', () => {
  const asks = (bound: { value: number; unit: string }): void => {
    world.says = ({ toolCallId }) => ({ symptomNow: { present: true, toolCallId, bound } });
  };
  const droppedIn = async (id: IncidentId) =>
    (await incident.load(id)).events.flatMap((event) => (event.type === 'claim.dropped' ? [event] : []));

  test('is taken where it is stricter', async () => {
    asks({ value: 5, unit: 'jobs' });
    const { id, action } = await asked();
    expect(action.verify.steps[0]).toMatchObject({
      measure: { bound: 5 },
      says: 'waiting jobs: at most 5 jobs',
    });
    expect(await droppedIn(id)).toEqual([]);
  });

  test.each([
    ['looser', { value: 25, unit: 'jobs' }, 'not stricter'],
    ['the same', { value: 20, unit: 'jobs' }, 'not stricter'],
    ['in another unit', { value: 5, unit: '%' }, 'not counted in “%”'],
    ['impossible', { value: -1, unit: 'jobs' }, 'never be met'],
  ])('is ignored where it is %s, and that is on record', async (_what, bound, reason) => {
    asks(bound);
    const { id, action } = await asked();
    expect(action.verify.steps[0]?.measure?.bound).toBe(20);
    expect(await droppedIn(id)).toEqual([
      expect.objectContaining({ reason: expect.stringContaining(reason) }),
    ]);
  });

  test('is held against the alert’s own rule as well', async () => {
    const alert = { annotations: { expr: 'queue_jobs_waiting > 10' } };
    asks({ value: 12, unit: 'jobs' });
    expect(await boundOf(alert)).toBe(10);
    asks({ value: 5, unit: 'jobs' });
    expect(await boundOf(alert)).toBe(5);
  });

  test('never makes a healthy read a symptom', async () => {
    world.waiting = 15;
    asks({ value: 5, unit: 'jobs' });
    const { toolCalls } = await incident.until(await incident.open(), 'reported');
    expect(toolCalls.at(-1)).toMatchObject({ code: 'NO_SYMPTOM' });
  });
});
