import { expect } from 'vitest';
import { z } from 'zod';
import type { Investigator } from '../../../src/agents/ports.ts';
import type { Action } from '../../../src/core/action.ts';
import type { Alert } from '../../../src/core/alert.ts';
import type { Diagnosis } from '../../../src/core/diagnosis.ts';
import { OpsError } from '../../../src/core/errors.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { measureAt } from '../../../src/core/measure.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { defineActiveTool, defineReadTool, type Tool } from '../../../src/tools/define.ts';
import { boxAlert, type Core, findsNothing } from '../../support/core.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A queue whose jobs wait: the symptom, and an action on it that a limit may keep back. */
export interface QueueWorld {
  waiting: number;
  readable: boolean;
  /** Nobody takes a connection. */
  down: boolean;
  /** Times the action took effect. */
  acted: number;
  acts: () => void;
  /** The window of the action's limit; null: it has none. */
  limitMs: number | null;
  /** What is proposed says with which of them it is over: nothing, or what the diagnosis's first suggestion has. */
  verify: 'as suggested' | null;
  /** What the diagnosis says beside the read that it cites. */
  says: (call: {
    readonly toolCallId: Diagnosis['evidence'][number]['toolCallIds'][number];
  }) => Partial<Diagnosis>;
}

export const QUEUE_LIMIT_KEY = 'kick the queue';

export function queueWorld(): QueueWorld {
  return {
    waiting: 30,
    readable: true,
    down: false,
    acted: 0,
    acts: () => undefined,
    limitMs: null,
    verify: null,
    says: () => ({}),
  };
}

export function queueTools(world: QueueWorld): readonly Tool[] {
  return [
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
          bound: 20,
          metrics: ['queue_jobs_waiting'],
        }),
      ],
      input: z.strictObject({}),
      timeoutMs: 5_000,
      run: async () => {
        if (world.down) throw refused();
        if (!world.readable) throw new Error('the queue does not answer');
        return { text: `${world.waiting} jobs wait behind consumer-7`, data: { waiting: world.waiting } };
      },
    }),
    defineReadTool({
      name: 'queue_reachable',
      description: 'Whether the queue can be reached.',
      kind: 'read',
      domain: 'postgres',
      tellsReachable: true,
      measures: [
        measureAt('reachable', {
          name: 'reachable',
          label: 'the queue can be reached',
          unwell: { is: 'the queue cannot be reached', was: 'the queue could not be reached' },
          unit: '',
          healthy: 'at_least',
          bound: 1,
        }),
      ],
      input: z.strictObject({}),
      timeoutMs: 5_000,
      run: async () => {
        if (!world.readable) throw new Error('it cannot be told');
        return { text: `reachable: ${!world.down}`, data: { reachable: !world.down } };
      },
    }),
    defineActiveTool<{ what: string }, Json>({
      name: 'queue_kick',
      description: 'Kicks a consumer of the queue.',
      kind: 'active',
      verbs: { does: 'Kick', did: 'Kicked', button: 'Kick the consumer' },
      domain: 'postgres',
      input: z.strictObject({ what: z.string() }),
      timeoutMs: 5_000,
      limit: () => ({
        key: QUEUE_LIMIT_KEY,
        what: 'kick of consumer-7',
        times: world.limitMs === null ? 1_000 : 1,
        withinMs: world.limitMs ?? 60_000,
      }),
      command: ({ what }) => `kick ${what}`,
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
      effect: () => ({
        steps: [{ tool: 'queue_state', input: {}, holds: 'true', says: 'it was done' }],
        holdMs: 50,
        timeoutMs: 300,
      }),
      objects: () => [],
      subject: ({ what }) => ({ kind: 'name', name: what }),
      repairsOnly: true,
    }),
  ];
}

const refused = (): OpsError =>
  new OpsError('POSTGRES_ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.7:5432', { hint: 'Is it running?' });

/** Reads the queue, blames consumer-7, and proposes to kick it. */
export function queueInvestigator(world: QueueWorld): Investigator {
  return {
    name: 'playbook',
    triage: async ({ incident }) => ({
      severity: incident.severity,
      incidentType: null,
      routine: true,
      ignore: false,
      reason: 'known',
    }),
    diagnose: async (work) => {
      const seen = await work.callTool({ tool: 'queue_state', target: work.incident.target, input: {} });
      return {
        ...findsNothing,
        verdict: 'cause_found',
        rootCause: 'consumer-7 does not work on its jobs.',
        category: 'stuck_queue',
        confidence: 0.97,
        evidence: [
          {
            claim: 'consumer-7 is to blame.',
            toolCallIds: [seen.toolCallId],
            quote: seen.kind === 'ok' ? seen.text : seen.kind === 'failed' ? seen.reason : null,
          },
        ],
        // As a runbook's: it is planned from as it stands.
        suggested: [],
        ...world.says(seen),
      };
    },
    plan: async (work, diagnosis) => {
      const verify = world.verify === null ? null : (diagnosis.suggested?.[0]?.verify ?? null);
      const proposed = await work.callTool({
        tool: 'queue_kick',
        target: work.incident.target,
        input: { what: 'consumer-7' },
        proposal: { why: 'It may help.', runbookId: null, verify },
      });
      return proposed.kind === 'proposed'
        ? { kind: 'proposed', actionId: proposed.actionId }
        : { kind: 'none', reason: proposed.kind === 'ok' ? 'it only reads' : proposed.reason };
    },
  };
}

/** What a test does with a core: opens, waits, approves. */
export function driving(core: Core) {
  const load = async (id: IncidentId): Promise<IncidentRecord> => {
    const record = await core.records.load(id);
    if (!record) throw new Error('no record');
    return record;
  };
  const until = async (
    id: IncidentId,
    state: IncidentState,
    also: (record: IncidentRecord) => boolean = () => true,
  ): Promise<IncidentRecord> => {
    let seen: unknown;
    await waitFor(
      `${id} to be ${state}`,
      async () => {
        const record = await load(id);
        const { incident } = record;
        seen = { state: incident.state, round: incident.round, next: incident.nextStep };
        return incident.state === state && also(record);
      },
      { seen: () => seen },
    );
    return load(id);
  };
  const proposed = async (id: IncidentId): Promise<Action> => {
    const { actions } = await until(id, 'awaiting_approval');
    const action = actions.findLast(({ state }) => state === 'proposed');
    if (!action) throw new Error('no action');
    return action;
  };
  return {
    load,
    until,
    proposed,
    async open(alert: Partial<Alert> = {}): Promise<IncidentId> {
      const { incidentId } = await core.accept(boxAlert(alert));
      if (!incidentId) throw new Error('not accepted');
      return incidentId;
    },
    async approve(id: IncidentId): Promise<Action> {
      const action = await proposed(id);
      const { id: actionId, planHash } = action;
      expect(
        await core.approvals.decide({
          actionId,
          planHash,
          by: 'UONCALL',
          decision: 'approve',
          reason: '',
          anotherWay: false,
        }),
      ).toMatchObject({ ok: true });
      return action;
    },
  };
}
