import type { Action } from '../core/action.ts';
import type { GatheredPart } from '../core/context.ts';
import type { Diagnosis, Triage } from '../core/diagnosis.ts';
import type { ActionId } from '../core/ids.ts';
import type { Incident, Verdict } from '../core/incident.ts';
import type { PreparedMemory, Recall } from '../core/memory.ts';
import type { ModelUsage } from '../core/model-usage.ts';
import type { FirstLook, Target } from '../core/target.ts';
import type { ToolCall, ToolCallRequest, ToolCallResult } from '../core/tool-call.ts';
import type { ChangesLooked } from '../core/what-changed.ts';

/** Who works an incident's phases. Two stand behind this: the playbook (deterministic) and Claude. */
export interface Investigator {
  readonly name: 'playbook' | 'claude';
  /** What a model-driven one works with, for the record. */
  readonly version?: { readonly model: string; readonly prompts: string };
  triage(work: Investigation): Promise<Triage>;
  diagnose(work: Investigation, triage: Triage): Promise<Diagnosis>;
  /** Proposes at most one action, by calling an active tool through the gate. */
  plan(work: Investigation, diagnosis: Diagnosis): Promise<PlanOutcome>;
  /**
   * A second, independent look at what a diagnosis claims and what it cites: each claim by its number, and the cause. Null
   * where there is none to be had by configuration. Never throws but when aborted: what fails is a reason.
   */
  doubt?(work: Investigation, diagnosis: Diagnosis): Promise<Doubt | null>;
  /**
   * Whether what was told since, and what the same reads show differently, takes a diagnosis back. Null: it could not be asked. Absent where
   * there is no model.
   */
  stillSo?(work: StillWork, asked: StillAsked): Promise<StillSaid | null>;
  /** Answers a person in the thread; reads only. Absent where there is no model: then the record answers. */
  answer?(work: Investigation, question: Question): Promise<string>;
}

/** A question of one call without tools: no more of an investigation is needed. */
export type StillWork = Pick<Investigation, 'incident' | 'durably' | 'signal' | 'spent'>;

export interface StillAsked {
  readonly cause: string;
  /** What people said and what was changed since, a line each. */
  readonly told: readonly string[];
  readonly differences: readonly string[];
}

/** `why`: in the words of whoever was asked. */
export interface StillSaid {
  readonly verdict: 'stands' | 'falls' | 'cannot_tell';
  readonly why: string;
}

export interface Question {
  readonly by: string;
  readonly text: string;
  /** The incident's story by the record, in plain lines. */
  readonly story: string;
  /** What was asked and answered before in the same conversation, oldest first. */
  readonly earlier?: readonly { readonly question: string; readonly answer: string }[];
}

export type Support = 'supported' | 'not_supported' | 'contradicted';

export type Doubt =
  | { readonly kind: 'checked'; readonly claims: readonly Support[]; readonly cause: Support }
  | { readonly kind: 'not_checked'; readonly reason: string };

/** `reason` is ours; what a model says about it are its own words, and shown as such. */
export type PlanOutcome =
  | { readonly kind: 'proposed'; readonly actionId: ActionId }
  | { readonly kind: 'none'; readonly reason: string; readonly said?: string };

