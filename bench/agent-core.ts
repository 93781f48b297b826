import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createApprovals } from '../src/actions/approvals/approvals.ts';
import type { ApproverDirectory } from '../src/actions/approvals/ports.ts';
import { createGate } from '../src/actions/gate.ts';
import { createApprovalPolicy } from '../src/actions/policy/policy.ts';
import type { ClaudeDeps } from '../src/agents/claude/create-claude.ts';
import type { Investigator } from '../src/agents/ports.ts';
import type { Alert } from '../src/core/alert.ts';
import type { Effort } from '../src/core/effort.ts';
import { EMPTY_RECALL } from '../src/core/memory.ts';
import type { FirstLook, Target } from '../src/core/target.ts';
import type { Json } from '../src/core/tool-call.ts';
import type { InvestigationDeps } from '../src/incidents/deps.ts';
import { createStopNotices } from '../src/incidents/kill-switch/stop-notices.ts';
import { createTurn } from '../src/incidents/turn.ts';
import type { Database } from '../src/infra/db/client.ts';
import { createEngine } from '../src/infra/dbos/engine.ts';
import { createLog } from '../src/infra/log/log.ts';
import { createAccept } from '../src/ingest/accept.ts';
import { createRecords, type IncidentRecords } from '../src/record/record.ts';
import { createAuditLog } from '../src/safety/audit/audit-chain.ts';
import { createKillSwitch } from '../src/safety/kill-switch/kill-switch.ts';
import { createThrottle } from '../src/safety/limits/throttle.ts';
import { redact, redactJson } from '../src/safety/screen/redact.ts';
import { createApprovalSeal } from '../src/safety/vault/approval-seal.ts';
import { openCredentialVault } from '../src/safety/vault/credentials.ts';
import { createIdentities } from '../src/safety/vault/identities.ts';
import { openVaultKey } from '../src/safety/vault/vault-key.ts';
import { allTools } from '../src/targets/all-tools.ts';
import { domainOfLabels } from '../src/targets/domains.ts';
import { kinds } from '../src/targets/kinds.ts';
import { changesTools } from '../src/tools/changes/changes-tools.ts';
import { defineReadTool, type ReadTool, type Tool } from '../src/tools/define.ts';
import { evidenceTools } from '../src/tools/evidence/evidence-tools.ts';
import { memoryToolset } from '../src/tools/memory/memory-tools.ts';
import { usualValues } from '../src/tools/usual/usual-values.ts';

export const benchTarget: Target = {
  name: 'bench',
  kind: 'postgres',
  domain: 'postgres',
  environment: 'bench',
  aliases: [],
};

export interface ToolSpan {
  readonly from: number;
  readonly to: number;
}

/** A read that takes so long and says so much, and remembers when it ran. */
export function benchTool(
  ms: number,
  outputBytes: number,
): { readonly tool: ReadTool<{ part: number }>; readonly spans: readonly ToolSpan[] } {
  const spans: ToolSpan[] = [];
  const tool = defineReadTool({
    name: 'bench_read',
    description: 'Reads one part of the benched system.',
    kind: 'read',
    domain: 'any',
    // None: as a first look calls it.
    input: z.strictObject({ part: z.int().default(0) }),
    timeoutMs: 10_000,
    run: async ({ signal }, { part }) => {
      const from = performance.now();
      await sleep(ms, undefined, { signal });
      spans.push({ from, to: performance.now() });
      const text = `part ${part} waits 12 s\n${'session 4711 idle in transaction 12 m\n'.repeat(outputBytes / 38)}`;
      return { text, data: { part } };
    },
  });
  return { tool, spans };
}

/** What Claude is offered, as the composition root does: what is for the target's kind, or for any. */
export const offeredWith = (tool: Tool): Pick<ClaudeDeps, 'tools' | 'targets' | 'kindOf'> => ({
  tools: [...allTools, ...evidenceTools, ...changesTools, usualValues, ...memoryToolset, tool],
  targets: [benchTarget.name],
  kindOf: () => benchTarget.kind,
});

export interface AgentCore {
  readonly records: IncidentRecords;
  start(): Promise<void>;
  accept(alert: Alert): Promise<{ readonly incidentId?: string | null }>;
  stop(): Promise<void>;
}

