import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createApprovals } from '../../src/actions/approvals/approvals.ts';
import type { ApproverDirectory } from '../../src/actions/approvals/ports.ts';
import { createGate } from '../../src/actions/gate.ts';
import type { GateDeps } from '../../src/actions/gate-deps.ts';
import { createApprovalPolicy } from '../../src/actions/policy/policy.ts';
import { openPolicyRules } from '../../src/actions/policy/policy-rules.ts';
import type { Investigator } from '../../src/agents/ports.ts';
import type { Alert } from '../../src/core/alert.ts';
import type { Diagnosis } from '../../src/core/diagnosis.ts';
import type { MaintenanceWindow } from '../../src/core/maintenance-window.ts';
import { measureAt } from '../../src/core/measure.ts';
import type { Principal } from '../../src/core/principal.ts';
import type { Sql } from '../../src/core/sql.ts';
import type { Target } from '../../src/core/target.ts';
import type { Json } from '../../src/core/tool-call.ts';
import { createContextGathering } from '../../src/incidents/context/context-gathered.ts';
import type { ContextPart } from '../../src/incidents/context/part.ts';
import { createCorrelation } from '../../src/incidents/correlation/correlation.ts';
import type { InvestigationDeps, InvestigationMemory } from '../../src/incidents/deps.ts';
import { createInvestigate } from '../../src/incidents/investigate.ts';
import { createStopNotices } from '../../src/incidents/kill-switch/stop-notices.ts';
import { createMutes } from '../../src/incidents/mutes/mutes.ts';
import type { AnswerPlaces } from '../../src/incidents/ports.ts';
import { createAnswering } from '../../src/incidents/questions/answering.ts';
import { createQuestions } from '../../src/incidents/questions/questions.ts';
import { createSteering } from '../../src/incidents/steering.ts';
import { createTurn } from '../../src/incidents/turn.ts';
import { alone } from '../../src/infra/db/alone.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import { createEventBus } from '../../src/infra/db/event-bus.ts';
import { createEngine } from '../../src/infra/dbos/engine.ts';
import { migrateEngine } from '../../src/infra/dbos/enqueue-function.ts';
import { createAccept } from '../../src/ingest/accept.ts';
import { createRecords, type IncidentRecords } from '../../src/record/record.ts';
import { createAuditLog } from '../../src/safety/audit/audit-chain.ts';
import { createKillSwitch, type Mode } from '../../src/safety/kill-switch/kill-switch.ts';
import { createThrottle, readLimits, type ThrottleLimits } from '../../src/safety/limits/throttle.ts';
import { createApprovalSeal } from '../../src/safety/vault/approval-seal.ts';
import { openCredentialVault, type VaultOptions } from '../../src/safety/vault/credentials.ts';
import { createIdentities } from '../../src/safety/vault/identities.ts';
import { openVaultKey } from '../../src/safety/vault/vault-key.ts';
import { isIdentifying } from '../../src/sources/fingerprint.ts';
import { endSenders, repeaters } from '../../src/sources/registry.ts';
import type { ChangesPort } from '../../src/tools/changes/ports.ts';
import { type AnyTool, defineActiveTool, defineReadTool, type Tool } from '../../src/tools/define.ts';
import { directoryOf } from './directory.ts';
import { quiet as hush } from './quiet.ts';
import { domainOf, noSystems } from './targets.ts';

const quiet = process.env['LOUD']
  ? {
      ...hush,
      warn: (...a: unknown[]) => console.error(...a),
      error: (...a: unknown[]) => console.error(...a),
    }
  : hush;

/** A thing that can be broken and mended once, standing in for a target: tests count what took effect on it. */
export interface Machine {
  broken: boolean;
  /** Changes whenever somebody else touches it. */
  generation: number;
  /** How often the mutation took effect. */
  effects: number;
  /** Whether the mutation helps. */
  helps: boolean;
}

export const boxTarget: Target = {
  name: 'box',
  kind: 'postgres',
  domain: 'postgres',
  environment: 'test',
  aliases: [],
};

