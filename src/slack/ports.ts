import type { SlackConfig } from '../config.ts';
import type { Action } from '../domain/action.ts';
import type { Refusal } from '../domain/errors.ts';
import type { ActionId, IncidentId, ToolCallId } from '../domain/ids.ts';
import type { Incident } from '../domain/incident.ts';
import type { IncidentRecord } from '../domain/incident-record.ts';
import type { Log } from '../domain/log.ts';
import type { Principal } from '../domain/principal.ts';
import type { Sql } from '../domain/sql.ts';
import type { ToolCall } from '../domain/tool-call.ts';

/** How to reach Slack. The playground's is `socket` with its own URL and tokens. */
export type SlackConnection = Extract<SlackConfig, { readonly kind: 'socket' | 'http' }>;

/** What Slack reads of the record. */
interface SlackRecords {
  load(id: IncidentId): Promise<IncidentRecord | null>;
  list(options: { readonly limit: number; readonly open?: boolean }): Promise<readonly Incident[]>;
  findByThread(channel: string, threadTs: string): Promise<IncidentId | null>;
  toolCall(id: ToolCallId): Promise<ToolCall | null>;
  action(id: ActionId): Promise<Action | null>;
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
}

/** A message as Slack's events and history give it, with the channel it stands in. */
export type SlackMessage = Readonly<Record<string, unknown>> & {
  readonly channel: string;
  readonly ts: string;
};

/** Everything Slack needs from the rest, injected. */
export interface SlackDeps {
  readonly sql: Sql;
  readonly log: Log;
  readonly connection: SlackConnection;
  /** Unique per process: who holds a lease. */
  readonly executorId: string;
  readonly config: {
    /** Ids or names; the first gets the incidents that come from elsewhere. */
    readonly alertChannels: readonly string[];
    readonly approvers: readonly Principal[];
    /** Id or handle. */
    readonly oncallGroup: string | null;
    readonly mode: 'AUDIT' | 'ACTIVE';
  };
  readonly records: SlackRecords;
  /** The story of an incident in plain lines, from the record alone. */
  readonly why: (record: IncidentRecord) => string;
  /** One atomic decision. An expected *no* is a value whose `reason` is shown to the person. */
  readonly decide: (decision: SlackDecision) => Promise<{ readonly ok: true } | Refusal>;
  /** Something a person knows about the incident, for the next round. */
  readonly hint: (
    incidentId: IncidentId,
    by: string,
    text: string,
  ) => Promise<{ readonly ok: true } | Refusal>;
  /** Another app's top-level message in an alert channel. The same message twice changes nothing. Throws when it could not be stored. */
  readonly acceptSlackMessage: (message: SlackMessage, own: OwnIdentity) => Promise<unknown>;
  /** More lines for `/sentry status` and App Home: parts, switch, model. */
  readonly statusLines?: () => Promise<readonly string[]>;
  /** HTTP mode only: listen here by ourselves instead of being mounted. */
  readonly listen?: { readonly host: string; readonly port: number };
}

export interface OwnIdentity {
  readonly botId: string | null;
  readonly userId: string | null;
}
