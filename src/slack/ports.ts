import type { WorkspaceSettings } from '../actions/policy/workspace-settings.ts';
import type { Action } from '../core/action.ts';
import type { DenialReach } from '../core/denial.ts';
import type { Refusal } from '../core/errors.ts';
import type { EventBus } from '../core/event-bus.ts';
import type { Finding } from '../core/finding.ts';
import type { Grade } from '../core/grade.ts';
import type { ActionId, IncidentId, ToolCallId } from '../core/ids.ts';
import type { Domain, Incident, IncidentFilter } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { Log } from '../core/log.ts';
import type { Principal } from '../core/principal.ts';
import type { Sql } from '../core/sql.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { Escalation } from '../escalation/escalation.ts';
import type { Correlation } from '../incidents/correlation/correlation.ts';
import type { DigDeeper } from '../incidents/dig-deeper.ts';
import type { PlanEdits } from '../incidents/edit-plan.ts';
import type { RetryRead } from '../incidents/failed-reads/retry-read.ts';
import type { Investigate } from '../incidents/investigate.ts';
import type { Mutes } from '../incidents/mutes/mutes.ts';
import type { Questions } from '../incidents/questions/questions.ts';
import type { ReadsRecorded } from '../incidents/recovery/recovery-series.ts';
import type { HandoffOf } from '../incidents/reports/handoff-of.ts';
import type { ReportClaims } from '../incidents/reports/report-claims.ts';
import type { Steering } from '../incidents/steering.ts';
import type { CreateManualIncident } from '../ingest/create-manual-incident.ts';
import type { SearchForPerson } from '../memory/context/search-memories.ts';
import type { Documents } from '../memory/documents/documents.ts';
import type { MemorySummary } from '../memory/documents/summary.ts';
import type { Promotions } from '../memory/promotion/promotions.ts';
import type { WorkspaceMemory } from '../memory/promotion/workspace-memory.ts';
import type { SlackWorkspace } from './people/slack-workspace.ts';
import type { HomeSources } from './views/home-facts.ts';

/** How to reach Slack. The playground's is `socket` with its own URL and tokens. */
export type SlackConnection =
  | {
      readonly kind: 'socket';
      readonly botToken: string;
      readonly appToken: string;
      readonly apiUrl: string | null;
    }
  | {
      readonly kind: 'http';
      readonly botToken: string;
      readonly signingSecret: string;
      readonly apiUrl: string | null;
    };

/** What Slack reads of the record. */
export interface SlackRecords {
  load(id: IncidentId): Promise<IncidentRecord | null>;
  incident(id: IncidentId): Promise<Incident | null>;
  incidents(ids: readonly IncidentId[]): Promise<readonly Incident[]>;
  list(options: { readonly limit: number; readonly open?: boolean }): Promise<readonly Incident[]>;
  /** Those after `before`, newest first; `next`: what to go on after. */
  page(
    options: IncidentFilter & { readonly limit: number; readonly before: IncidentId | null },
  ): Promise<{ readonly incidents: readonly Incident[]; readonly next: IncidentId | null }>;
  /** How many are not ended, and how many of those somebody has stopped. */
  openCounts(): Promise<{ readonly open: number; readonly stopped: number }>;
  findByThread(channel: string, threadTs: string): Promise<IncidentId | null>;
  toolCall(id: ToolCallId): Promise<ToolCall | null>;
  action(id: ActionId): Promise<Action | null>;
  /** All steps of the plan of this id. */
  plan(id: ActionId): Promise<readonly Action[]>;
}

/** A click on a card: the plan it shows, and who clicked, from Slack's own signed payload. */
export interface PlanClick {
  readonly actionId: ActionId;
  readonly planHash: string;
  readonly by: string;
}

