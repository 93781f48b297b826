import type { z } from 'zod';
import type { ActionOutcome, Risk, Verbs } from '../core/action.ts';
import type { TouchedObject } from '../core/denial.ts';
import type { Refusal } from '../core/errors.ts';
import type { IncidentId, ToolCallId } from '../core/ids.ts';
import type { Domain, Role } from '../core/incident.ts';
import type { Measure } from '../core/measure.ts';
import type { Target } from '../core/target.ts';
import type { Json, VerifyPlan } from '../core/tool-call.ts';
import type { RateLimit } from '../safety/limits/rate-limit.ts';
import type { ChangesPort } from './changes/ports.ts';
import type { EvidencePort } from './evidence/ports.ts';
import type { MemoryToolsPort } from './memory/ports.ts';
import type { Docs } from './ports.ts';
import type { UsualPort } from './usual/ports.ts';

/** What a tool gets beside its parsed input. */
export interface ToolContext<S = unknown> {
  readonly target: Target;
  /** The connection to the target; of the type of its kind, see `toolsOf`. */
  readonly system: S;
  readonly docs: Docs;
  /** Aborted at the gate's timeout, on *Stop* and at shutdown. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** `text` is for people and models (the few lines that matter first, counts, units); `data` is the same for test expressions. */
export interface ToolOutput {
  readonly text: string;
  readonly data: Json;
}

interface ToolBase<I> {
  /** Refused until this toolset has been loaded in the incident; none for most tools. */
  readonly toolset?: string;
  /** Snake case, with its family first: `postgres_activity`. */
  readonly name: string;
  /** For a model: what it answers, when to use it, what its units are. One to three sentences. */
  readonly description: string;
  /** Whose incidents it is offered in; `any`: in those of every domain. */
  readonly domain: Domain;
  /** Refused on targets of other kinds; for any kind when left out. */
  readonly targetKinds?: readonly string[];
  readonly input: z.ZodType<I>;
  readonly timeoutMs: number;
}

/** Rules of a tool that has a target, beyond its schema. */
interface Ruled<I, S> {
  /**
   * What the input itself says against it (a path out of its root, a command that is not in the grammar), asked at check 6
   * before anything is logged or run. Whoever opens, runs or fetches checks again what it got.
   */
  rules?(
    context: Pick<ToolContext<S>, 'target' | 'system' | 'docs'>,
    input: I,
  ): Promise<Refusal | undefined> | Refusal | undefined;
}

export interface ReadTool<I = unknown, S = unknown> extends ToolBase<I>, Ruled<I, S> {
  /** `diagnostic` tools may load the target; triage may not use them. `docs` are no evidence of a live system; the validator may not use them. */
  readonly kind: 'read' | 'diagnostic' | 'docs';
  /** What in its data tells whether a problem is there, the most telling first. */
  readonly measures?: readonly Measure[];
  /**
   * It answers while its kind of target cannot be reached, and its measure `reachable` tells so: what a cited read that
   * failed for that reason is judged by.
   */
  readonly tellsReachable?: true;
  /**
   * Paths in `data` of what is only ever counted up, with `*` for whichever item of a list (`databases.*.deadlocks`): two
   * reads show it as a rate.
   */
  readonly counters?: readonly string[];
  run(context: ToolContext<S>, input: I): Promise<ToolOutput>;
}

/** The state an action would change, as it is before it. */
export interface Preflight<G extends Json = Json> {
  /** The part that must not have moved when the action runs (pid and backend_start, not the query text). */
  readonly guard: G;
  /**
   * The target's own clock when this was read (`clock_timestamp()::text`, with microseconds); null where it has none.
   * The deadline of the run is counted from here, so that a process paused at any later moment finds it passed.
   */
  readonly clock: string | null;
  /** For the card, a line each. */
  readonly lines: readonly string[];
  readonly blastRadius: string;
  readonly undo: string;
  /** It destroys nothing: people can take it back without a tool of Sentry's, or there is nothing to take back. */
  readonly losesNothing?: boolean;
  readonly risk: Risk;
  /** What else `objects` has to know of the state, beside the guard. */
  readonly about?: Json;
  /** What speaks against it though it can be done, for the card in red: it then takes a second approval. */
  readonly objection?: string;
  /**
   * Who else feels it, as the card says it: bound as the guard is, as whoever approves weighs it. Nothing that moves by itself
   * from moment to moment, or no approval would ever hold.
   */
  readonly felt?: string;
}

/** What the run of an approved action is held to. It must not take effect later than `withinMs` after `clock` (see `Preflight.clock`); checked inside the effecting statement where the target can. */
export interface Deadline {
  readonly clock: string | null;
  readonly withinMs: number;
  /**
   * As it was approved: where its risk follows from what is looked at right before the effect (or goes with it as a
   * precondition), a higher one has none. Left out: only the pre-flights ask.
   */
  readonly risk?: Risk;
}

/** A read with its input, and those of its measures that tell of the thing. */
export interface ShownBy {
  readonly tool: string;
  readonly input: Json;
  readonly measures: readonly string[];
}

/** A thing as people write of it in a sentence; its key among all things is in `objects`. */
export type Subject =
  | { readonly kind: 'pid'; readonly pid: number }
  | { readonly kind: 'table'; readonly schema: string; readonly table: string }
  /** A whole absolute path. */
  | { readonly kind: 'file'; readonly path: string }
  /** A setting, a service. */
  | { readonly kind: 'name'; readonly name: string };

export interface ActiveTool<I = unknown, G extends Json = Json, S = unknown>
  extends ToolBase<I>,
    Ruled<I, S> {
  readonly kind: 'active';
  /** Counted in the ledger's claim, over all processes. */
  limit?(input: I, guard: G, objects: readonly TouchedObject[]): RateLimit;
  /**
   * What it touches, each by a key that is the thing's own within the target's system: what people have said No to stays
   * No for every tool, incident and name of the target that meets it again.
   */
  objects(input: I, guard: G, before: Preflight<G>): readonly TouchedObject[];
  /** For cards and buttons. */
  readonly verbs: Verbs;
  /** The exact command as it will run, with every argument. */
  command(input: I): string;
  /** Reads the state. Throws OpsError when the thing is not there or is no part of the problem (code `GONE`), or the target cannot be read. */
  preflight(context: ToolContext<S>, input: I): Promise<Preflight<G>>;
  /**
   * Does it, once, with the guard and the deadline repeated inside the effecting statement where the target can carry them.
   * Called in one place: gate/.
   * Throws only when nothing took effect for certain; when in doubt it returns `unknown`.
   */
  run(context: ToolContext<S>, input: I, guard: G, deadline: Deadline): Promise<ActionOutcome>;
  /** After `unknown`: looks whether it took effect, without doing anything. */
  look(context: ToolContext<S>, input: I, guard: G): Promise<'done' | 'not_done' | 'cannot_tell'>;
  /** How to tell that it took effect. It never tells that it helped: a recovery criterion does. */
  effect(input: I, guard: G): VerifyPlan;
  /**
   * What a diagnosis would call the thing it touches. What touches nothing that the diagnosis names is not proposed. Left
   * out: it always concerns the target as a whole.
   */
  subject?(input: I): Subject;
  /**
   * The read that shows the thing it touches: what is wrong with it there when it is proposed must still be wrong right before
   * it runs, and gone afterwards, whatever is wrong elsewhere. Left out: no read is about that thing alone.
   */
  shownBy?(input: I): ShownBy;
  /**
   * Harmless to do again in a later round of the same incident: what kept it from helping is in the system and may be gone by
   * then. Everything else runs once an incident.
   */
  readonly isRepeatable?: true;
  /**
   * Fields of the input that only name the thing it is done to, which is another one each time (a session, a pod): what is
   * earned with one counts for the next. In all other fields autonomy is earned for the very same values.
   */
  readonly names?: readonly (keyof I & string)[];
  /**
   * Fields of the input that a person may change on its card, which asks anew. Never what names the thing it is done to, and
   * nothing whose sense hangs on the state it was written for.
   */
  readonly editable?: readonly (keyof I & string)[];
  /** Its input is the whole change, written for the occasion: no autonomy is ever earned with it. */
  readonly neverUnasked?: true;
  /** Only good against something that is wrong now, never as a precaution: ending a session, starting a service. */
  readonly repairsOnly?: true;
  /**
   * The call that takes it back exactly, from what its run had to say (`ActionOutcome.data`); null when there is none. For
   * tools that people may undo by one click.
   */
  inverse?(data: Json): { readonly tool: string; readonly input: Json } | null;
}

/** What a memory tool gets: who calls it and in which incident, as the gate knows it and never as a caller says. */
export interface MemoryToolContext {
  readonly incidentId: IncidentId;
  readonly role: Role;
  /** Of this very call. */
  readonly toolCallId: ToolCallId;
  readonly memory: MemoryToolsPort;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Works on Sentry's own memory: it has no target, changes no system and needs no approval. */
export interface MemoryTool<I = unknown> extends ToolBase<I> {
  readonly kind: 'memory_read' | 'memory_write';
  /** The gate lets it through without one, and gives it none. */
  readonly target: 'none';
  /** What the policy, the scanner or somebody else's write stands against comes back as a refusal. */
  run(context: MemoryToolContext, input: I): Promise<ToolOutput | Refusal>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the registry keeps tools of every input type together; each parses its own
export type Tool = ReadTool<any, any> | ActiveTool<any, any, any>;

export interface EvidenceToolContext {
  readonly incidentId: IncidentId;
  readonly evidence: EvidencePort;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Reads what this incident's calls have shown already: it has no target, and asks no live system. */
export interface EvidenceTool<I = unknown> extends ToolBase<I> {
  readonly kind: 'evidence';
  readonly target: 'none';
  run(context: EvidenceToolContext, input: I): Promise<ToolOutput | Refusal>;
}

export interface ChangesToolContext {
  readonly incidentId: IncidentId;
  readonly role: Role;
  readonly changes: ChangesPort;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Reads what was changed, and in which code: it has no target, and shows no live system. What of it an incident may read follows
 * from the incident's own systems (`ChangesPort.scopeOf`), never from its input alone.
 */
export interface ChangesTool<I = unknown> extends ToolBase<I> {
  readonly kind: 'changes';
  readonly target: 'none';
  run(context: ChangesToolContext, input: I): Promise<ToolOutput | Refusal>;
}

export interface UsualToolContext {
  readonly incidentId: IncidentId;
  readonly usual: UsualPort;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Compares the incident's own target with what is usual there. It reads that target, yet what it says is a lead: it has none of its own,
 * so that no claim which a fix needs can stand on it.
 */
export interface UsualTool<I = unknown> extends ToolBase<I> {
  readonly kind: 'usual';
  readonly target: 'none';
  run(context: UsualToolContext, input: I): Promise<ToolOutput | Refusal>;
}

export interface ForeignToolContext {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * A tool of another program's server that reads. It has no target of ours, and what it says is no read of a live system; what
 * it is asked leaves the house.
 */
export interface ForeignTool<I = unknown> extends ToolBase<I> {
  readonly kind: 'foreign';
  readonly target: 'none';
  run(context: ForeignToolContext, input: I): Promise<ToolOutput | Refusal>;
}

export type AnyTool =
  | Tool
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  | TargetlessTool<any>;

/** A tool that is called of no system. */
export type TargetlessTool<I = unknown> =
  | MemoryTool<I>
  | EvidenceTool<I>
  | ChangesTool<I>
  | UsualTool<I>
  | ForeignTool<I>;

/** Gives a read tool its types; the registry holds them with the input hidden. */
export function defineReadTool<I>(tool: ReadTool<I>): ReadTool<I> {
  return tool;
}

export function defineActiveTool<I, G extends Json>(tool: ActiveTool<I, G>): ActiveTool<I, G> {
  return tool;
}

/**
 * How the tools of a kind of system, or of kinds that share one, are made: typed by the connection, and refused on targets of
 * any other kind.
 * `domain`: whose incidents they are offered in; `any` for systems that may belong to several.
 */
export function toolsOf<S>(kinds: string | readonly string[], domain: Domain) {
  const targetKinds = typeof kinds === 'string' ? [kinds] : kinds;
  return {
    read: <I>(tool: Omit<ReadTool<I, S>, 'targetKinds' | 'domain'>): ReadTool<I, S> => ({
      ...tool,
      targetKinds,
      domain,
    }),
    active: <I, G extends Json>(
      tool: Omit<ActiveTool<I, G, S>, 'targetKinds' | 'domain'>,
    ): ActiveTool<I, G, S> => ({ ...tool, targetKinds, domain }),
  };
}

export function defineMemoryTool<I>(tool: Omit<MemoryTool<I>, 'target' | 'domain'>): MemoryTool<I> {
  return { ...tool, target: 'none', domain: 'any' };
}

export function defineEvidenceTool<I>(
  tool: Omit<EvidenceTool<I>, 'kind' | 'target' | 'domain'>,
): EvidenceTool<I> {
  return { ...tool, kind: 'evidence', target: 'none', domain: 'any' };
}

export function defineChangesTool<I>(
  tool: Omit<ChangesTool<I>, 'kind' | 'target' | 'domain'>,
): ChangesTool<I> {
  return { ...tool, kind: 'changes', target: 'none', domain: 'any' };
}

export function defineUsualTool<I>(tool: Omit<UsualTool<I>, 'kind' | 'target' | 'domain'>): UsualTool<I> {
  return { ...tool, kind: 'usual', target: 'none', domain: 'any' };
}

/** A tool that works on Sentry's own record or memory, reads changes, or asks another program. */
export function hasNoTarget(tool: AnyTool): tool is TargetlessTool {
  return isTargetless(tool.kind);
}

/** The same of a tool of which only the kind is known. */
export function isTargetless(kind: AnyTool['kind']): boolean {
  return targetless.has(kind);
}

const targetless: ReadonlySet<AnyTool['kind']> = new Set([
  'memory_read',
  'memory_write',
  'evidence',
  'changes',
  'usual',
  'foreign',
]);
