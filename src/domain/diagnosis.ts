import type { Severity } from './alert.ts';
import type { ToolCallId } from './ids.ts';
import type { Json, VerifyPlan } from './tool-call.ts';
import type { UnreadCall } from './unread.ts';

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

export interface Diagnosis {
  readonly verdict: 'cause_found' | 'healthy' | 'cannot_tell';
  readonly rootCause: string;
  /** Snake-case kind of cause (`blocked_sessions`); null when none was found. */
  readonly category: string | null;
  /** 0–1. At least 0.9 and a live tool call are needed before a fix is planned. */
  readonly confidence: number;
  readonly evidence: readonly Evidence[];
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
  /** Which cited call and measure the investigator holds for the symptom; held against the record before it counts. */
  readonly symptom?: { readonly toolCallId: ToolCallId; readonly measure: string; readonly bound?: number };
  /** Exact calls that would remedy the cause, best first: the surgeon role cannot read, so what was read travels here. */
  readonly suggested?: readonly SuggestedAction[];
}

export interface SuggestedAction {
  /** An active tool. */
  readonly tool: string;
  readonly input: Json;
  readonly why: string;
  /** Null takes the tool's own. */
  readonly verify: VerifyPlan | null;
}

/** Below this a diagnosis is a report, not a reason to act (design.md §2). */
export const MUTATION_CONFIDENCE = 0.9;
/** What memory alone can be worth at most (design.md §1, promise 5). */
export const MEMORY_ONLY_CONFIDENCE = 0.5;