/** The box's symptom. */
export const boxIsBroken = measureAt('broken', {
  name: 'broken',
  label: 'boxes that are broken',
  unit: 'boxes',
  healthy: 'at_most',
  bound: 0,
});

/** They answer at once; their time is that of a machine with other work to do. */
export function boxTools(machine: Machine): readonly Tool[] {
  return [
    defineReadTool({
      name: 'box_state',
      description: 'Says whether the box is broken.',
      kind: 'read',
      domain: 'postgres',
      measures: [boxIsBroken],
      input: z.strictObject({}),
      timeoutMs: 10_000,
      run: async () => ({ text: `broken: ${machine.broken}`, data: { broken: machine.broken } }),
    }),
    defineActiveTool<{ how: string }, Json>({
      name: 'box_mend',
      description: 'Mends the box.',
      kind: 'active',
      verbs: { does: 'Mend', did: 'Mended', button: 'Mend the box' },
      domain: 'postgres',
      input: z.strictObject({ how: z.string() }),
      timeoutMs: 10_000,
      command: ({ how }) => `mend --how ${how}`,
      preflight: async () => ({
        guard: { generation: machine.generation },
        clock: null,
        lines: [`broken: ${machine.broken}`],
        blastRadius: 'the box',
        undo: 'break it again',
        risk: 'low',
      }),
      objects: () => [{ kind: 'box', key: 'box', label: 'the box' }],
      run: async () => {
        machine.effects += 1;
        if (machine.helps) machine.broken = false;
        return { kind: 'succeeded', text: 'mended' };
      },
      look: async () => (machine.effects > 0 ? 'done' : 'not_done'),
      effect: () => ({
        steps: [{ tool: 'box_state', input: {}, holds: '!result.broken', says: 'the box is whole' }],
        holdMs: 100,
        timeoutMs: 600,
      }),
    }),
  ];
}

/** A diagnosis of nothing. */
export const findsNothing: Diagnosis = {
  verdict: 'cannot_tell',
  rootCause: 'No runbook fits.',
  category: null,
  confidence: 0,
  evidence: [],
  ruledOut: [],
  unknown: [],
  wouldChangeMyMind: null,
  blastRadius: null,
  remedy: null,
  runbookId: null,
};

/** Diagnoses by reading the box and proposes to mend it; a new way in each round, since a way that failed is refused. */
export const boxInvestigator: Investigator = {
  name: 'playbook',
  triage: async (work) => ({
    severity: work.incident.severity,
    incidentType: 'broken_box',
    routine: true,
    ignore: false,
    reason: 'known',
  }),
  diagnose: async (work) => {
    const seen = await work.durably('look', () =>
      work.callTool({ tool: 'box_state', target: work.incident.target, input: {} }),
    );
    const broken = seen.kind === 'ok' && (seen.data as { broken: boolean }).broken;
    return {
      verdict: broken ? 'cause_found' : seen.kind === 'ok' ? 'healthy' : 'cannot_tell',
      rootCause: broken ? 'The box is broken.' : 'Nothing is wrong.',
      category: broken ? 'broken_box' : null,
      confidence: 0.97,
      evidence: [{ claim: 'The box says so.', toolCallIds: [seen.toolCallId], quote: `broken: ${broken}` }],
      ruledOut: [],
      unknown: [],
      wouldChangeMyMind: null,
      blastRadius: null,
      remedy: 'Mend it.',
      runbookId: null,
    };
  },
  plan: async (work) => {
    const proposed = await work.durably('propose', () =>
      work.callTool({
        tool: 'box_mend',
        target: work.incident.target,
        input: { how: `way-${work.incident.round}-${work.tried.length + (work.denied?.length ?? 0)}` },
        proposal: { why: 'It mends it.', runbookId: null, verify: null },
      }),
    );
    return proposed.kind === 'proposed'
      ? { kind: 'proposed', actionId: proposed.actionId }
      : { kind: 'none', reason: proposed.kind === 'ok' ? 'not active' : proposed.reason };
  },
};

