import type { ActionId, IncidentId, ToolCallId } from './ids.ts';
import type { Role } from './incident.ts';
import type { MeasureBound } from './measure.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** One use of a tool by a role, as stored: the only kind of evidence. */
export interface ToolCall {
  readonly id: ToolCallId;
  readonly incidentId: IncidentId;
  readonly role: Role;
  readonly tool: string;
  readonly target: string | null;
  readonly input: Json;
  readonly state: 'ok' | 'failed' | 'refused' | 'proposed';
  /** Redacted; capped at the gate's output limit, then `truncated` is true. */
  readonly output: string;
  /** Machine-readable form of the output, for test expressions. */
  readonly result: Json;
  /** Of the redacted output, hex. */
  readonly outputSha256: string;
  readonly truncated: boolean;
  readonly code: string | null;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly actionId: ActionId | null;
}

/** The neighbour that a call has read; null: it read the incident's own target, or needed none. */
export function neighbourRead(
  call: Pick<ToolCall, 'target'> | undefined,
  incident: { readonly target: string | null },
): string | null {
  return call === undefined || call.target === incident.target ? null : call.target;
}

/** What a caller of the gate gets back: always a value, never an exception. */
export type ToolCallResult =
  | {
      readonly kind: 'ok';
      readonly toolCallId: ToolCallId;
      readonly text: string;
      readonly data: Json;
      readonly truncated: boolean;
    }
  | {
      readonly kind: 'failed' | 'refused';
      readonly toolCallId: ToolCallId;
      readonly code: string;
      readonly reason: string;
    }
  | {
      readonly kind: 'proposed';
      readonly toolCallId: ToolCallId;
      readonly actionId: ActionId;
      readonly text: string;
    };

/** A call as a role asks for it. The role and incident come from the credential, not from here. */
export interface ToolCallRequest {
  readonly tool: string;
  /** A configured target's name; null for tools that have none. */
  readonly target: string | null;
  readonly input: Json;
  /** For active tools: what the proposal should carry beyond the arguments. */
  readonly proposal?: ProposalNotes;
}

export interface ProposalNotes {
  /** Why this fixes the cause, one or two sentences. */
  readonly why: string;
  readonly runbookId: string | null;
  /** How to tell whether the problem is over; null: nothing is read red, so it can only prevent (or is an undo). */
  readonly verify: VerifyPlan | null;
  /** What is to follow the call itself, in this order, each only once the one before it has taken effect: one plan, approved as one. */
  readonly andThen?: readonly PlanStep[];
}

/** A later step of a plan, on the same target as the first. */
export interface PlanStep {
  readonly tool: string;
  readonly input: Json;
  /** Why it belongs to the plan, a sentence. */
  readonly why: string;
}

/**
 * Re-reads the live system: red before an action, over when every step holds for `holdMs` without a break. With a measure
 * among its steps it is a recovery criterion; without one it only shows that a change took effect.
 */
export interface VerifyPlan {
  readonly steps: readonly VerifyStep[];
  readonly holdMs: number;
  /** Give up as *not fixed* after this long. */
  readonly timeoutMs: number;
  /**
   * By target, the physical system that it stood for: what another one of that name shows is never judged. Left out for
   * what nobody could tell, and in plans of before it was kept.
   */
  readonly systems?: Readonly<Record<string, string>>;
}

export interface VerifyStep {
  readonly tool: string;
  /** A neighbour of the incident's target; that target itself when left out. */
  readonly target?: string;
  readonly input: Json;
  /** CEL over `result` (the tool's data): true means healthy. From runbooks and tools only, and absent beside a measure. */
  readonly holds?: string;
  /** What else `holds` may name, as it was when it was proposed. */
  readonly given?: { readonly [name: string]: Json };
  /** One of the tool's measures: the symptom that must be red before and green after. */
  readonly measure?: MeasureBound;
  /** About the very thing that is acted on, and red when that was proposed: it must be so right before it runs. */
  readonly own?: true;
  /** What the alert itself is about, whatever a diagnosis blames: while it is not over, nothing is fixed. */
  readonly ofAlert?: true;
  /** It may be about something else than the alert: that it is healthy ends nothing. */
  readonly unsure?: true;
  /** What it means when it holds, for people. */
  readonly says: string;
}

/** Whether it tells that the problem is over, and not only that a change took effect. */
export function isCriterion(plan: VerifyPlan): boolean {
  return plan.steps.some(isSymptom);
}

/** Whether a step tells of a problem, and not only that something was done. */
export function isSymptom({ measure, ofAlert }: Pick<VerifyStep, 'measure' | 'ofAlert'>): boolean {
  return measure !== undefined || ofAlert === true;
}

/** Sentry's own memory, as opposed to a look at a live system; by name, as events have it. */
export function isMemoryToolName(tool: string): boolean {
  return tool.startsWith('memory_') || tool === 'load_toolset';
}

/** What these show was shown by another call of the incident, which they name: evidence is looked for there. */
export function isEvidenceToolName(tool: string): boolean {
  return tool === 'evidence_read' || tool === 'evidence_grep';
}

/** What was changed, and in which code: evidence of a suspect, and no look at a live system. */
export function isChangesToolName(tool: string): boolean {
  return tool === 'what_changed' || tool.startsWith('code_');
}