/** One phase of one incident, with all an investigator may use. It never sees addresses, credentials, channels or other incidents. */
export interface Investigation {
  readonly incident: Incident;
  /** When the problem began, as the alert itself says (ISO 8601); null or absent where it does not. */
  readonly alertStartedAt?: string | null;
  /** The alerts of its group; empty where it is one. */
  readonly members?: readonly string[];
  /** Alerts of other systems that are taken for a part of the same problem; none when left out. */
  readonly parts?: readonly string[];
  readonly recall: Recall;
  /** What was changed around it. Null: nobody could be asked; absent where nobody can (replays). */
  readonly changes?: ChangesLooked | null;
  /** What was gathered around it when the look for the cause began. Absent where nobody gathers. */
  readonly gathered?: readonly GatheredPart[];
  /** What was run in this incident, oldest first, with how each ended. What people denied is not among it: it was never tried. */
  readonly tried: readonly TriedAction[];
  /** What people said No to in this incident, oldest first. Absent where nobody can (replays). */
  readonly denied?: readonly Action[];
  /** What people said (hints, denial reasons), oldest first; data from people, not instructions from us. */
  readonly guidance: readonly Guidance[];
  /** At full effort several look side by side. Absent in a turn that a version without them began: it goes on as it was. */
  readonly sideBySide?: boolean;
  /** A person had something read that could not be read before: that is why this round is. Absent in every other round. */
  readonly retriedRead?: RetriedRead;
  /**
   * The phase's role calls a tool through the gate. Must be the only way to a tool. Never throws: a refusal or failure is a value.
   * `purpose` says in a few words, for the thread, why it is called. Ends with `signal` as well, where whoever calls has less time than
   * the phase.
   */
  callTool(request: ToolCallRequest, purpose?: string, signal?: AbortSignal): Promise<ToolCallResult>;
  /**
   * The same calls by a credential that is good for these tools alone: the gate refuses every other, whatever was offered.
   * Absent where no gate gives any out (replays).
   */
  only?(tools: readonly string[]): Pick<Investigation, 'callTool' | 'leaveOut'>;
  /** What to look at first on the target when no runbook fits; none without a target. */
  readonly looks: readonly FirstLook[];
  /** What else may be read, beside the incident's target. Absent where nothing can (replays). */
  readonly neighbours?: readonly Pick<Target, 'name' | 'kind'>[];
  /** Records a call that was asked for and is not run, and why; nothing is read. */
  leaveOut(request: ToolCallRequest, purpose: string | undefined, why: string): Promise<void>;
  /**
   * The role's current words, whole so far (not a delta), shown in the live message; the last call of a phase wins.
   * Without a `kind` they are whole.
   */
  say(words: string, kind?: WordsKind): void;
  /** Withdraws what `say` has shown, e.g. before a retry. */
  unsay(): void;
  /**
   * Runs `fn` as a durable step: after a crash its recorded result is returned and `fn` is not run again.
   * `name` must be the same on every run of the same phase. The result must survive JSON.
   */
  durably<T>(name: string, fn: () => Promise<T>): Promise<T>;
  /**
   * What memory has for a new user turn of this role, recorded durably and on record as shown: after a crash the same
   * words come back. `turn` counts from 1 in the role's history; `text` is what the turn says beyond the alert; `shown` are
   * the memories that stand in the history. Null when memory is off. Never throws but when aborted.
   */
  memoryFor(turn: number, text: string, shown: readonly string[]): Promise<PreparedMemory | null>;
  /** What people have said since this role began, and after the event `seq`; 0 for all of it. */
  hintsSince(seq: number): Promise<readonly Heard[]>;
  /** Records that another model goes on, and why. */
  modelChanged(model: string, why: string): Promise<void>;
  /** What of a diagnosis does not stand on the record, in words for whoever made it; null: nothing that would void it. */
  objections(diagnosis: Diagnosis): Promise<string | null>;
  /** What the latest reads of this round show beyond its healthy bound, by the tools' own measures, a line each. */
  redNow(): Promise<readonly string[]>;
  /** Records a claim that was dropped because its evidence did not hold. */
  dropped(claim: string, reason: string): Promise<void>;
  /** Records what a model call cost, as the phase's role unless another one is named. */
  spent(usage: ModelUsage, role?: 'sceptic'): Promise<void>;
  readonly signal: AbortSignal;
}

/** Text of a message that is being written; the same whole, once it is finished; or what is thought until text comes. */
export type WordsKind = 'writing' | 'said' | 'thought';

/** `verdict`: what the live system showed afterwards; null where nobody has looked, or it cannot be told whose doing it was. */
export type TriedAction = Action & { readonly verdict?: Verdict | null };

export interface RetriedRead {
  /** The call that worked now. */
  readonly call: Pick<ToolCall, 'id' | 'tool' | 'target' | 'output' | 'startedAt'>;
  /** What was said while it was missing. */
  readonly before: Diagnosis;
}

export interface Guidance {
  readonly by: string;
  readonly text: string;
}

/** What came while it works: a person's hint, or (`by` null) an alert of another system that is taken for a part of the problem. */
export interface Heard {
  readonly seq: number;
  readonly by: string | null;
  readonly text: string;
}

/** Thrown by an investigator that cannot go on (model down, over budget, refused): the playbook takes over and the thread says `reason`. */
export class InvestigatorFailed extends Error {
  readonly reason: string;
  constructor(reason: string, options?: { readonly cause?: unknown }) {
    super(reason, options);
    this.name = 'InvestigatorFailed';
    this.reason = reason;
  }
}
