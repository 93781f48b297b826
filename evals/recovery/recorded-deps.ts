import { randomBytes, randomUUID } from 'node:crypto';
import { type Approvals, createApprovals } from '../../src/actions/approvals/approvals.ts';
import type { ApproverDirectory } from '../../src/actions/approvals/ports.ts';
import { createGate } from '../../src/actions/gate.ts';
import type { GateDeps } from '../../src/actions/gate-deps.ts';
import { createApprovalPolicy } from '../../src/actions/policy/policy.ts';
import { withoutPolicy } from '../../src/actions/policy/policy-rules.ts';
import { alertChecks } from '../../src/agents/playbook/alert-checks.ts';
import type { Log } from '../../src/core/log.ts';
import type { Principal } from '../../src/core/principal.ts';
import type { Sql } from '../../src/core/sql.ts';
import type { Target } from '../../src/core/target.ts';
import type { InvestigationDeps, InvestigationMemory } from '../../src/incidents/deps.ts';
import { createStopNotices } from '../../src/incidents/kill-switch/stop-notices.ts';
import type { IncidentRecords } from '../../src/record/record.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import { runbooksFor } from '../../src/runbooks/runbooks-for.ts';
import { createAuditLog } from '../../src/safety/audit/audit-chain.ts';
import { createKillSwitch } from '../../src/safety/kill-switch/kill-switch.ts';
import { createThrottle } from '../../src/safety/limits/throttle.ts';
import { redact, redactJson } from '../../src/safety/screen/redact.ts';
import { createApprovalSeal } from '../../src/safety/vault/approval-seal.ts';
import { openCredentialVault } from '../../src/safety/vault/credentials.ts';
import { createIdentities } from '../../src/safety/vault/identities.ts';
import { openVaultKey } from '../../src/safety/vault/vault-key.ts';
import { endSenders, repeaters } from '../../src/sources/registry.ts';
import type { TargetKind } from '../../src/targets/kind.ts';

const APPROVAL_MINUTES = 30;

/** What is played on a recorded system, and by whom. */
export interface RecordedPlay extends Pick<GateDeps, 'registry' | 'changes'> {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly kind: Pick<TargetKind, 'name' | 'looks'>;
  readonly targets: ReadonlyMap<string, Target>;
  readonly runbooks: readonly Runbook[];
  readonly people: readonly string[];
  readonly investigators: Pick<InvestigationDeps, 'playbook' | 'claude'>;
  readonly confirmation: Pick<InvestigationDeps['confirmation'], 'sourceWaitMs' | 'holdMs' | 'timeoutMs'>;
  /** Ms since the epoch; the system's clock when left out. */
  readonly now?: () => number;
  readonly log: Log;
}

/** The real parts behind an incident of a recorded system: it has the real gate, approvals and turns, and no memory. */
export async function openRecordedDeps(play: RecordedPlay): Promise<{
  readonly deps: InvestigationDeps;
  readonly approvals: Approvals;
  readonly shutdown: AbortSignal;
  close(): Promise<void>;
}> {
  const { sql, records, kind, targets, registry, runbooks, now, log } = play;
  const clock = now && ((): Date => new Date(now()));
  const audit = createAuditLog(sql, clock);
  const key = openVaultKey('', randomBytes(32));
  const seal = createApprovalSeal(key);
  const identities = createIdentities({ sql, audit, key });
  const vault = await openCredentialVault({
    sql,
    audit,
    identities,
    executorId: randomUUID(),
    log,
    ...(now === undefined ? {} : { now }),
  });
  const approvers = play.people.map((id): Principal => ({ kind: 'user', id }));
  const rules = withoutPolicy({ approvers, approvalMinutes: APPROVAL_MINUTES });
  const policy = createApprovalPolicy({
    approvers,
    admins: [],
    directory: nobody,
    rules,
    ...(clock === undefined ? {} : { now: clock }),
  });
  const approvals = createApprovals({ sql, records, audit, policy, seal });
  const gate = createGate({
    rules,
    approvers: policy,
    seal,
    sql,
    records,
    audit,
    vault,
    throttle: createThrottle(sql, {}),
    killSwitch: createKillSwitch(sql, { mode: 'ACTIVE', dataDir: '/nonexistent' }),
    registry,
    ...(play.changes === undefined ? {} : { changes: play.changes }),
    targets,
    // The recorded tools reach nothing.
    ports: { system: () => undefined, looks: () => kind.looks, docs: NO_DOCS },
    identity: async () => ({ systemIdentifier: 'recorded', timelineId: 1 }),
    runbookChecks: (asked) => alertChecks(runbooksFor(runbooks, kind.name, registry), asked),
    runbookVersion: () => null,
    redact,
    redactJson,
    approvalMinutes: APPROVAL_MINUTES,
    log,
  });
  const shutdown = new AbortController();
  const deps: InvestigationDeps = {
    sql,
    records,
    audit,
    jobs: {
      async enqueueTurn(id, reason, { delayMs = 0 } = {}) {
        await sql`SELECT sentry_enqueue_turn(${id}, ${reason}, ${delayMs}::bigint)`;
      },
    },
    gate,
    vault,
    approvals,
    memory: noMemory,
    ...play.investigators,
    stops: createStopNotices({ sql, bus: { subscribe: () => async () => undefined }, log }),
    confirmation: { ...play.confirmation, sendsEnds: endSenders(), repeats: repeaters() },
    ...(play.changes === undefined ? {} : { asksWhatChanged: true }),
    effort: async () => ({ effort: 'adaptive', rule: null }),
    mutes: { hold: async () => new Set(), release: async () => undefined },
    correlation: { hold: async () => new Set() },
    log,
    shutdown: shutdown.signal,
    redact,
  };
  return {
    deps,
    approvals,
    shutdown: shutdown.signal,
    async close() {
      shutdown.abort();
      await vault.close();
    },
  };
}

const NO_DOCS = { hosts: [], fetch: () => Promise.reject(new Error('no page is read here')) };

const nobody: ApproverDirectory = {
  groupMembers: async () => [],
  channelMembers: async () => [],
  mayAct: async () => ({ ok: true }),
  asOfNow: () => nobody,
};

/** Memory would know the answer. */
const noMemory: InvestigationMemory = {
  recall: async () => ({
    incidents: [],
    runbooks: [],
    episodes: { similar: [], failedCommands: [] },
    missing: null,
  }),
  prepare: async () => null,
  recordShown: async () => undefined,
  enabled: false,
  rememberIncident: async () => undefined,
  recordEpisode: async () => undefined,
};
