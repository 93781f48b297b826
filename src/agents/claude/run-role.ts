import { canonicalJson } from '../../core/canonical-json.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { ShownMemory } from '../../core/memory.ts';
import type { Target } from '../../core/target.ts';
import type { Json, PlanStep, ToolCall, ToolCallResult } from '../../core/tool-call.ts';
import type { Effort, ModelStream } from '../../llm/types.ts';
import type { CostBreaker } from '../../safety/limits/cost-breaker.ts';
import type { ModelGuard } from '../../safety/model-guard/model-guard.ts';
import { runLoop } from '../loop/run-loop.ts';
import type {
  EarlierAnswer,
  Hint,
  LaterTurn,
  LoopLimits,
  LoopOutcome,
  ReportTool,
  ToolAnswer,
} from '../loop/types.ts';
import { type Heard, type Investigation, InvestigatorFailed } from '../ports.ts';
import { differenceOf } from './difference.ts';
import { formatFailure, formatLimit } from './format-failure.ts';
import { recordingUsage, withinBudget } from './guarded-stream.ts';
import { createLiveText } from './live-text.ts';
import { compactionPrompt, loadPrompt, type PromptedRole } from './load-prompt.ts';
import { memoryTurns } from './memory-turns.ts';
import {
  answerOf,
  type Compared,
  hasTarget,
  type OfferedTool,
  requestOf,
  type Subject,
  toolsOf,
} from './role-tools.ts';
import { screenedStream } from './screened-stream.ts';

export interface ClaudeModel {
  /** Its id, for the record. */
  readonly model: string;
  readonly stream: ModelStream;
}

export interface RoleRun<T> {
  readonly role: PromptedRole;
  /** The first user turn: labelled data, then what memory has, then the task. */
  readonly data: string;
  readonly task: string;
  /** What the first turn is about beyond the alert, for memory to be asked with. */
  readonly about: string;
  readonly effort: Effort;
  readonly maxTokens: number;
  /** Without one its text is its answer. */
  readonly report?: ReportTool<T>;
  readonly limits: Partial<LoopLimits>;
}

export interface RoleDeps {
  readonly llm: ClaudeModel;
  readonly tools: readonly OfferedTool[];
  /** The incident's tool calls as recorded. */
  readonly toolCalls: (incidentId: IncidentId) => Promise<readonly ToolCall[]>;
  /** Default: the system's clock. */
  readonly clock?: () => Date;
  /** Names of the configured targets, now. */
  readonly targets: Iterable<string>;
  /** Goes on where the first refuses; without it the playbook does. */
  readonly fallbackModel?: string | undefined;
  /** What kind of system a target is; without it tools of every kind are offered. */
  readonly kindOf?: (target: string) => Target['kind'] | undefined;
  /** What incidents of a target may read beside it; none without it. */
  readonly neighboursOf?: (target: string) => readonly string[];
  /** Tools that are not for a target though they are for its kind. */
  readonly refusesOf?: (target: string) => Target['refuses'];
  /** What may be spent; without it (evaluations) only the limits of each role hold. */
  readonly breaker?: Pick<CostBreaker, 'reserve'>;
  /** Hides secrets and people from the model; without it (evaluations of recorded data) it sees all. */
  readonly guard?: ModelGuard;
  /** A folder with other prompts than ours, for evals and replays. */
  readonly prompts?: string;
}

/** `shown`: the memories that stood in its history. */
export type Finished<T> = Extract<LoopOutcome<T>, { kind: 'finished' }> & {
  readonly shown: readonly ShownMemory[];
};

/**
 * One role of one incident at work: its prompt, its tools, every model message and tool result a durable step.
 * Throws `InvestigatorFailed` when the model cannot go on or a limit is reached, and the signal's reason when it was stopped.
 */
export async function runRole<T>(deps: RoleDeps, work: Investigation, run: RoleRun<T>): Promise<Finished<T>> {
  const prefix = `claude:${run.role}:r${work.incident.round}`;
  const memory = memoryTurns(work);
  const block = await memory.first(run.about);
  // Recorded: what memory and people said may have changed by a restart, the history must not.
  const prompt = await work.durably(`${prefix}:prompt`, async () =>
    [run.data, block, run.task].filter((part) => part !== '').join('\n\n'),
  );
  const first = await converse(deps, work, run, { prefix, prompt, remember: (turn) => memory.later(turn) });
  const { fallbackModel } = deps;
  if (first.kind !== 'refused' || fallbackModel === undefined) return ended(work, first, memory.shown);
  // A history of its own: what one model thought is not valid with another.
  work.unsay();
  await work.modelChanged(
    fallbackModel,
    `${deps.llm.model} declined (${first.category ?? 'no category'}); ${fallbackModel} goes on.`,
  );
  const second = await converse(deps, work, run, {
    prefix: `${prefix}:${fallbackModel}`,
    prompt,
    model: fallbackModel,
  });
  return ended(work, second, memory.shown);
}

