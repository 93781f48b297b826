import type { Domain } from '../core/incident.ts';
import type { Json } from '../core/tool-call.ts';

/**
 * A curated procedure, read from one Markdown file. Strings marked *template* may hold `${CEL}`; *CEL* ones are an
 * expression over earlier steps' results by their ids, `result` (this step's), `incident` and `let` values.
 * The format for people who write them: docs/runbooks.md.
 */
export interface Runbook {
  /** Kebab-case, unique among all runbooks. */
  readonly id: string;
  readonly title: string;
  /** An incident only sees runbooks of its own. */
  readonly domains: readonly Domain[];
  readonly version: number;
  /** Snake-case kind of incident it is for (`blocked_sessions`). */
  readonly type: string;
  readonly matches: RunbookMatches;
  /** What must be read true before it may name a cause. Left out: it names none, and calls nothing healthy. */
  readonly requires?: RunbookRequirement | undefined;
  /** Triage may call the alert a false positive when all steps say healthy. */
  readonly ignoreWhenHealthy: boolean;
  /** What its steps show needs no model to check it. */
  readonly conclusive?: boolean;
  readonly steps: readonly RunbookStep[];
  /** By name; a proposal names one. */
  readonly verify: Readonly<Record<string, RunbookVerify>>;
  /** The Markdown below the front matter, whole. */
  readonly body: string;
  /** As given to the parser, for problems and people. */
  readonly file: string;
}

export interface RunbookMatches {
  /** Alert rules' names; `*` stands for any characters; case does not count. */
  readonly alerts: readonly string[];
  /** Phrases that stand in such alerts' titles and descriptions. */
  readonly text: readonly string[];
  /** Labels that speak for it, each by a value or a pattern with `*`. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The symptom it is about: not that an alert says so, but that the live system shows it. */
export interface RunbookRequirement {
  /** The step that reads it; until it was read, nothing is healthy either. */
  readonly step: string;
  /** CEL over that step's result: the symptom is there. */
  readonly when: string;
  /** Which side of its measure is the bad one; `present`: the thing itself is (a deadlock, a blocked session). */
  readonly bad: 'high' | 'low' | 'present';
  /**
   * The measure of that step's tool by which one look tells that it is over. Left out: that `when` does not hold. Null: no one
   * look tells it (what is only counted up).
   */
  readonly measure?: string | null | undefined;
  /** Another bound than the measure's own. */
  readonly bound?: number | undefined;
  /** Nouns that turn the side round: a cache *miss* is high when the hit ratio is low. */
  readonly inverse: readonly string[];
  /** Words of alerts about the opposite, beyond those that every alert may use (*recovered*, *cleared*). */
  readonly opposite: readonly string[];
}

/** One read-only look at the live system, and what to make of it. */
export interface RunbookStep {
  readonly id: string;
  readonly call: string;
  /** It reads the one neighbour of this kind; the incident's own target when left out. */
  readonly neighbour?: string | undefined;
  /** Templates inside. */
  readonly with: Json;
  /** For the thread, while it is called. */
  readonly why: string;
  /** Ms to wait before it is called: a second look tells what lasts from what passes. */
  readonly waitMs: number;
  /** Its failure bars neither a conclusion nor *healthy* (an extension that may be absent). */
  readonly optional: boolean;
  /** All are tried in order; one that concludes or goes elsewhere ends the step. */
  readonly checks: readonly RunbookCheck[];
}

export interface RunbookCheck {
  /** CEL; absent: always. */
  readonly when?: string | undefined;
  /** CEL by name; visible from here on. */
  readonly let?: Readonly<Record<string, string>> | undefined;
  readonly claims: readonly RunbookClaim[];
  /** Template: what this shows not to be the cause. */
  readonly rulesOut?: string | undefined;
  readonly turn?: RunbookTurn | undefined;
}

export interface RunbookClaim {
  /** Template. */
  readonly says: string;
  /** Templates: the first line of the output that holds all of them is quoted. */
  readonly quote: readonly string[];
  /** Whose output is quoted: a step's id. */
  readonly from: string;
}

export type RunbookTurn =
  | { readonly kind: 'go'; readonly step: string }
  /** Another runbook goes on; the verify block of this one is added to what it proposes, and `says` stands before its cause. */
  | {
      readonly kind: 'use';
      readonly runbook: string;
      readonly alsoVerify: string | null;
      /** Template: what the alert is about, as it was read here. */
      readonly says?: string | undefined;
    }
  | { readonly kind: 'healthy'; readonly says: string }
  | {
      readonly kind: 'cannot_tell';
      readonly says: string;
      readonly next?: string | undefined;
      /** What was looked at has gone while others like it may be there: worth one more look from the beginning. */
      readonly lookAgain?: boolean;
    }
  | { readonly kind: 'conclude'; readonly conclusion: RunbookConclusion };

/** All texts are templates. */
export interface RunbookConclusion {
  readonly cause: string;
  /** What of the why stays open: the conclusion says what is wrong and claims no cause. */
  readonly unexplained?: string | undefined;
  readonly category: string;
  readonly confidence: number;
  readonly blastRadius?: string | undefined;
  readonly remedy?: string | undefined;
  readonly ruledOut: readonly string[];
  readonly wouldChangeMyMind?: string | undefined;
  /** In order of preference; the first that was not tried in this incident is proposed. */
  readonly propose: readonly RunbookProposal[];
  /** What keeps it from coming back, in order of preference: asked for once it is fixed. */
  readonly prevent?: readonly RunbookPlan[];
}

/** What is approved as one: a single act, or several that only help together, in the order in which they run. */
export interface RunbookPlan {
  readonly steps: readonly [RunbookAct, ...RunbookAct[]];
  /** CEL; absent: always. */
  readonly when?: string | undefined;
}

export interface RunbookProposal extends RunbookPlan {
  /** A verify block's name, for all of it; null takes the tool's own. */
  readonly verify: string | null;
}

export interface RunbookAct {
  readonly tool: string;
  /** Templates inside. */
  readonly with: Json;
  /** Template. */
  readonly why: string;
}

export interface RunbookVerify {
  readonly holdMs: number;
  readonly timeoutMs: number;
  readonly steps: readonly RunbookVerifyStep[];
}

export interface RunbookVerifyStep {
  readonly call: string;
  /** Templates inside, filled when the action is proposed. */
  readonly with: Json;
  /** One of the tool's measures: the symptom. Absent beside `holds`. */
  readonly measure?: string | undefined;
  /** Another bound than the measure's own. */
  readonly bound?: number | undefined;
  /** CEL over `result`, with templates filled when the action is proposed. */
  readonly holds?: string | undefined;
  /** Template. */
  readonly says: string;
}

/** Something wrong in a runbook file, in the words of whoever has to repair it. Lines and columns count from 1. */
export interface RunbookProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}