/** A person's decision on exactly the plan they saw. */
export interface SlackDecision {
  readonly actionId: ActionId;
  readonly planHash: string;
  /** Slack user id, from Slack's own signed payload. */
  readonly by: string;
  readonly decision: 'approve' | 'deny';
  readonly reason: string | null;
  /** Denied, but another way is welcome. */
  readonly anotherWay: boolean;
  /** Denied: how far and for how long. */
  readonly reach?: DenialReach;
}

/** A message as Slack's events and history give it, with the channel it stands in. */
export type SlackMessage = Readonly<Record<string, unknown>> & {
  readonly channel: string;
  readonly ts: string;
};

/** Memory as people use it in Slack: what they may see and write, and what admins decide. */
export interface SlackMemory {
  /** Id or name: where proposals are shown. */
  readonly adminChannel: string;
  readonly admins: readonly Principal[];
  /** @throws when it cannot be told; then the answer is no. */
  readonly isAdmin: (userId: string) => Promise<boolean>;
  /** What a proposal may be for. */
  readonly domains: readonly Domain[];
  readonly promotions: Pick<Promotions, 'propose' | 'decide' | 'get' | 'review' | 'rehearse' | 'list'>;
  readonly documents: Pick<Documents, 'write' | 'read' | 'list' | 'history' | 'ensureUserStore' | 'retire'>;
  readonly workspace: WorkspaceMemory;
  readonly summary: () => Promise<MemorySummary>;
  /** For one person's words: what they may read. */
  readonly search: SearchForPerson;
}

/** What is set up in Slack, how it stands, and a try of it. */
export interface SetUp {
  readonly settings: WorkspaceSettings;
  /** Whether they are among the admins in force, asked anew of the record and of Slack. Throws when it cannot be told. */
  readonly isAdmin: (userId: string) => Promise<boolean>;
  /** Whether they may approve this one, by what Slack said within a minute: for what only informs. Throws when it cannot be told. */
  readonly mayApprove: (userId: string, action: Action, incident: Incident) => Promise<boolean>;
  /** Names of the schedules of sentry.yaml. */
  readonly schedules: readonly string[];
  /** How the parts beside Slack are. */
  readonly examine: () => Promise<readonly Finding[]>;
  /** Opens a test incident that closes by itself. */
  readonly raiseTest: (
    by: string,
  ) => Promise<{ readonly ok: true; readonly incidentId: IncidentId } | Refusal>;
}

