import { z } from 'zod';
import { createUndo, type Undo } from '../../../src/actions/undo.ts';
import type { Action } from '../../../src/core/action.ts';
import { asActionId, type IncidentId } from '../../../src/core/ids.ts';
import { measureAt } from '../../../src/core/measure.ts';
import type { Target } from '../../../src/core/target.ts';
import type { Json, ToolCallResult, VerifyPlan } from '../../../src/core/tool-call.ts';
import { type ChangeOfMind, createChangeOfMind } from '../../../src/incidents/after-all.ts';
import { createPlanEdits, type PlanEdits } from '../../../src/incidents/edit-plan.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { defineActiveTool, defineReadTool, type Tool } from '../../../src/tools/define.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import {
  boxAlert,
  boxTarget,
  type Core,
  type CoreOptions,
  createCore,
  findsNothing,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';

/** One thing of the system under care; what befalls it is each test's to say. */
export interface Part {
  done: boolean;
  /** Moves when somebody else touches it. */
  generation: number;
  /** How the run of the tool on it ends. */
  ends: 'succeeded' | 'failed' | 'unknown';
  /** Whether its change can be seen on it. */
  shows: boolean;
  /** What looking at it afterwards says. */
  looks: 'done' | 'not_done' | 'cannot_tell';
  /** While the tool runs on it. */
  during: () => Promise<void>;
}

export interface World {
  /** Every effect, in order. */
  readonly ran: string[];
  readonly parts: Map<string, Part>;
  /** Parts of which any run counts for one limit of once an hour. */
  readonly limited: Set<string>;
  /** Parts that are no part of the problem, however they are: what lasts is done to them. */
  readonly apart: Set<string>;
  part(name: string): Part;
}

export const criterion: VerifyPlan = {
  steps: [
    { tool: 'parts_left', input: {}, measure: { name: 'left', bound: 0 }, says: 'nothing is left undone' },
  ],
  holdMs: 50,
  timeoutMs: 200,
};

function createWorld(): World {
  const parts = new Map<string, Part>();
  return {
    ran: [],
    parts,
    limited: new Set(),
    apart: new Set(),
    part(name) {
      const part = parts.get(name) ?? {
        done: false,
        generation: 1,
        ends: 'succeeded',
        shows: true,
        looks: 'done',
        during: async () => undefined,
      };
      parts.set(name, part);
      return part;
    },
  };
}

function toolsOf(world: World): readonly Tool[] {
  const active = (name: string, done: boolean, inverse?: string) =>
    defineActiveTool<{ part: string; size?: number | undefined }, Json>({
      name,
      description: 'Does something to a part.',
      kind: 'active',
      verbs: { does: 'Change', did: 'Changed', button: 'Change the part' },
      domain: 'postgres',
      input: z.strictObject({ part: z.string(), size: z.number().int().max(10).optional() }),
      names: ['part'],
      editable: ['size'],
      timeoutMs: 10_000,
      command: ({ part, size }) => `${name} ${part}${size === undefined ? '' : ` --size ${size}`}`,
      preflight: async (_, { part }) => ({
        guard: { generation: world.part(part).generation },
        clock: null,
        lines: [`${part} is ${world.part(part).done ? 'done' : 'undone'}`],
        blastRadius: part,
        undo: inverse ? `${inverse} ${part}` : 'cannot be undone',
        risk: 'low',
      }),
      objects: () => [],
      run: async (_, { part, size }) => {
        const it = world.part(part);
        world.ran.push(`${name} ${part}${size === undefined ? '' : ` --size ${size}`}`);
        await it.during();
        if (it.ends === 'succeeded') it.done = done;
        return { kind: it.ends, text: `${name} ${part}: ${it.ends}`, data: { part } };
      },
      look: async (_, { part }) => world.part(part).looks,
      effect: ({ part }) => ({
        steps: [
          {
            tool: 'part_state',
            input: { part },
            holds: done ? 'result.done' : '!result.done',
            says: `${part} is ${done ? 'done' : 'undone'}`,
          },
        ],
        holdMs: 20,
        timeoutMs: 150,
      }),
      ...(inverse
        ? { inverse: (data: Json) => ({ tool: inverse, input: { part: (data as { part: string }).part } }) }
        : {}),
    });
  const withObjects = (tool: Tool): Tool =>
    ({
      ...tool,
      objects: ({ part }: { part: string }) => [{ kind: 'part', key: part, label: `part ${part}` }],
      limit: ({ part }: { part: string }) =>
        world.limited.has(part)
          ? { key: 'limited', what: 'run on a limited part', times: 1, withinMs: 3_600_000 }
          : { key: `free ${part}`, what: `run on ${part}`, times: 100, withinMs: 3_600_000 },
    }) as Tool;
  return [
    defineReadTool({
      name: 'parts_left',
      description: 'How many parts are undone.',
      kind: 'read',
      domain: 'postgres',
      measures: [measureAt('left', { name: 'left', label: 'parts', unit: '', healthy: 'at_most', bound: 0 })],
      input: z.strictObject({}),
      timeoutMs: 5_000,
      run: async () => {
        const left = [...world.parts].filter(([name, { done }]) => !done && !world.apart.has(name)).length;
        return { text: `${left} parts are undone`, data: { left } };
      },
    }),
    defineReadTool({
      name: 'part_state',
      description: 'Whether a part is done.',
      kind: 'read',
      domain: 'postgres',
      input: z.strictObject({ part: z.string() }),
      timeoutMs: 5_000,
      run: async (_, { part }) => {
        const { done, shows } = world.part(part);
        return { text: `${part}: ${done}`, data: { done: done && shows } };
      },
    }),
    withObjects(active('part_do', true, 'part_undo')),
    withObjects(active('part_undo', false, 'part_do')),
    withObjects(active('part_burn', true)),
    { ...withObjects(active('part_mend', true)), repairsOnly: true } as Tool,
  ];
}

export interface PlansRig {
  readonly core: Core;
  readonly undo: Undo;
  readonly mind: ChangeOfMind;
  readonly edits: PlanEdits;
  readonly world: World;
  /** A target of its own, so that tests do not wait for each other; `system`: what is behind it. */
  target(system?: string): string;
  /** From now on the name stands for another system; null: nobody can tell for which. */
  failOver(target: string, system: string | null): void;
  incident(target: string): Promise<IncidentId>;
  /** What the surgeon gets for a plan: `part_do a`, one string a step. */
  call(
    incident: IncidentId,
    target: string,
    steps: readonly string[],
    runbookId?: string,
  ): Promise<ToolCallResult>;
  /** The steps of a new incident's plan, waiting for its decision. */
  propose(steps: readonly string[], target?: string, runbookId?: string): Promise<readonly Action[]>;
  approve(plan: readonly Action[]): Promise<void>;
  steps(plan: readonly Action[]): Promise<readonly Action[]>;
  states(plan: readonly Action[]): Promise<readonly string[]>;
  /** One turn of the incident's. */
  turn(id: IncidentId, reason?: string): Promise<void>;
  /** Turns until it holds. */
  drive(plan: readonly Action[], until: (steps: readonly Action[], state: string) => boolean): Promise<void>;
  stateOf(id: IncidentId): Promise<string>;
  /** The words with which the incident moved. */
  told(id: IncidentId): Promise<string>;
  stop(): Promise<void>;
}

const never = new AbortController().signal;

export async function startPlansRig(
  options: Pick<CoreOptions, 'policyPath' | 'memory' | 'around'> = {},
): Promise<PlansRig> {
  const database: ScratchDatabase = await scratchDatabase({ migrate: true });
  const world = createWorld();
  const systems = new Map<string, string | null>();
  const targets = new Map<string, Target>();
  const tools = toolsOf(world);
  const core = await createCore({
    url: database.url,
    tools,
    approvers: ['UONCALL', 'USECOND'].map((id) => ({ kind: 'user', id }) as const),
    ...options,
    gate: {
      targets,
      identity: async (name) => {
        const system = systems.get(name);
        if (system === null) throw new Error('nobody says who it is');
        return { systemIdentifier: system ?? name, timelineId: 1 };
      },
    },
  });
  const turn = createTurn(core);
  const undo = createUndo({
    ...core,
    ...core.gateDeps,
    gate: core.gate,
    approvals: core.approvals,
    policy: core.policy,
    shutdown: never,
  });

  const rig: PlansRig = {
    core,
    undo,
    mind: createChangeOfMind({ ...core, policy: core.policy }),
    edits: createPlanEdits({ ...core, policy: core.policy, tools: createRegistry(tools) }),
    world,
    target(system) {
      const name = `box-${targets.size + 1}`;
      targets.set(name, { ...boxTarget, name });
      if (system) systems.set(name, system);
      return name;
    },
    failOver: (target, system) => void systems.set(target, system),
    async incident(target) {
      const { incidentId } = await core.accept(boxAlert({ target }));
      if (!incidentId) throw new Error('not accepted');
      const diagnosis = { ...findsNothing, verdict: 'cause_found', rootCause: 'Parts are undone.' } as const;
      await core.sql.begin((tx) =>
        core.records.append(tx, incidentId, { type: 'diagnosis.concluded', round: 1, diagnosis }),
      );
      return incidentId;
    },
    call(incidentId, target, steps, runbookId) {
      const [first = { tool: '', input: null }, ...andThen] = steps.map((step) => {
        const [tool = '', part = ''] = step.split(' ');
        world.part(part);
        return { tool, input: { part }, why: `because of ${part}` };
      });
      const credential = core.vault.mint({ role: 'surgeon', incidentId, targets: [target] });
      const proposal = { why: 'It helps.', runbookId: runbookId ?? null, verify: criterion, andThen };
      return core.gate.call(
        credential,
        { tool: first.tool, target, input: first.input, proposal },
        { signal: never },
      );
    },
    async propose(steps, target = rig.target(), runbookId) {
      const id = await rig.incident(target);
      const result = await rig.call(id, target, steps, runbookId);
      if (result.kind !== 'proposed') throw new Error(JSON.stringify(result));
      await core.sql`UPDATE incident SET state = 'awaiting_approval' WHERE id = ${id}`;
      return core.records.plan(asActionId(result.actionId));
    },
    async approve([head]) {
      if (!head) throw new Error('no plan');
      const decided = await core.approvals.decide({
        actionId: head.id,
        planHash: head.planHash,
        by: 'UONCALL',
        decision: 'approve',
        reason: '',
        anotherWay: false,
      });
      if (!decided.ok) throw new Error(decided.reason);
    },
    steps: ([head]) => core.records.plan(head?.id ?? asActionId('act_none')),
    states: async (plan) => (await rig.steps(plan)).map(({ state }) => state),
    turn: (id, reason = 'test') => turn(id, reason, (_, fn) => fn()),
    async drive(plan, until) {
      const id = plan[0]?.incidentId;
      if (!id) throw new Error('no plan');
      const end = Date.now() + 60_000;
      for (;;) {
        const [steps, state] = [await rig.steps(plan), await rig.stateOf(id)];
        if (until(steps, state)) return;
        if (Date.now() > end)
          throw new Error(
            `still ${state}: ${steps.map((step) => `${step.state} (${step.outcome})`).join(', ')}`,
          );
        await rig.turn(id);
      }
    },
    stateOf: async (id) => (await core.records.incident(id))?.state ?? 'none',
    async told(id) {
      const events = (await core.records.load(id))?.events ?? [];
      return events.flatMap((event) => (event.type === 'state.changed' ? [event.reason] : [])).join('\n');
    },
    async stop() {
      await core.stop();
      await database.drop();
    },
  };
  return rig;
}
