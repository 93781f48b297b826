import type { Severity } from './alert.ts';
import type { GatheredPart } from './context.ts';
import type { Diagnosis, Triage } from './diagnosis.ts';
import type { Effort } from './effort.ts';
import type { GradeQuestion } from './grade.ts';
import type { ActionId, IncidentId, ToolCallId } from './ids.ts';
import type { IncidentState, Role, Verdict } from './incident.ts';
import type { HeldBack, ShownMemory } from './memory.ts';
import type { MergeEventBody } from './merge.ts';
import type { UnreadCall } from './unread.ts';
import type { ChangesLooked } from './what-changed.ts';

/** What happened in an incident, append-only; everything Slack shows and `why` tells is drawn from these and the rows they name. */
export type IncidentEventBody =
  | { readonly type: 'incident.opened'; readonly source: string; readonly title: string }
  | {
      readonly type: 'alert.repeated';
      readonly source: string;
      readonly occurrences: number;
      /** Of another alert of the same group: how many there are with it. */
      readonly members?: number;
      /** The end of this occurrence was known before: it changes nothing. */
      readonly over?: boolean;
      /** It fired again after its end. */
      readonly again?: boolean;
    }
  /** It comes and goes: when it fired again, ISO 8601, oldest first. */
  | { readonly type: 'alert.flapping'; readonly flips: readonly string[] }
  | { readonly type: 'alert.resolved'; readonly source: string }
  /** What was changed around it, as far as it is told; once a round. */
  | ({ readonly type: 'changes.looked'; readonly round: number } & ChangesLooked)
  /** A change of the very thing that it is about was told while it was open. */
  | {
      readonly type: 'change.told';
      readonly source: string;
      readonly change: string;
      readonly title: string;
    }
  /**
   * Looked once more whether it is still so, because something was told. `after`: what; `seen`: how the problem was read; `withdrew`: what
   * waited for approval is asked for no more; `again`: the cause is looked for again.
   */
  | {
      readonly type: 'incident.looked';
      readonly round: number;
      readonly outcome: 'same' | 'changed' | 'could_not_look';
      readonly after: string;
      readonly says: string;
      readonly seen: 'red' | 'green' | null;
      readonly differences: readonly string[];
      readonly withdrew: boolean;
      readonly again: boolean;
    }
  /** What was gathered around it; told again in the same round when a late part has answered. */
  | { readonly type: 'context.gathered'; readonly round: number; readonly parts: readonly GatheredPart[] }
  | {
      readonly type: 'state.changed';
      readonly from: IncidentState;
      readonly to: IncidentState;
      readonly reason: string;
    }
  | {
      readonly type: 'memory.recalled';
      readonly when: 'start' | 'triaged';
      readonly incidents: readonly SeenBefore[];
      readonly runbooks: readonly string[];
      readonly worked: readonly string[];
      readonly failed: readonly string[];
      /** Absent: nothing that is similar was kept back. */
      readonly heldBack?: HeldBack;
      readonly missing: string | null;
    }
  /** What memory put into a turn of a model; `documents` may be empty. */
  | {
      readonly type: 'memory.context.loaded';
      readonly role: Role;
      readonly turn: number;
      readonly documents: readonly LoadedMemory[];
      readonly tokens: number;
      readonly missing: string | null;
    }
  | {
      readonly type: 'investigator.chosen';
      readonly investigator: 'claude' | 'playbook';
      readonly why: string;
      /** The model's id. */
      readonly model?: string;
      /** Which prompts were in force: a digest of their words. */
      readonly prompts?: string;
    }
  /** The model failed or is absent: the playbook goes on. */
  | { readonly type: 'investigator.fallback'; readonly reason: string }
  | {
      readonly type: 'tool.called';
      readonly toolCallId: ToolCallId;
      readonly role: Role;
      readonly tool: string;
      readonly purpose: string | null;
      readonly state: 'ok' | 'failed' | 'refused' | 'proposed';
      readonly summary: string;
    }
  /** `by`: whose words its reason is; absent in old records. */
  | { readonly type: 'triage.concluded'; readonly triage: Triage; readonly by?: 'claude' | 'playbook' }
  | { readonly type: 'diagnosis.concluded'; readonly round: number; readonly diagnosis: Diagnosis }
  /** A claim whose evidence did not hold: dropped, and the confidence cut. */
  | { readonly type: 'claim.dropped'; readonly claim: string; readonly reason: string }
  /**
   * `said`: what a model gave as its reason, in its words. `asksAgainAt`: when the limit is over that was the reason. `severity`:
   * how bad it was then; absent on older records.
   */
  | {
      readonly type: 'plan.none';
      readonly reason: string;
      readonly said?: string;
      readonly asksAgainAt?: string;
      readonly severity?: Severity;
    }
  | { readonly type: 'action.proposed'; readonly actionId: ActionId }
  | { readonly type: 'action.approved'; readonly actionId: ActionId; readonly by: string }
  /** Approved by one of the several who have to. */
  | {
      readonly type: 'action.seconded';
      readonly actionId: ActionId;
      readonly by: string;
      readonly count: number;
      readonly needed: number;
    }
  | {
      readonly type: 'action.denied';
      readonly actionId: ActionId;
      readonly by: string;
      readonly reason: string;
      readonly anotherWay: boolean;
    }
  /** A No that was said here no longer stands. */
  | {
      readonly type: 'denial.taken_back';
      readonly actionId: ActionId;
      readonly denialId: string;
      readonly by: string;
    }
  /** A person who may approve has what was denied asked again, as it is now. */
  | { readonly type: 'action.asked_again'; readonly actionId: ActionId; readonly by: string }
  /** A person has this asked for with other arguments: it is void, and a plan of its own stands in its place. */
  | { readonly type: 'action.edited'; readonly actionId: ActionId; readonly by: string }
  /** Others that are open on the same physical system: when this one began, or (`began`) that began since. */
  | {
      readonly type: 'incident.related';
      readonly incidents: readonly IncidentId[];
      readonly began: 'before' | 'since';
    }
  | { readonly type: 'action.expired'; readonly actionId: ActionId }
  /** The state moved, or the plan no longer is what was approved: nothing ran. */
  | { readonly type: 'action.void'; readonly actionId: ActionId; readonly reason: string }
  | { readonly type: 'action.started'; readonly actionId: ActionId }
  | {
      readonly type: 'action.finished';
      readonly actionId: ActionId;
      readonly outcome: 'succeeded' | 'failed' | 'unknown';
      readonly text: string;
    }
  /** Whether a lasting fix that ran is seen to be done, by the first step of its plan; null: it could not be read. */
  | {
      readonly type: 'action.checked';
      readonly actionId: ActionId;
      readonly seen: boolean | null;
      readonly text: string;
    }
  | {
      readonly type: 'verification.checked';
      readonly round: number;
      readonly holds: boolean | null;
      readonly lines: readonly string[];
    }
  | {
      readonly type: 'verification.concluded';
      readonly round: number;
      readonly verdict: Verdict;
      readonly reason: string;
    }
  | { readonly type: 'incident.escalated'; readonly reason: string }
  /**
   * People were called: mentioned in the thread, and by `pagers`. Level 0: whoever has it. `mentions`: Slack ids, of configuration or
   * looked up; `names`: who is on call and has no account there. `problem`: what kept it from being as configured.
   */
  | {
      readonly type: 'person.called';
      readonly level: number;
      readonly reason: CallReason;
      readonly mentions: readonly string[];
      readonly names: readonly string[];
      /** Handles of groups that Slack did not tell then; whoever draws the call asks again. */
      readonly groups?: readonly string[];
      readonly pagers: readonly string[];
      readonly problem: string | null;
    }
  /** Somebody would be called now, but for quiet hours, which end then. */
  | { readonly type: 'call.waits'; readonly until: string }
  /** A page does not arrive; it is tried on. */
  | {
      readonly type: 'page.failed';
      readonly level: number;
      readonly pager: string;
      readonly reason: string;
    }
  /** `by`: a Slack id; of a page that was answered at its service, a person's name. */
  | {
      readonly type: 'incident.acknowledged';
      readonly by: string;
      readonly how: AcknowledgedHow;
      /** The pager, where it was there. */
      readonly pager?: string;
      /** Who gave it to them; absent: they took it. */
      readonly assignedBy?: string;
    }
  | { readonly type: 'incident.released'; readonly by: string }
  /** At the paging service it was given to somebody else. */
  | {
      readonly type: 'page.reassigned';
      readonly to: string;
      readonly by: string | null;
      readonly pager: string;
    }
  | { readonly type: 'hint.given'; readonly by: string; readonly text: string }
  | { readonly type: 'question.asked'; readonly by: string; readonly text: string }
  /** A person has a read made again that showed nothing or only a part; `readHash` says exactly which. */
  | {
      readonly type: 'read.asked';
      readonly by: string;
      readonly toolCallId: ToolCallId;
      readonly readHash: string;
      readonly tool: string;
      readonly way: UnreadCall['way'];
    }
  /** A person has it investigated again. */
  | { readonly type: 'investigation.asked'; readonly by: string }
  /** An earlier incident of the same alert. `fixedBy`: what was done, where that helped; `failed`: what was seen not to. */
  | {
      readonly type: 'incident.last_time';
      readonly earlier: IncidentId;
      readonly endedAt: string;
      readonly ended: 'ignored' | 'confirmed' | 'source' | 'person' | 'silence';
      readonly fixedBy: string | null;
      readonly failed?: string;
      /** What ran last and was undone, or may have been: it is no help. */
      readonly undone?: { readonly act: string; readonly says: string; readonly by: string | null };
      /** Which time it is within 24 hours, from 2; absent where it is the first. */
      readonly times?: number;
    }
  /** How that went: `toolCallId` is the new call, null when it could not be tried at all. */
  | {
      readonly type: 'read.finished';
      readonly by: string;
      readonly of: ToolCallId;
      readonly toolCallId: ToolCallId | null;
      readonly tool: string;
      readonly readable: boolean;
      readonly reason: string;
    }
  /** The safety scanner kept a text out of memory: kinds only, never the text. The work goes on. */
  | {
      readonly type: 'memory.write.blocked';
      readonly store: string;
      readonly path: string;
      readonly findings: readonly { readonly rule: string; readonly category: string }[];
    }
  | {
      readonly type: 'memory.policy.denied';
      readonly store: string;
      readonly docType: string;
      readonly reason: string;
    }
  | {
      readonly type: 'memory.promotion.proposed';
      readonly jobId: string;
      readonly documentId: string;
      readonly path: string;
      readonly domain: string;
      readonly rationale: string;
      readonly by: string;
    }
  | {
      readonly type: 'memory.promotion.decided';
      readonly jobId: string;
      readonly path: string;
      readonly decision: 'approved' | 'rejected';
      readonly by: string;
      readonly reason: string;
    }
  /** `severity`: how bad it was then; absent on older records. */
  | {
      readonly type: 'incident.stopped';
      readonly by: string;
      readonly reason: string;
      readonly severity?: Severity;
    }
  | { readonly type: 'incident.resumed'; readonly by: string }
  /** A person says that it is over. `severity`: how bad it was then; absent on older records. */
  | {
      readonly type: 'incident.closed';
      readonly by: string;
      readonly reason: string;
      readonly severity?: Severity;
    }
  /** A person says how bad it is. */
  | {
      readonly type: 'severity.changed';
      readonly from: Severity;
      readonly to: Severity;
      readonly by: string;
    }
  /** It waits for the end of a mute; its alerts count there. */
  | {
      readonly type: 'incident.muted';
      readonly mute: string;
      readonly by: string;
      readonly matcher: string;
      readonly reason: string;
      readonly until: string;
    }
  | { readonly type: 'incident.unmuted'; readonly mute: string }
  | MergeEventBody
  /** How much is done about it: by a rule of the policy, else by a person, else because an alert joined that asks for it. */
  | {
      readonly type: 'effort.chosen';
      readonly effort: Effort;
      readonly rule: string | null;
      readonly by?: string;
    }
  /** Data that the model was to read holds what reads like instructions to it: where, and which kinds, never the text. */
  | {
      readonly type: 'injection.found';
      readonly role: Role;
      readonly where: string;
      readonly kinds: readonly string[];
      /** Kept from the model, not only marked. */
      readonly blocked: boolean;
    }
  /** The human switch was set for what this incident is about; `scope` as in the switch. `until` null: until somebody resumes. */
  | {
      readonly type: 'switch.set';
      readonly scope: string;
      readonly by: string;
      readonly reason: string;
      readonly until: string | null;
    }
  | { readonly type: 'switch.cleared'; readonly scope: string; readonly by: string; readonly reason: string }
  /** The record was put back to what it was then: what Slack shows of later is not on record. */
  | { readonly type: 'record.restored'; readonly madeAt: string }
  | { readonly type: 'incident.summary'; readonly text: string }
  /** A person has a post-incident report made; said before anything is sent, so that it is made once. */
  | { readonly type: 'report.asked'; readonly by: string }
  | {
      readonly type: 'report.made';
      readonly by: string;
      readonly place: 'canvas' | 'file' | 'thread';
      /** Where it stands in Slack. */
      readonly url: string;
    }
  /** A person's answer, asked for when it was resolved; a later one of the same person takes its place. */
  | {
      readonly type: 'grade.given';
      readonly question: GradeQuestion;
      readonly by: string;
      readonly answer: boolean;
    };

/** Why somebody is called. */
export type CallReason = 'unsolved' | 'unacknowledged' | 'approval_expiry' | 'failed_verification';

/** `taken`: they said that they have it. `acted`: they decided or wrote something. `there`: at the paging service. */
export type AcknowledgedHow = 'taken' | 'acted' | 'there';

export interface SeenBefore {
  readonly incidentId: IncidentId;
  readonly title: string;
  readonly distance: number;
  /** How many incidents it stands for, and how they ended; absent on older records: one. */
  readonly times?: number;
  readonly ended?: string;
}

/** A memory that a model was shown: where it is, never what it says. */
export type LoadedMemory = Pick<
  ShownMemory,
  'id' | 'store' | 'path' | 'version' | 'trust' | 'trusted' | 'tokens'
>;

export type IncidentEvent = IncidentEventBody & {
  /** Grows within the deployment; the order of the record. */
  readonly seq: number;
  readonly incidentId: IncidentId;
  /** ISO 8601, the database's clock. */
  readonly at: string;
};