interface Conversation {
  /** Of the names of its durable steps. */
  readonly prefix: string;
  readonly prompt: string;
  readonly model?: string;
  readonly remember?: (turn: LaterTurn) => Promise<string>;
}

function converse<T>(
  deps: RoleDeps,
  work: Investigation,
  run: RoleRun<T>,
  { prefix, prompt, model, remember }: Conversation,
): Promise<LoopOutcome<T>> {
  const words = createLiveText(
    (text, kind) => work.say(text, kind),
    () => work.unsay(),
  );
  const stream = guarded(deps, work, run.role);
  const requested = (name: string, input: unknown) =>
    requestOf(name, input, {
      targets: [...deps.targets],
      target: hasTarget(deps.tools, name) ? work.incident.target : null,
    });
  return runLoop<T>({
    stream: model === undefined ? stream : (request, options) => stream({ ...request, model }, options),
    system: loadPrompt(run.role, deps.prompts).system,
    tools: toolsOf(run.role, deps.tools, targetsOf(work), subjectOf(deps, work)),
    ...(run.report === undefined ? {} : { report: run.report }),
    prompt,
    effort: run.effort,
    maxTokens: run.maxTokens,
    signal: work.signal,
    limits: run.limits,
    compaction: compactionPrompt(deps.prompts),
    ...(run.role === 'surgeon'
      ? {
          callTogether: (calls) =>
            planThroughGate(
              deps,
              work,
              calls.map(({ name, input }) => requested(name, input)),
            ),
        }
      : {}),
    durably: (name, fn) => work.durably(`${prefix}:${name}`, fn),
    callTool: (name, input, _, __, earlier) => callThroughGate(deps, work, requested(name, input), earlier),
    // Why it is asked for makes it no other call.
    identify: (name, input) => {
      const { tool, target, input: own } = requested(name, input).request;
      return canonicalJson({ tool, target, input: own });
    },
    // What is remembered or shown again stays what it is; a live system does not.
    mayRepeat: (name) => {
      const kind = deps.tools.find((tool) => tool.name === name)?.kind;
      return (
        kind !== undefined && ['read', 'diagnostic', 'docs', 'changes', 'usual', 'foreign'].includes(kind)
      );
    },
    ...(deps.clock === undefined ? {} : { clock: () => nowOf(deps).getTime() }),
    leftOut: async (name, input, limit) => {
      const asked = requested(name, input);
      await work.leaveOut(asked.request, asked.purpose, `Not run: ${formatLimit(limit)}.`);
    },
    onEvent: words.on,
    takeHints: async (after) => (await work.hintsSince(after)).map(hintTurn),
    ...(remember === undefined ? {} : { remember }),
  });
}

function ended<T>(work: Investigation, outcome: LoopOutcome<T>, shown: readonly ShownMemory[]): Finished<T> {
  switch (outcome.kind) {
    case 'finished':
      return { ...outcome, shown };
    case 'limit':
      work.unsay();
      throw new InvestigatorFailed(`${formatLimit(outcome.limit)}.`);
    case 'aborted':
      throw work.signal.reason instanceof Error ? work.signal.reason : new Error('stopped');
    case 'refused':
      work.unsay();
      throw new InvestigatorFailed(
        `the model declined to investigate this (${outcome.category ?? 'no category'}): ${outcome.explanation ?? 'no reason given'}.`,
      );
    case 'failed':
      work.unsay();
      throw new InvestigatorFailed(`${formatFailure(outcome.error)}.`, { cause: outcome.error });
  }
}

/** Data like all that people write: quoted, and unable to close its tag. */
function hintTurn({ seq, by, text }: Heard): Hint {
  const said = JSON.stringify(by === null ? { alert: text } : { by, text }).replaceAll('<', '\\u003c');
  const tag = by === null ? 'part_of_the_same_problem' : 'person_said';
  return { seq, text: `<${tag}>${said}</${tag}>` };
}

