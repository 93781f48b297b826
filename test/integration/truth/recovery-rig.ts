import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Investigator } from '../../../src/agents/ports.ts';
import type { Alert } from '../../../src/core/alert.ts';
import { OpsError } from '../../../src/core/errors.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { measureAt } from '../../../src/core/measure.ts';
import type { Json, ProposalNotes } from '../../../src/core/tool-call.ts';
import type { InvestigationMemory } from '../../../src/incidents/deps.ts';
import { defineActiveTool, defineReadTool, type Tool } from '../../../src/tools/define.ts';
import { boxAlert, type Core, type CoreOptions, createCore, findsNothing } from '../../support/core.ts';
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
  /** What its run says of itself. */
  ends: 'succeeded' | 'failed';
  readable: boolean;
  /** Jobs that wait behind a consumer, by its name. */
  behind: Readonly<Record<string, number>>;
  /** The consumer that is there no more. */
  gone: string | null;
  /** What the next reads of `queue_blips` show, the last one from then on; below zero it does not answer. */
  blips: readonly number[];
}
const asBefore: World = {
  waiting: 3,
  starts: 0,
  loops: false,
  acted: 0,
  acts: () => undefined,
  ends: 'succeeded',
  readable: true,
  behind: {},
  gone: null,
  blips: [1],
};
export const world: World = { ...asBefore };

const active = (
  name: string,
  rest: Partial<Parameters<typeof defineActiveTool<{ what: string }, Json>>[0]> = {},
) =>
  defineActiveTool<{ what: string }, Json>({
    name,
    description: 'Does something to the queue.',
    kind: 'active',
    verbs: { does: 'Change', did: 'Changed', button: 'Change the queue' },
    domain: 'postgres',
    input: z.strictObject({ what: z.string() }),
    timeoutMs: 5_000,
    command: ({ what }) => `${name} ${what}`,
    preflight: async (_, { what }) => {
      if (world.gone === what)
        throw new OpsError('GONE', `${what} is there no more.`, { hint: 'Look again.' });
      return {
        guard: null,
        clock: null,
        lines: ['as it is'],
        blastRadius: 'the queue',
        undo: 'cannot be undone',
        risk: 'low',
      };
    },
    run: async () => {
      world.acted += 1;
      world.acts();
      return { kind: world.ends, text: 'done' };
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

export const tools: readonly Tool[] = [
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
        text: `${waiting} jobs wait behind ${script.blames}; started ${starts} times`,
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
  defineReadTool({
    name: 'consumer_state',
    description: 'How many jobs wait behind one consumer.',
    kind: 'read',
    domain: 'postgres',
    measures: [
      measureAt('behind', {
        name: 'behind',
        label: 'jobs behind it',
        unit: 'jobs',
        healthy: 'at_most',
        bound: 0,
        ofOneThing: true,
      }),
    ],
    input: z.strictObject({ what: z.string() }),
    timeoutMs: 5_000,
    run: async (_, { what }) => {
      const behind = world.behind[what] ?? 0;
      return { text: `${behind} jobs wait behind ${what}`, data: { behind } };
    },
  }),
  defineReadTool({
    name: 'queue_blips',
    description: 'Whether the queue stands still at this moment.',
    kind: 'read',
    domain: 'postgres',
    measures: [
      measureAt('stands', {
        name: 'stands',
        label: 'queues that stand still',
        unit: 'queues',
        healthy: 'at_most',
        bound: 0,
        intermittent: true,
        metrics: ['queues_standing'],
      }),
    ],
    input: z.strictObject({ of: z.string().default('all') }),
    timeoutMs: 5_000,
    run: async () => {
      const [stands = 0, ...next] = world.blips;
      if (next.length > 0) world.blips = next;
      if (stands < 0) throw new Error('nobody says which queues stand still');
      return { text: `${stands} queues of consumer-7 stand still`, data: { stands } };
    },
  }),
  active('queue_kick', { repairsOnly: true }),
  active('queue_drop', {
    repairsOnly: true,
    shownBy: ({ what }) => ({ tool: 'consumer_state', input: { what }, measures: ['behind'] }),
  }),
  active('queue_tune'),
];

/** What the investigator cites, chooses and proposes; each test says. */
interface Script {
  reads: readonly string[];
  blames: string;
  proposes: { tool: string; what: string };
  /** As a runbook's own plan. */
  notes?: Pick<ProposalNotes, 'runbookId' | 'verify'>;
  /** Which of its reads it calls the symptom. */
  symptom?: number;
  /** Between its reads. */
  pauseMs: number;
}
const asScripted: Script = {
  reads: ['queue_state'],
  blames: 'consumer-7',
  proposes: { tool: 'queue_kick', what: 'consumer-7' },
  pauseMs: 0,
};
export const script: Script = { ...asScripted };

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
    const { blames } = script;
    const evidence = [];
    for (const [n, tool] of script.reads.entries()) {
      if (n > 0) await sleep(script.pauseMs);
      const seen = await work.callTool({ tool, target: work.incident.target, input: {} });
      evidence.push({
        claim: `${blames} is to blame.`,
        toolCallIds: [seen.toolCallId],
        quote: seen.kind === 'ok' ? seen.text : null,
      });
    }
    const symptom = script.symptom === undefined ? undefined : evidence[script.symptom]?.toolCallIds[0];
    return {
      ...findsNothing,
      verdict: 'cause_found',
      rootCause: `${blames} does not work on its jobs.`,
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
      proposal: { why: 'It may help.', runbookId: null, verify: null, ...script.notes },
    });
    return proposed.kind === 'proposed'
      ? { kind: 'proposed', actionId: proposed.actionId }
      : { kind: 'none', reason: proposed.kind === 'ok' ? 'it only reads' : proposed.reason };
  },
};

