import type { Severity } from '../core/alert.ts';
import type { IncidentId } from '../core/ids.ts';

/** What a paging service is told of one incident, at one level of the ladder. */
export interface Page {
  readonly incidentId: IncidentId;
  /**
   * The incident's id at level 1, `INC-12-level-2` above it: the same page sent twice is one page there, and what the
   * service tells us of it is known as ours.
   */
  readonly dedupKey: string;
  /** From 1. */
  readonly level: number;
  readonly severity: Severity;
  /** One line; redacted. */
  readonly summary: string;
  readonly target: string | null;
  /** Why somebody is called, one sentence. */
  readonly reason: string;
  /** What is known so far, a line each, redacted; may be empty. */
  readonly evidence: readonly string[];
  /** The Slack thread; null: none stands yet. */
  readonly url: string | null;
}

/** What came of telling a paging service. `retryable`: it may work later (no answer, 429, 5xx). */
export type Delivered =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      readonly reason: string;
    };

/** A paging service. None of these throws; each may be called again with the same page. */
export interface Pager {
  /** As `sentry.yaml` names it. */
  readonly name: string;
  trigger(page: Page, signal: AbortSignal): Promise<Delivered>;
  /** `by`: a person's name, for the log there. */
  acknowledge(dedupKey: string, by: string, signal: AbortSignal): Promise<Delivered>;
  resolve(dedupKey: string, why: string, signal: AbortSignal): Promise<Delivered>;
}

export interface OnCallPerson {
  readonly name: string;
  /** By which a Slack account is looked up; null: the schedule does not tell. */
  readonly email: string | null;
  /** A Slack user id; null: to be looked up. */
  readonly slackUser: string | null;
}

/** Who is on call at a moment. Rejects with OpsError where that cannot be told. */
export interface OnCallSchedule {
  readonly name: string;
  onCall(at: Date, signal: AbortSignal): Promise<readonly OnCallPerson[]>;
}

/** Whom Slack knows. Each rejects with OpsError where Slack does not tell. */
export interface SlackAccounts {
  /** Of a user group, by its handle or id. */
  groupId(group: string): Promise<string>;
  /** Null: nobody has this address. */
  userByEmail(email: string): Promise<string | null>;
  /** What somebody is called; the id itself where Slack does not tell. */
  name(userId: string): Promise<string>;
}
