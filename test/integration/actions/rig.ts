import { z } from 'zod';
import type { Decided } from '../../../src/actions/approvals/approvals.ts';
import type { ApproverDirectory } from '../../../src/actions/approvals/ports.ts';
import type { Gate } from '../../../src/actions/gate.ts';
import type { GateDeps } from '../../../src/actions/gate-deps.ts';
import type { ExecutionResult, LedgerHooks } from '../../../src/actions/ledger/execution.ts';
import type { Action } from '../../../src/core/action.ts';
import { type ActionId, asActionId, type IncidentId } from '../../../src/core/ids.ts';
import type { Role } from '../../../src/core/incident.ts';
import type { Principal } from '../../../src/core/principal.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../../../src/core/tool-call.ts';
import type { Mode } from '../../../src/safety/kill-switch/kill-switch.ts';
import { redact, redactJson } from '../../../src/safety/screen/redact.ts';
import type { VaultOptions } from '../../../src/safety/vault/credentials.ts';
import { defineActiveTool, defineReadTool, type Tool } from '../../../src/tools/define.ts';
import { boxAlert, boxTarget, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import type { Row } from '../../support/typed.ts';
import { typed as type } from '../../support/typed.ts';

/** What looks like a Slack token to the screen, and is none. */
export const SECRET = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');

/** The real gate, ledger and approvals over a real database, and tools whose conduct a test chooses. */
export interface Rig {
  readonly core: Core;
  readonly database: ScratchDatabase;
  readonly dataDir: string;
  readonly machine: Machine;
  /** What `odd_read` and `odd_mend` do when they run. */
  readonly odd: { read: () => unknown; mend: () => unknown; look: () => unknown };
  /** Who the target is; changed by a failover. */
  readonly identity: { systemIdentifier: string; timelineId: number };
  stop(): Promise<void>;
}

export async function createRig(
  options: {
    readonly mode?: Mode;
    readonly gate?: Partial<GateDeps>;
    /** Beside those of the box. */
    readonly tools?: readonly Tool[];
    readonly vault?: Partial<VaultOptions>;
    readonly policyPath?: string;
    readonly approvers?: readonly Principal[];
    readonly directory?: ApproverDirectory;
    readonly dataDir?: string;
  } = {},
): Promise<Rig> {
  const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
  const odd: Rig['odd'] = {
    read: () => ({ text: 'fine', data: null }),
    mend: () => ({ kind: 'succeeded', text: 'done' }),
    look: () => 'cannot_tell',
  };
  const identity = { systemIdentifier: '1', timelineId: 1 };
  const database = await scratchDatabase({ migrate: true });
  const dataDir = options.dataDir ?? scratchDir();
  const core = await createCore({
    url: database.url,
    tools: [...boxTools(machine), ...oddTools(odd, machine), ...(options.tools ?? [])],
    dataDir,
    ...(options.mode ? { mode: options.mode } : {}),
    ...(options.vault ? { vault: options.vault } : {}),
    ...(options.policyPath ? { policyPath: options.policyPath } : {}),
    ...(options.approvers ? { approvers: options.approvers } : {}),
    ...(options.directory ? { directory: options.directory } : {}),
    gate: {
      redact,
      redactJson: (value: Json) => redactJson(value),
      identity: async () => ({ ...identity }),
      targets: new Map([
        [boxTarget.name, boxTarget],
        ['other', { ...boxTarget, name: 'other' }],
        ['pod', { ...boxTarget, name: 'pod', domain: 'kubernetes' }],
      ]),
      ...options.gate,
    },
  });
  return {
    core,
    database,
    dataDir,
    machine,
    odd,
    identity,
    async stop() {
      await core.stop();
      await database.drop();
    },
  };
}

/** Tools that do what a mistaken or hostile one would. */
function oddTools(odd: Rig['odd'], machine: Machine): readonly Tool[] {
  return [
    defineReadTool({
      name: 'odd_read',
      description: 'Answers whatever the test says.',
      kind: 'read',
      domain: 'postgres',
      // Takes anything, so that nothing but the gate itself stands in the way.
      input: z.unknown(),
      timeoutMs: 300,
      run: () => odd.read() as never,
    }),
    defineActiveTool<unknown, Json>({
      name: 'odd_mend',
      description: 'Ends however the test says.',
      kind: 'active',
      verbs: { does: 'Mend', did: 'Mended', button: 'Mend it' },
      isRepeatable: true,
      domain: 'postgres',
      input: z.unknown(),
      timeoutMs: 300,
      command: (input) => `odd ${JSON.stringify(input)}`,
      preflight: async () => ({
        guard: { generation: machine.generation },
        clock: null,
        lines: [],
        blastRadius: 'nothing',
        undo: 'nothing',
        risk: 'low',
      }),
      objects: () => [{ kind: 'box', key: 'odd', label: 'the odd box' }],
      run: () => odd.mend() as never,
      look: () => odd.look() as never,
      effect: () => ({ steps: [], holdMs: 1, timeoutMs: 1 }),
    }),
    defineActiveTool<{ n: number }, Json>({
      name: 'risky_mend',
      description: 'High risk.',
      kind: 'active',
      verbs: { does: 'Mend', did: 'Mended', button: 'Mend it' },
      domain: 'postgres',
      input: z.strictObject({ n: z.number() }),
      timeoutMs: 10_000,
      command: ({ n }) => `risky ${n}`,
      preflight: async () => ({
        guard: null,
        clock: null,
        lines: [],
        blastRadius: 'all',
        undo: 'none',
        risk: 'high',
      }),
      objects: ({ n }) => [{ kind: 'box', key: `risky ${n}`, label: `box ${n}` }],
      run: async () => {
        machine.effects += 1;
        return { kind: 'succeeded', text: 'done' };
      },
      look: async () => 'cannot_tell',
      effect: () => ({ steps: [], holdMs: 1, timeoutMs: 1 }),
    }),
  ];
}

export const never = new AbortController().signal;
export const noHooks: LedgerHooks = {
  claimed: async () => undefined,
  released: async () => undefined,
  ended: async () => undefined,
};

export async function openIncident({ core }: Pick<Rig, 'core'>): Promise<IncidentId> {
  const { incidentId } = await core.accept(boxAlert());
  if (incidentId === null) throw new Error('no incident');
  return incidentId;
}

export function call(
  { core }: Pick<Rig, 'core'>,
  role: Role,
  incidentId: IncidentId,
  request: ToolCallRequest,
  gate: Gate = core.gate,
): Promise<ToolCallResult> {
  return gate.call(core.vault.mint({ role, incidentId, targets: ['box'] }), request, { signal: never });
}

export const mend = (how: string, target = 'box'): ToolCallRequest => ({
  tool: 'box_mend',
  target,
  input: { how },
});

/** A proposal of the surgeon's, as it stands in the ledger. */
export async function propose(
  rig: Pick<Rig, 'core'>,
  request: ToolCallRequest = mend('way'),
  incidentId?: IncidentId,
): Promise<Action> {
  const result = await call(rig, 'surgeon', incidentId ?? (await openIncident(rig)), request);
  if (result.kind !== 'proposed') throw new Error(JSON.stringify(result));
  return actionOf(rig, result.actionId);
}

export async function actionOf({ core }: Pick<Rig, 'core'>, id: string): Promise<Action> {
  const action = await core.records.action(asActionId(id));
  if (!action) throw new Error(`no action ${id}`);
  return action;
}

export function decide(
  { core }: Pick<Rig, 'core'>,
  action: Pick<Action, 'planHash'> & { readonly id: ActionId },
  decision: 'approve' | 'deny' = 'approve',
  by = 'UONCALL',
): Promise<Decided> {
  return core.approvals.decide({
    actionId: action.id,
    planHash: action.planHash,
    by,
    decision,
    reason: decision === 'deny' ? 'no' : '',
    anotherWay: false,
  });
}

/** Proposed and approved, as an on-call engineer would. */
export async function approved(rig: Pick<Rig, 'core'>, request?: ToolCallRequest): Promise<Action> {
  const action = await propose(rig, request);
  const answer = await decide(rig, action);
  if (!answer.ok) throw new Error(answer.reason);
  return actionOf(rig, action.id);
}

/** As a turn would: reads what is on record, and hands it to the gate. */
export async function execute(
  rig: Pick<Rig, 'core'>,
  id: string,
  gate: Gate = rig.core.gate,
  hooks: LedgerHooks = noHooks,
): Promise<ExecutionResult> {
  return gate.execute(await actionOf(rig, id), hooks, never);
}

export async function auditBodies({ core }: Pick<Rig, 'core'>): Promise<readonly Record<string, unknown>[]> {
  const rows = await core.sql<Row>`SELECT body FROM audit_entry ORDER BY seq`;
  return rows.map((row) => JSON.parse(String(row['body'])) as Record<string, unknown>);
}

/** A statement as somebody with the database in his hands would type it. */
export function typed({ core }: Pick<Rig, 'core'>, statement: string): PromiseLike<unknown> {
  return type(core.sql, statement);
}
