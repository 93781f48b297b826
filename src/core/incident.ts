import { z } from 'zod';
import type { Severity } from './alert.ts';
import type { Effort } from './effort.ts';
import type { IncidentId } from './ids.ts';

export const incidentStates = [
  'open',
  'triaging',
  'ignored',
  'diagnosing',
  'reported',
  'planning',
  'awaiting_approval',
  'remediating',
  'verifying',
  'resolved',
  'escalated',
  'stopped',
] as const;
export type IncidentState = (typeof incidentStates)[number];

/**
 * Whose memory, runbooks and stops an incident shares. The kinds of system say which there are (`targets/domains.ts`), and
 * whatever enters is held against theirs; what is stored may name one that no kind has any more.
 */
export type Domain = string;
/** Which domain an alert is of, by its labels alone. A configured target's own domain comes before this. */
export type DomainOfLabels = (labels: Readonly<Record<string, string>>) => Domain;
/** What is wrong with a domain that is none of those there are; undefined: nothing. */
export const domainFault = (domain: Domain, known: readonly Domain[]): string | undefined =>
  known.includes(domain) ? undefined : `domain: expected one of ${known.join(', ')}`;
/** A domain as it is written; part of names in the vector database. */
export const DomainName = z
  .string()
  .max(40)
  .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'expected lower-case words joined by "-", like postgres');

/** `mcp`: a client outside of Sentry, which reads and proposes over MCP. */
export const roles = ['supervisor', 'triage', 'detective', 'surgeon', 'validator', 'mcp'] as const;
export type Role = (typeof roles)[number];

/** One problem being worked: one or more alerts, one Slack thread. Times are ISO 8601. */
export interface Incident {
  readonly id: IncidentId;
  readonly state: IncidentState;
  /** Where *Resume* goes back to; set while `stopped`. */
  readonly stoppedFrom: IncidentState | null;
  readonly title: string;
  readonly alertName: string | null;
  readonly severity: Severity;
  readonly domain: Domain;
  /** A configured target's name, or null when the alert names none we know. */
  readonly target: string | null;
  readonly incidentType: string | null;
  readonly routine: boolean | null;
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly occurrences: number;
  /** Alerts of the sender's group on this target, and how many of them fire; 1 where there is no group. */
  readonly members: number;
  readonly membersFiring: number;
  /** 1 for the first diagnosis; verification that says *not fixed* adds one (at most 3). */
  readonly round: number;
  readonly cause: string | null;
  readonly confidence: number | null;
  /** The last verification's word, in the current round. */
  readonly verdict: Verdict | null;
  /** What happens next, or what a person should do, in one sentence. */
  readonly nextStep: string | null;
  /** The current role's words while it works, as streamed so far. */
  readonly words: string | null;
  /** The source says it is over; acted on as soon as nothing is running. */
  readonly sourceResolvedAt: string | null;
  readonly investigator: 'claude' | 'playbook' | null;
  readonly costUsd: number;
  /** Slack user ids of whoever opened, hinted or edited: "no self-approval" means none of them. */
  readonly requesters: readonly string[];
  readonly channel: string | null;
  readonly threadTs: string | null;
  readonly openedAt: string;
  readonly updatedAt: string;
  readonly endedAt: string | null;
  /**
   * On whose word it is over. `confirmed`: Sentry's own check saw the problem gone after a repair, and it stayed so; only
   * this is green. `source`: whoever sent the alert says so. Null while it is not over, and where nobody said so: nothing more was
   * heard of it.
   */
  readonly resolvedBy: 'confirmed' | 'source' | 'person' | null;
  /** Who closed it, where a person did. */
  readonly closedBy: string | null;
  /** `reported` because of a limit: from then on the fix may be done, and Sentry comes back and asks for it again. */
  readonly asksAgainAt: string | null;
  /**
   * Its alert flaps until then at least: it fired again after its end four times within an hour. Nothing is looked into at a flip, and
   * nobody should be called for one. Null: it does not.
   */
  readonly flappingUntil: string | null;
  /** The mute that it waits for, or that hid it to its end; null: none does. */
  readonly mutedBy: string | null;
  /** The incident that leads, while this one is taken for a part of the same problem; null: it is on its own. */
  readonly mergedInto: IncidentId | null;
  /** How much the policy, or then a person, has done about it; null: as usual. */
  readonly effort: Effort | null;
  /** What was found and done in it was deleted for its age; see `record/retention.ts`. */
  readonly detailsDeletedAt: string | null;
}

/** Which incidents; what is left out does not narrow. */
export interface IncidentFilter {
  /** Only those not ended. */
  readonly open?: boolean | undefined;
  readonly state?: IncidentState | undefined;
  readonly severity?: Severity | undefined;
  readonly target?: string | undefined;
  /** Opened at this time or later, ISO 8601. */
  readonly since?: string | undefined;
}

/** `done`: what was asked for took effect; nothing was red, so nothing can be called fixed. */
export type Verdict = 'fixed' | 'done' | 'not_fixed' | 'cannot_tell';