const forgetful: InvestigationMemory = {
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
  recordEpisode: async () => undefined,
};

export function boxAlert(overrides: Partial<Alert> = {}): Alert {
  const key = randomUUID();
  return {
    source: 'alertmanager',
    status: 'firing',
    name: 'BoxBroken',
    title: 'The box is broken',
    severity: 'critical',
    sourceSeverity: 'critical',
    labels: { alertname: 'BoxBroken', source_type: 'database', instance: 'box' },
    annotations: {},
    target: 'box',
    fingerprint: key.replaceAll('-', ''),
    deliveryKey: key,
    startsAt: new Date().toISOString(),
    endsAt: null,
    url: null,
    ...overrides,
  };
}

export interface CoreOptions {
  readonly url: string;
  readonly tools: readonly AnyTool[];
  readonly investigator?: Investigator;
  readonly claude?: Investigator;
  readonly dataDir?: string;
  readonly mode?: Mode;
  readonly approvalMinutes?: number;
  readonly memory?: InvestigationMemory;
  readonly gate?: Partial<GateDeps>;
  readonly vault?: Partial<VaultOptions>;
  /** Of maintenance; none otherwise. */
  readonly windows?: () => readonly MaintenanceWindow[];
  /** Who answers what was changed; nobody is asked otherwise. Its tool is one of `tools`. */
  readonly changes?: ChangesPort;
  /** How often it is looked again whether it is still so; never, otherwise. */
  readonly looksAgain?: InvestigationDeps['looksAgain'];
  /** What is gathered around an incident; nothing when left out. */
  readonly context?: readonly ContextPart[];
  /** The box alone, otherwise. */
  readonly targets?: readonly Target[];
  readonly correlation?: Partial<Parameters<typeof createCorrelation>[0]>;
  /** A policy.yaml to go by; none otherwise. */
  readonly policyPath?: string;
  /** Where answers to questions appear; nobody asks any otherwise. */
  readonly places?: AnswerPlaces;
  readonly approvers?: readonly Principal[];
  /** Who is in groups and channels; nobody otherwise. */
  readonly directory?: ApproverDirectory;
  /** How long a symptom must be away, and how long that is waited for; moments where nothing real is mended. */
  readonly judged?: { readonly holdMs: number; readonly timeoutMs: number };
  /** How long a held check waits for a source that still fires; it does not, otherwise. */
  readonly sourceWaitMs?: number;
  /** Stands around the database, to see every statement. */
  readonly around?: (sql: Sql) => Sql;
  /** Stands around the record, to see what is written into it. */
  readonly records?: (records: IncidentRecords) => IncidentRecords;
}

/** The same in every core: processes of one deployment. */
export const VAULT_SECRET = Buffer.alloc(32, 7);

