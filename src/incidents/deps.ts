import type { Approvals } from '../actions/approvals/approvals.ts';
import type { Gate } from '../actions/gate.ts';
import type { Investigator } from '../agents/ports.ts';
import type { ChosenEffort } from '../core/effort.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident, Role } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { Jobs } from '../core/jobs.ts';
import type { Log } from '../core/log.ts';
import type { MemoryAsk, PreparedMemory, Recall } from '../core/memory.ts';
import type { Sql } from '../core/sql.ts';
import type { NewEpisode } from '../memory/episodes/episodes.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { AlertFacts } from '../safety/alert-matcher.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { CredentialVault } from '../safety/vault/credentials.ts';
import type { ContextGathering } from './context/context-gathered.ts';
import type { Correlation } from './correlation/correlation.ts';
import type { StopNotices } from './kill-switch/stop-notices.ts';
import type { Mutes } from './mutes/mutes.ts';
import type { LookPace } from './phases/look-again.ts';
import type { Confirmation } from './source-end.ts';
import type { UnusualOf } from './unusual-of.ts';

/** What the investigation needs of memory; memory advises and never holds an incident up. */
export interface InvestigationMemory {
  recall(incident: Incident, incidentType?: string | null): Promise<Recall>;
  /** What it has for a new user turn of a model; null when memory is off. Never throws. */
  prepare(ask: MemoryAsk): Promise<PreparedMemory | null>;
  /** Puts on record what a model was shown; the same again is recorded once. */
  recordShown(incidentId: IncidentId, role: Role, prepared: PreparedMemory): Promise<void>;
  /** False: nothing is recalled and nothing said about it. */
  readonly enabled: boolean;
  /** Upserts by incident id; returns once the write is durable somewhere (at least its outbox row). */
  rememberIncident(record: IncidentRecord): Promise<void>;
  recordEpisode(episode: NewEpisode): Promise<void>;
}

export interface InvestigationDeps {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly audit: AuditLog;
  readonly jobs: Jobs;
  readonly gate: Gate;
  readonly vault: CredentialVault;
  readonly approvals: Approvals;
  readonly memory: InvestigationMemory;
  /** Claude where there is a key, else null. */
  readonly claude: Investigator | null;
  readonly playbook: Investigator;
  /** What people stop while it works. */
  readonly stops: StopNotices;
  /** How much is done about an alert. */
  readonly effort: (facts: AlertFacts) => Promise<ChosenEffort>;
  /** How often it is looked again whether it is still so. Left out: never. */
  readonly looksAgain?: LookPace;
  /** What alerts wait for. */
  readonly mutes: Pick<Mutes, 'hold' | 'release'>;
  /** At the start of every look for a cause it is asked what was changed. False: nobody could answer. */
  readonly asksWhatChanged?: boolean;
  /** What of these reads on record is unusual for their target, in words; left out: nobody keeps what is usual. */
  readonly unusualOf?: UnusualOf;
  /** What is gathered around an incident when a look for its cause begins. Left out: nothing. */
  readonly context?: ContextGathering;
  /** What incidents are a part of. */
  readonly correlation: Pick<Correlation, 'hold'>;
  readonly log: Log;
  /** What it takes, beside our own check, for an incident to be over. */
  readonly confirmation: Confirmation;
  /** Aborted when Sentry stops: tool calls and model calls end, the turn goes on elsewhere. */
  readonly shutdown: AbortSignal;
  redact(text: string): string;
}