async function callThroughGate(
  deps: RoleDeps,
  work: Investigation,
  { request, purpose }: ReturnType<typeof requestOf>,
  earlier: EarlierAnswer | undefined,
): Promise<ToolAnswer> {
  const at = nowOf(deps);
  const result = await work.callTool(request, purpose, work.signal);
  const compared = earlier && (await comparedWith(deps, work, request.tool, result, { earlier, at }));
  return {
    content: answerOf(request, result, at, compared),
    isError: result.kind === 'failed' || result.kind === 'refused',
    recordedAs: result.toolCallId,
    ...(compared?.changed.length === 0 ? { unchanged: true } : {}),
    ...(result.kind === 'proposed' ? { final: result.actionId } : {}),
  };
}

/** All calls of one message: what is asked for first carries the rest as its later steps. */
async function planThroughGate(
  deps: RoleDeps,
  work: Investigation,
  [first, ...later]: readonly ReturnType<typeof requestOf>[],
): Promise<ToolAnswer> {
  if (first === undefined) return { content: 'Nothing was asked for.', isError: true };
  const { request } = first;
  const elsewhere = later.find(({ request: step }) => step.target !== request.target)?.request;
  if (elsewhere !== undefined)
    return {
      content: `Refused: the steps of one plan are on one target; ${elsewhere.tool} names ${elsewhere.target}.`,
      isError: true,
    };
  if (request.proposal === undefined || later.length === 0)
    return callThroughGate(deps, work, first, undefined);
  const andThen = later.map(
    ({ request: { tool, input, proposal } }): PlanStep => ({ tool, input, why: proposal?.why ?? '' }),
  );
  const purpose = [first, ...later].map((each) => each.purpose ?? '').join(' ');
  return callThroughGate(
    deps,
    work,
    { request: { ...request, proposal: { ...request.proposal, andThen } }, purpose: purpose.slice(0, 200) },
    undefined,
  );
}

/** By code, from both as they are on record; undefined where there is nothing to compare. */
async function comparedWith(
  { tools, toolCalls }: RoleDeps,
  { incident }: Investigation,
  tool: string,
  result: ToolCallResult,
  { earlier, at }: { readonly earlier: EarlierAnswer; readonly at: Date },
): Promise<Compared | undefined> {
  const id = earlier.recordedAs;
  if (result.kind !== 'ok' || id === undefined) return undefined;
  const before = (await toolCalls(incident.id)).find((call) => call.id === id);
  if (before === undefined) return undefined;
  const seconds = Math.round((at.getTime() - earlier.at) / 1_000);
  // What has no machine-readable form is compared line by line.
  const inWords = before.result === null || result.data === null;
  const counters = tools.find(({ name }) => name === tool)?.counters;
  const { lines } = differenceOf({
    before: inWords ? linesOf(before.output) : before.result,
    now: inWords ? linesOf(result.text) : result.data,
    seconds,
    ...(counters === undefined ? {} : { counters }),
  });
  return { with: id, seconds, changed: lines };
}

const linesOf = (text: string): Json => text.split('\n').filter((line) => line.trim() !== '');

function subjectOf(
  { kindOf, neighboursOf, refusesOf }: RoleDeps,
  { incident: { domain, target } }: Investigation,
): Subject {
  if (target === null) return { domain };
  const neighbours = (neighboursOf?.(target) ?? []).flatMap((name) => {
    const kind = kindOf?.(name);
    return kind === undefined ? [] : [{ name, kind }];
  });
  return { domain, targetKind: kindOf?.(target), refuses: refusesOf?.(target), neighbours };
}

/** What the model may name as the incident's own: its target, and nothing where there is none. */
export function targetsOf({ incident }: Pick<Investigation, 'incident'>): readonly string[] {
  return incident.target === null ? [] : [incident.target];
}

/** Of the deps: evaluations may have another. */
export function nowOf({ clock }: Pick<RoleDeps, 'clock'>): Date {
  return clock === undefined ? new Date() : clock();
}

/** The model behind its guards, as this role of this incident may use it. */
export function guarded(
  { llm, breaker, guard, tools }: RoleDeps,
  work: Pick<Investigation, 'incident' | 'spent'>,
  role: PromptedRole | 'sceptic',
): ModelStream {
  const { id: incidentId } = work.incident;
  const paid = recordingUsage(llm, (usage) => work.spent(usage, ...(role === 'sceptic' ? [role] : [])));
  const budgeted = breaker ? withinBudget(paid, breaker, { incidentId, model: llm.model }) : paid;
  // What is looked up in public documentation, or asked of another program, leaves the house.
  const carriesOut = (name: string): boolean =>
    ['docs', 'foreign'].includes(tools.find((tool) => tool.name === name)?.kind ?? '');
  return guard ? screenedStream(budgeted, guard, { incidentId, role, carriesOut }) : budgeted;
}