/** A critical alert about the target, one that no other is a part of. */
export function benchAlert(name: string): Alert {
  return {
    source: 'alertmanager',
    status: 'firing',
    name,
    title: 'Sessions wait',
    severity: 'critical',
    sourceSeverity: 'critical',
    labels: { alertname: name, source_type: 'database' },
    annotations: { summary: 'Measured, not real' },
    target: benchTarget.name,
    fingerprint: name,
    deliveryKey: `${name}-${Date.now()}`,
    startsAt: new Date().toISOString(),
    endsAt: null,
    url: null,
  };
}

/** The real path of an incident but for Slack and memory: engine, gate, audit log and record on a real database. */
export async function createAgentCore(options: {
  readonly database: Database;
  readonly url: string;
  readonly tools: readonly Tool[];
  readonly claude: (records: IncidentRecords) => Investigator;
  /** As a policy's rule for every alert has it; default: no rule, which is `adaptive`. */
  readonly effort?: Effort;
  /** What is looked at first; default: nothing. */
  readonly looks?: readonly FirstLook[];
}): Promise<AgentCore> {
  const { sql } = options.database;
  const log = createLog('error');
  const records = createRecords(sql);
  const audit = createAuditLog(sql);
  const executorId = randomUUID();
  const key = openVaultKey('', Buffer.alloc(32, 1));
  const seal = createApprovalSeal(key);
  const identities = createIdentities({ sql, audit, key });
  const vault = await openCredentialVault({ sql, audit, identities, executorId, log });
  const directory: ApproverDirectory = {
    groupMembers: async () => [],
    channelMembers: async () => [],
    mayAct: async () => ({ ok: true }),
    asOfNow: () => directory,
  };
  const policy = createApprovalPolicy({ approvers: [], admins: [], directory });
  const engine = createEngine({ databaseUrl: options.url, sql, log, executorId });
  const shutdown = new AbortController();
  const claude = options.claude(records);
  const deps: InvestigationDeps = {
    sql,
    records,
    audit,
    jobs: engine,
    mutes: { hold: async () => new Set(), release: async () => undefined },
    correlation: { hold: async () => new Set() },
    // What no rule asks for is nobody's choice, and does not count.
    effort: async () => ({
      effort: options.effort ?? 'adaptive',
      rule: options.effort === undefined ? null : 'every alert of the bench',
    }),
    vault,
    gate: createGate({
      approvers: policy,
      seal,
      sql,
      records,
      audit,
      vault,
      throttle: createThrottle(sql, {}),
      runbookChecks: () => [],
      runbookVersion: () => null,
      killSwitch: createKillSwitch(sql, { mode: 'AUDIT', dataDir: '/nonexistent' }),
      registry: { get: (name) => options.tools.find((tool) => tool.name === name) },
      targets: new Map([[benchTarget.name, benchTarget]]),
      ports: {
        system: () => undefined,
        looks: () => options.looks ?? [],
        docs: { hosts: [], fetch: () => Promise.reject(new Error('no page is read here')) },
      },
      identity: async () => ({ systemIdentifier: '1', timelineId: 1 }),
      redact,
      redactJson: (value: Json) => redactJson(value),
      approvalMinutes: 5,
      log,
    }),
    approvals: createApprovals({ sql, records, policy, audit, seal }),
    memory: {
      recall: async () => EMPTY_RECALL,
      prepare: async () => null,
      recordShown: async () => undefined,
      enabled: true,
      rememberIncident: async () => undefined,
      recordEpisode: async () => undefined,
    },
    claude,
    playbook: claude,
    confirmation: { sourceWaitMs: 0, sendsEnds: new Map(), repeats: new Set(), holdMs: 100, timeoutMs: 600 },
    stops: createStopNotices({ sql, bus: { subscribe: () => async () => undefined }, log }),
    log,
    shutdown: shutdown.signal,
    redact,
  };
  return {
    records,
    start: () => engine.start(createTurn(deps)),
    accept: createAccept(sql, [benchTarget], domainOfLabels(kinds)),
    async stop() {
      shutdown.abort();
      await engine.stop(2_000);
      await vault.close();
    },
  };
}