/** Everything Slack needs from the rest, injected. */
export interface SlackDeps {
  readonly sql: Sql;
  readonly bus: EventBus;
  readonly log: Log;
  readonly workspace: SlackWorkspace;
  /** Unique per process: who holds a lease. */
  readonly executorId: string;
  readonly config: {
    /** Who may approve this one, by the policy. Null: the policy cannot be read. */
    readonly approversOf: (action: Action) => Promise<readonly Principal[] | null>;
    /** Who approves where no rule says otherwise. */
    readonly approvers: readonly Principal[];
    /** Id or handle. */
    readonly oncallGroup: string | null;
    /** In force now. */
    readonly mode: () => 'AUDIT' | 'ACTIVE';
  };
  readonly records: SlackRecords;
  /** The story of an incident in plain lines, from the record alone. */
  readonly why: (record: IncidentRecord) => string;
  /** One atomic decision. An expected *no* is a value whose `reason` is shown to the person. */
  readonly decide: (decision: SlackDecision) => Promise<{ readonly ok: true } | Refusal>;
  /** What people may still do with an action that is over. */
  readonly afterwards: {
    readonly mayUndo: (action: Action) => boolean;
    readonly undo: (
      click: PlanClick,
    ) => Promise<{ readonly ok: true; readonly text: string | null } | Refusal>;
    /** What was denied is asked for again, as things are now. */
    readonly askAgain: (
      click: PlanClick,
    ) => Promise<{ readonly ok: true; readonly text: string | null } | Refusal>;
    readonly takeNoBack: (
      click: PlanClick,
    ) => Promise<{ readonly ok: true; readonly text: string | null } | Refusal>;
    /** What a plan that stopped half-way has left undone is asked for. */
    readonly runRest: (
      click: PlanClick,
    ) => Promise<{ readonly ok: true; readonly text: string | null } | Refusal>;
    /** Somebody who has looked says whether it ran. */
    readonly settle: (
      click: PlanClick & { readonly ran: boolean; readonly name: string },
    ) => Promise<{ readonly ok: true } | Refusal>;
  };
  /** What people may do with an open plan beside deciding on it. */
  readonly plans: PlanEdits & {
    /** Why somebody may not decide on a step; undefined: they may. */
    readonly mayDecide: (
      user: string,
      action: Action,
      decision: 'approve' | 'deny',
    ) => Promise<Refusal | undefined>;
  };
  /** Something a person knows about the incident, for the next round. */
  readonly hint: (
    incidentId: IncidentId,
    by: string,
    text: string,
  ) => Promise<{ readonly ok: true; readonly text: string } | Refusal>;
  /** What people do with an incident as a whole. */
  readonly steer: Pick<Steering, 'stop' | 'resume' | 'close' | 'setSeverity'>;
  /** What a person thinks of the work, once it is over. */
  readonly grade: (incidentId: IncidentId, grade: Grade) => Promise<{ readonly ok: true } | Refusal>;
  readonly questions: Questions;
  /** Has the model look again; null: there is none. */
  readonly digDeeper: DigDeeper | null;
  /** Has an incident at rest looked into. */
  readonly investigate: Investigate;
  /** Has what could not be read made again. */
  readonly retryRead: RetryRead;
  /** Who has an incident, and who is called. */
  readonly escalation: Pick<
    Escalation,
    'take' | 'assign' | 'pageNow' | 'wrote' | 'pagersAfter' | 'calls' | 'isQuiet'
  >;
  /** What a read on record says of a step of a repair's criterion. */
  readonly measured: ReadsRecorded;
  /** What alerts wait for. */
  readonly mutes: Pick<Mutes, 'hold' | 'read'>;
  /** Puts incidents of one problem together. */
  readonly correlation: Correlation;
  /** Opens an incident for what a person has seen. */
  readonly createManualIncident: CreateManualIncident;
  /** Another app's top-level message in an alert channel. The same message twice changes nothing. Throws when it could not be stored. */
  readonly acceptSlackMessage: (message: SlackMessage, own: OwnIdentity) => Promise<unknown>;
  /** Of a channel that is none for alerts: what another app says was changed. */
  readonly acceptSlackChange: (message: SlackMessage, own: OwnIdentity) => Promise<unknown>;
  readonly memory: SlackMemory;
  /** The shift in plain lines, for whoever takes over. */
  readonly handoff: HandoffOf;
  /** That one post-incident report is made of an incident. */
  readonly reports: ReportClaims;
  readonly setUp: SetUp;
  /** More of `/sentry …`, by its first word. */
  readonly commands: Readonly<Record<string, SlackCommand>>;
  /** More lines for `/sentry status` and App Home: parts, switch, model. */
  readonly statusLines: () => Promise<readonly string[]>;
  /** What App Home shows beside the incidents. */
  readonly home: HomeSources;
  /** Id or name: where each proposal that waits has a line; null: nowhere. */
  readonly approvalsChannel: string | null;
  /** Times the pace that Slack allows; 1, but for a server that allows more. */
  readonly speed: number;
  /** Edits of messages in any minute, over all processes. */
  readonly editsPerMinute?: number;
}

/** Answers whoever typed it, in plain lines. */
export type SlackCommand = (asked: {
  /** What follows the first word. */
  readonly text: string;
  /** A Slack user id, known to be a person of this workspace. */
  readonly by: string;
  /** Of the thread it was typed in, where Slack tells. */
  readonly incidentId: IncidentId | null;
  /** Says something before the answer. */
  readonly say: (text: string) => void;
}) => Promise<string>;

export interface OwnIdentity {
  readonly botId: string | null;
  readonly userId: string | null;
}