/** The real core (record, engine, gate, approvals, investigation) over a real database, with tools of the test's. */
export async function createCore(options: CoreOptions) {
  const database = openDatabase(options.url);
  const sql = (options.around ?? ((plain) => plain))(database.sql);
  await alone(options.url, () => migrateEngine(options.url, database.sql));
  const records = (options.records ?? ((plain) => plain))(createRecords(sql));
  const audit = createAuditLog(sql);
  const identities = createIdentities({ sql, audit, key: openVaultKey('', VAULT_SECRET) });
  const vault = await openCredentialVault({
    sql,
    audit,
    identities,
    executorId: randomUUID(),
    log: quiet,
    ...options.vault,
  });
  const killSwitch = createKillSwitch(sql, {
    mode: options.mode ?? 'ACTIVE',
    dataDir: options.dataDir ?? '/nonexistent',
  });
  const approvers = options.approvers ?? [{ kind: 'user', id: 'UONCALL' } as const];
  const rules = await openPolicyRules({
    sql,
    audit,
    log: quiet,
    path: options.policyPath ?? null,
    isRequired: true,
    people: { oncallGroup: null, admins: [] },
    subjects: () => null,
    approvers,
    approvalMinutes: options.approvalMinutes ?? 5,
    environmentOf: () => boxTarget.environment,
  });
  const policy = createApprovalPolicy({
    approvers,
    admins: [],
    directory: options.directory ?? directoryOf(),
    rules,
  });
  const seal = createApprovalSeal(openVaultKey('', VAULT_SECRET));
  const gateDeps: GateDeps = {
    rules,
    approvers: policy,
    seal,
    sql,
    records,
    audit,
    vault,
    throttle: createThrottle(sql, readLimits('incident=300/1h') as ThrottleLimits),
    killSwitch,
    registry: {
      get: (name) => options.tools.find((tool) => tool.name === name),
      list: () => options.tools,
    },
    targets: new Map((options.targets ?? [boxTarget]).map((target) => [target.name, target])),
    ports: noSystems,
    identity: async (target) => ({ systemIdentifier: target, timelineId: 1 }),
    runbookChecks: () => [],
    runbookVersion: (id) => `version 1 of ${id}`,
    redact: (text) => text,
    redactJson: (value) => value,
    approvalMinutes: options.approvalMinutes ?? 5,
    log: quiet,
    ...(options.changes ? { changes: options.changes } : {}),
    ...options.gate,
  };
  const gate = createGate(gateDeps);
  const approvals = createApprovals({ sql, records, policy, audit, seal });
  const engine = createEngine({ databaseUrl: options.url, sql, log: quiet, executorId: randomUUID() });
  const shutdown = new AbortController();
  const bus = createEventBus({ url: options.url, log: quiet });
  const mutes = createMutes({
    sql,
    records,
    audit,
    isAdmin: async (user) => user === 'UADMIN',
    isIdentifying,
    isPublic: async () => true,
    windows: options.windows ?? (() => []),
    log: quiet,
  });
  const targets = options.targets ?? [boxTarget];
  const correlation = createCorrelation({
    sql,
    records,
    audit,
    effort: rules.effort,
    systems: () => targets.map((target) => ({ ...target, observes: false })),
    windowMs: 15 * 60_000,
    isForSame: async () => true,
    ...options.correlation,
  });
  const deps: InvestigationDeps = {
    sql,
    records,
    audit,
    jobs: engine,
    gate,
    vault,
    approvals,
    memory: options.memory ?? forgetful,
    claude: options.claude ?? null,
    playbook: options.investigator ?? boxInvestigator,
    stops: createStopNotices({ sql, bus, log: quiet }),
    confirmation: {
      sourceWaitMs: options.sourceWaitMs ?? 0,
      sendsEnds: endSenders(),
      repeats: repeaters(),
      ...(options.judged ?? { holdMs: 100, timeoutMs: 600 }),
    },
    mutes,
    correlation,
    asksWhatChanged: options.changes !== undefined,
    ...(options.looksAgain ? { looksAgain: options.looksAgain } : {}),
    ...(options.context ? { context: createContextGathering(options.context) } : {}),
    effort: rules.effort,
    log: quiet,
    shutdown: shutdown.signal,
    redact: (text) => text,
  };
  const accept = createAccept(sql, targets, domainOf);
  const noPlace: AnswerPlaces = {
    open: () => ({ show: () => undefined, end: async () => undefined, close: () => undefined }),
  };
  const answering = createAnswering(deps, options.places ?? noPlace);
  return {
    ...deps,
    mutes,
    correlation,
    questions: createQuestions(deps),
    answering,
    audit,
    identities,
    seal,
    gateDeps,
    policy,
    accept,
    engine,
    steering: createSteering(deps),
    investigate: createInvestigate(deps),
    async start() {
      bus.start();
      await engine.start(createTurn(deps), [], answering);
    },
    async stop() {
      shutdown.abort();
      await engine.stop(2_000);
      await bus.stop();
      await database.close();
    },
  };
}

export type Core = Awaited<ReturnType<typeof createCore>>;