export const episodes: { readonly incidentId: IncidentId; readonly success: boolean | null }[] = [];
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

/** The core under test; a test that starts another one puts it here. */
export const at: { core: Core } = { core: undefined as unknown as Core };

/** A core of this world over a database; not started. */
export const coreOf = (url: string, more: Partial<CoreOptions> = {}): Promise<Core> =>
  createCore({ url, tools, investigator: scripted, memory, ...more });

export function resetWorld(): void {
  Object.assign(world, asBefore);
  Object.assign(script, asScripted);
  delete script.symptom;
  delete script.notes;
  // Each file has incidents of the same ids.
  episodes.length = 0;
}

export async function open(on = at.core, alert: Partial<Alert> = {}): Promise<IncidentId> {
  const { incidentId } = await on.accept(boxAlert(alert));
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

export async function until(id: IncidentId, state: IncidentState, round = 1) {
  let seen: unknown;
  await waitFor(
    `${id} to be ${state}`,
    async () => {
      const incident = await at.core.records.incident(id);
      seen = incident && { state: incident.state, round: incident.round, next: incident.nextStep };
      return incident?.state === state && incident.round >= round;
    },
    { seen: () => seen },
  );
  const record = await at.core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
}

export async function proposed(id: IncidentId, round = 1) {
  const action = (await until(id, 'awaiting_approval', round)).actions.at(-1);
  if (!action) throw new Error('no action');
  return action;
}

export async function approve(id: IncidentId) {
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
  expect(await at.core.approvals.decide(order)).toMatchObject({ ok: true });
  return action;
}

export const verdicts = (events: readonly { readonly type: string }[]) =>
  events.flatMap((event) =>
    event.type === 'verification.concluded' ? [(event as { verdict?: string }).verdict] : [],
  );
/** What was said with the last verification. */
export const reasons = (events: readonly { readonly type: string }[]): string =>
  String(
    (
      events.findLast(({ type }) => type === 'verification.concluded') as
        | { readonly reason?: string }
        | undefined
    )?.reason,
  );
export const learnt = (id: IncidentId) =>
  episodes.filter(({ incidentId }) => incidentId === id).map(({ success }) => success);
