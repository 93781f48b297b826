import type { Severity } from './alert.ts';
import type { ToolCallId } from './ids.ts';
import type { PlanStep, VerifyPlan } from './tool-call.ts';
import type { UnreadCall } from './unread.ts';
import type { JudgedChange } from './what-changed.ts';

export interface Triage {
  readonly severity: Severity;
  /** Snake-case name of the kind of problem (`blocked_sessions`); null when unknown. */
  readonly incidentType: string | null;
  /** A known problem: low effort is enough. */
  readonly routine: boolean;
  /** A false positive: nothing to investigate. */
  readonly ignore: boolean;
  readonly reason: string;
}

/** A claim and the tool calls of this incident that show it. `quote` stands literally in one of their outputs. */
export interface Evidence {
  readonly claim: string;
  readonly toolCallIds: readonly ToolCallId[];
  readonly quote: string | null;
}

/** Which side of it is healthy the measure knows. */
export interface AskedBound {
  readonly value: number;
  readonly unit: string;
}

/** One for each line that is quoted: claims that the same line shows stand together above it. */
export function byQuote(evidence: readonly Evidence[]): readonly Evidence[] {
  const keyOf = ({ toolCallIds, quote }: Evidence): string => `${toolCallIds[0]} ${quote}`;
  return evidence.flatMap((each) => {
    if (each.quote === null) return [each];
    const same = evidence.filter((other) => other.quote !== null && keyOf(other) === keyOf(each));
    if (same[0] !== each) return [];
    return [{ ...each, claim: [...new Set(same.map(({ claim }) => claim))].join(' ') }];
  });
}

/** Another explanation of the same symptom, and what became of it. */
export interface Hypothesis {
  readonly cause: string;
  /** Calls of this incident that speak for it, and against it. */
  readonly forIds: readonly ToolCallId[];
  readonly againstIds: readonly ToolCallId[];
  readonly end: 'ruled_in' | 'ruled_out' | 'open';
}

/** A runbook's live check that says otherwise than the model, also after one more look: both are shown. */
export interface Disagreement {
  readonly runbook: Side;
  readonly model: Side;
}

export interface Side {
  readonly verdict: Diagnosis['verdict'];
  readonly says: string;
  readonly confidence: number;
  readonly evidence: readonly Evidence[];
}

/** What a second, independent look at the claims of a model came to. Null `reason`: it was made. */
export interface DoubleCheck {
  readonly cause: 'supported' | 'not_supported' | 'contradicted' | null;
  /** How many claims it dropped. */
  readonly dropped: number;
  /** Why it was not made, for people. */
  readonly reason: string | null;
}

export interface Diagnosis {
  /** Whose words these are; absent in old records. Set by code. */
  readonly origin?: 'model' | 'runbook';
  readonly verdict: 'cause_found' | 'healthy' | 'cannot_tell';
  readonly rootCause: string;
  /** What of the why was looked for and not found (`why shop-worker stopped`): `rootCause` then says only what is wrong. */
  readonly unexplained?: string;
  /** Snake-case kind of cause (`blocked_sessions`); null when none was found. */
  readonly category: string | null;
  /** 0–1. At least 0.9 and a live tool call are needed before a fix is planned. */
  readonly confidence: number;
  /** 0–1: that the remedy ends it. Absent: the same as the cause. What is acted on needs both. */
  readonly fixConfidence?: number;
  readonly evidence: readonly Evidence[];
  /** At least two where somebody weighed them: the cause among them, and what else could look the same. */
  readonly hypotheses?: readonly Hypothesis[];
  /** When it began, ISO 8601, as far as could be seen. */
  readonly onset?: string;
  /** From what started it to the symptom, a link each. */
  readonly chain?: readonly string[];
  /** Whether the symptom was there in this round, and the call that shows it. */
  readonly symptomNow?: {
    readonly present: boolean;
    readonly toolCallId: ToolCallId;
    /** A stricter bound for what that call reads; one that is not stricter is ignored, and that is on record. */
    readonly bound?: AskedBound;
  };
  readonly disagreement?: Disagreement;
  readonly doubleCheck?: DoubleCheck;
  /** What was changed before it began, and what part that has. One `cause` at most, and only where nothing else is as likely. */
  readonly changes?: readonly JudgedChange[];
  readonly ruledOut: readonly string[];
  /** What could not be read, and how to grant it. */
  readonly unknown: readonly string[];
  /** Those of its calls that the investigator says it misses; held against the record like evidence. */
  readonly missed?: readonly ToolCallId[];
  /** Found in the record by code; an investigator's own are not believed. */
  readonly unread?: readonly UnreadCall[];
  readonly wouldChangeMyMind: string | null;
  readonly blastRadius: string | null;
  /** In words; the action itself is the surgeon's. */
  readonly remedy: string | null;
  readonly runbookId: string | null;
  /** By code: how it will be known that the problem is over, from a cited read of this round that is red. */
  readonly criterion?: VerifyPlan;
  /** Exact calls that would remedy the cause, best first: the surgeon role cannot read, so what was read travels here. */
  readonly suggested?: readonly SuggestedAction[];
  /** From a runbook: exact calls that keep it from coming back, best first; asked for once it is fixed. */
  readonly prevent?: readonly Prevention[];
}

/** One act, or with `andThen` the first of several; what it is judged by is the tools' own effect. */
export interface Prevention extends PlanStep {
  readonly andThen?: readonly PlanStep[];
}

/** One act, or with `andThen` the first of several that only help together. */
export interface SuggestedAction extends Prevention {
  /** Null takes the tool's own. */
  readonly verify: VerifyPlan | null;
}

/** What a diagnosis comes to, for people. Where the why is not known no cause is claimed, however sure the rest is. */
export function describeVerdict({
  verdict,
  unexplained,
}: Pick<Diagnosis, 'verdict' | 'unexplained'>): string {
  if (verdict === 'healthy') return 'Nothing wrong was seen';
  if (verdict === 'cannot_tell') return 'The cause cannot be told';
  return unexplained === undefined ? 'Cause found' : 'What is wrong is clear; why is not';
}

/** What acting on it rests on: the lower of being sure of the cause and of the fix. */
export function actingConfidence({ confidence, fixConfidence }: Diagnosis): number {
  return Math.min(confidence, fixConfidence ?? confidence);
}

/** Below this a diagnosis is a report, not a reason to act (design.md §2). */
export const MUTATION_CONFIDENCE = 0.9;
/** What memory alone can be worth at most (design.md §1, promise 5). */
export const MEMORY_ONLY_CONFIDENCE = 0.5;
