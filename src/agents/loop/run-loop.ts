import { OpsError } from '../../core/errors.ts';
import { isCompacted } from '../../llm/compaction.ts';
import { type Effort, type FinishedMessage, totalTokens, type UserBlock } from '../../llm/types.ts';
import { askModel, revive } from './ask-model.ts';
import { type Budget, createBudget } from './budget.ts';
import { readReport, readWrittenReport, reportModelTool } from './report.ts';
import { type AskedBefore, type RunToolsOptions, runTogether, runTools, type ToolRun } from './run-tools.ts';
import { compactLocally, type History, shorten } from './shorten.ts';
import {
  type AgentEvent,
  CLOSING_MS,
  DEFAULT_LIMITS,
  type LimitKind,
  type LoopOptions,
  type LoopOutcome,
  type ReportReview,
} from './types.ts';

/** Invalid reports answered with what is wrong, before giving up. */
const MAX_INVALID_REPORTS = 2;
/** Reminders to a model that stops without a report. */
const MAX_NUDGES = 1;
/** Messages without any content; asked again with the identical request. */
const MAX_EMPTY = 2;
/** From here on every further turn costs more than beginning anew from a summary; models hold at least 200,000. */
const COMPACT_AT_TOKENS = 150_000;
/** A message cut by `max_tokens` is asked again with twice the room. */
const MAX_RAISES = 2;

/**
 * One role's work: stream → finished message → all its tools at once through the gate → results in one user turn →
 * again, until the role reports, stops, or a limit is reached. Knows no Slack, no incident and no vendor.
 *
 * The history only ever grows, until it is too long and begins with a summary (`shorten.ts`); a message that did not end
 * well is neither kept nor acted on. Rejects only with what `durably`, `callTool` or `takeHints` reject with while nothing
 * was aborted: their contracts say they do not.
 */
export async function runLoop<T>(options: LoopOptions<T>): Promise<LoopOutcome<T>> {
  const budget = createBudget({ ...DEFAULT_LIMITS, ...options.limits });
  try {
    return await converse(options, budget);
  } catch (error) {
    if (options.signal.aborted) return { kind: 'aborted', spent: budget.spent };
    throw error;
  }
}

/** What the loop remembers between turns besides the history. */
interface LoopState extends History {
  readonly askedBefore: AskedBefore;
  readonly recordedAs: Map<string, string>;
  maxTokens: number;
  effort: Effort;
  /** Reports that were given back. */
  reviews: number;
  turn: number;
  text: string;
  tokenLimitRetries: number;
  emptyReplies: number;
  nudges: number;
  invalidReports: number;
  idleTurns: number;
  /** The last hint that stands in the history. */
  lastHint: number;
  /** A limit is reached and the model was told to conclude: its next message is the last. */
  closing: LimitKind | undefined;
}

/** What to do after a message: end, ask again (the history may have grown), or answer its calls. */
type Next<T> = LoopOutcome<T> | 'again';

async function converse<T>(options: LoopOptions<T>, budget: Budget): Promise<LoopOutcome<T>> {
  const { stream, system, report, signal } = options;
  const onEvent = options.onEvent ?? (() => undefined);
  const durably = options.durably ?? ((_, fn) => fn());
  const tools = report === undefined ? options.tools : [...options.tools, reportModelTool(report)];
  const state: LoopState = {
    messages: [{ role: 'user', content: [{ type: 'text', text: options.prompt }] }],
    past: [],
    askedBefore: new Map(),
    recordedAs: new Map(),
    maxTokens: options.maxTokens,
    effort: options.effort,
    reviews: 0,
    turn: 0,
    text: '',
    tokenLimitRetries: 0,
    emptyReplies: 0,
    nudges: 0,
    invalidReports: 0,
    idleTurns: 0,
    compactions: 0,
    contextTokens: 0,
    lastHint: 0,
    closing: undefined,
  };
  for (;;) {
    signal.throwIfAborted();
    const limit = budget.exceeded();
    if (limit !== undefined && state.closing === undefined) return ended(limit, state, budget);
    state.turn += 1;
    const { maxTokens, effort } = state;
    const asking = () => ({ durably, signal, deadlineMs: deadlineMs(state, budget), onEvent });
    if (state.contextTokens >= (options.compactAtTokens ?? COMPACT_AT_TOKENS)) {
      const name = `turn ${state.turn} summary`;
      // The last message concludes: it is not worth a summary that costs more than it.
      const loop = state.closing === undefined ? options : { ...options, compaction: undefined };
      await shorten(state, { loop, tools, maxTokens, budget, name, ...asking() });
    }
    const asked = await askModel(
      `turn ${state.turn} message`,
      stream,
      { system, tools, messages: [...state.messages], effort, maxTokens },
      asking(),
    );
    budget.message(asked.spent, asked.ms);
    if (!asked.ok && contextOverflow(asked.error.code, state) && compactLocally(state, options.prompt))
      continue;
    if (!asked.ok)
      return (
        failed(asked.error.code, state, budget) ?? {
          kind: 'failed',
          error: revive(asked.error),
          spent: budget.spent,
        }
      );
    state.contextTokens = totalTokens(asked.message.usage);
    onEvent({ type: 'message', turn: state.turn, message: asked.message });
    const next = await handleMessage(asked.message, { options, state, budget, onEvent, durably });
    if (next !== 'again') return next;
  }
}

/** The history is what was refused: too long, or it begins with a summary that another server wrote. */
function contextOverflow(code: string, { messages }: LoopState): boolean {
  return code === 'LLM_CONTEXT_EXCEEDED' || (code === 'LLM_BAD_REQUEST' && isCompacted(messages));
}

function deadlineMs({ closing }: LoopState, budget: Budget): number {
  return closing === undefined ? budget.remainingMs() : Math.max(CLOSING_MS, budget.remainingMs());
}

interface Step<T> {
  readonly options: LoopOptions<T>;
  readonly state: LoopState;
  readonly budget: Budget;
  readonly onEvent: (event: AgentEvent) => void;
  readonly durably: NonNullable<LoopOptions<T>['durably']>;
}

async function handleMessage<T>(message: FinishedMessage, step: Step<T>): Promise<Next<T>> {
  const { state, budget, onEvent } = step;
  const { stop } = message;
  switch (stop.kind) {
    case 'refusal':
      onEvent({ type: 'withdrawn' });
      return { kind: 'refused', category: stop.category, explanation: stop.explanation, spent: budget.spent };
    case 'context_exceeded':
      onEvent({ type: 'withdrawn' });
      return compactLocally(state, step.options.prompt) ? 'again' : ended('context', state, budget);
    case 'max_tokens':
      // Its last tool call may be cut and look whole: nothing of it is kept or run.
      onEvent({ type: 'withdrawn' });
      state.tokenLimitRetries += 1;
      state.maxTokens *= 2;
      return state.tokenLimitRetries > MAX_RAISES ? ended('max_tokens', state, budget) : 'again';
    case 'compaction':
    case 'unknown': {
      onEvent({ type: 'withdrawn' });
      const reason = stop.kind === 'unknown' ? stop.reason : 'compaction, which was not asked for';
      return broken('AGENT_UNKNOWN_STOP', `The model stopped for a reason unknown here: ${reason}`, budget);
    }
    case 'pause_turn':
      state.messages.push({ role: 'assistant', content: message.content });
      return 'again';
    case 'end_turn':
    case 'tool_use':
      return answer(message, step);
  }
}

async function answer<T>(message: FinishedMessage, step: Step<T>): Promise<Next<T>> {
  const { state, budget, options } = step;
  if (message.content.length === 0) {
    state.emptyReplies += 1;
    return state.emptyReplies > MAX_EMPTY
      ? broken('AGENT_EMPTY', 'The model keeps answering with nothing.', budget)
      : 'again';
  }
  state.messages.push({ role: 'assistant', content: message.content });
  if (message.text !== '') state.text = message.text;
  if (message.toolUses.length === 0) return withoutTools(message.text, step);

  const report = readReport(options.report, message.toolUses);
  if (report.kind === 'valid') {
    const review = await reviewed(step, report.value);
    if (review === null) return finished(step, report.value);
    const results = message.toolUses.map(({ id, name }): UserBlock => {
      const content = name === options.report?.name ? review.says : 'Not run: it came with your report.';
      return { type: 'tool_result', tool_use_id: id, content, is_error: true };
    });
    state.messages.push({ role: 'user', content: results });
    return 'again';
  }
  if (state.closing !== undefined) {
    await leaveOut(step, message, state.closing);
    return ended(state.closing, state, budget);
  }
  const problems = new Map(report.kind === 'invalid' ? report.problems : []);
  state.invalidReports += problems.size > 0 ? 1 : 0;
  if (state.invalidReports > MAX_INVALID_REPORTS) {
    return broken(
      'AGENT_BAD_REPORT',
      `The model's report stayed invalid: ${[...problems.values()].join(' ')}`,
      budget,
    );
  }
  const uses = message.toolUses.filter((use) => !problems.has(use.id));
  const running: RunToolsOptions = {
    turn: state.turn,
    callTool: options.callTool,
    identify: options.identify,
    mayRepeat: options.mayRepeat,
    clock: options.clock,
    durably: step.durably,
    signal: options.signal,
    onEvent: step.onEvent,
    askedBefore: state.askedBefore,
  };
  const { callTogether } = options;
  const runs =
    callTogether === undefined
      ? await runTools(uses, running)
      : await runTogether(uses, callTogether, running);
  budget.tools(runs.filter((run) => !run.repeated).length, Math.max(0, ...runs.map((run) => run.ms)));
  for (const { use, answer: given } of runs)
    if (given.recordedAs !== undefined) state.recordedAs.set(use.id, given.recordedAs);
  const final = runs.find((run) => run.answer.final !== undefined)?.answer.final;
  if (final !== undefined) return finished(step, undefined, final);
  const results = message.toolUses.map((use) => resultBlock(use.id, problems, runs));
  return goOn(step, results, runs);
}

/** What a report is given back with; null: it is taken. */
async function reviewed<T>(
  { options, state, budget, durably }: Step<T>,
  report: T,
): Promise<ReportReview | null> {
  const judge = options.report?.review;
  if (judge === undefined || state.closing !== undefined || budget.exceeded() !== undefined) return null;
  const { recordedAs, reviews } = state;
  const review = await durably(`turn ${state.turn} review`, () => judge(report, recordedAs, reviews));
  if (review === null) return null;
  state.reviews += 1;
  state.effort = review.effort ?? state.effort;
  return review;
}

/** What it would have looked at next is worth knowing: a person may have it read. */
async function leaveOut<T>(
  { options, durably, state }: Step<T>,
  { toolUses }: FinishedMessage,
  limit: LimitKind,
): Promise<void> {
  for (const [index, { name, input }] of toolUses.entries())
    if (options.leftOut !== undefined && name !== options.report?.name)
      await durably(`turn ${state.turn} left out ${index} ${name}`, async () => {
        await options.leftOut?.(name, input, limit);
        return true;
      });
}

async function goOn<T>(
  step: Step<T>,
  results: readonly UserBlock[],
  runs: readonly ToolRun[],
): Promise<Next<T>> {
  const { state, budget, options } = step;
  const idle = runs.length > 0 && runs.every((run) => !run.isNew);
  state.idleTurns = idle ? state.idleTurns + 1 : 0;
  const allowed = options.limits?.idleTurns ?? DEFAULT_LIMITS.idleTurns;
  if (state.idleTurns >= allowed) return ended('no_progress', state, budget);
  const said = await hints(step);
  const notes = [...said];
  const limit = budget.exceeded();
  // At the limit of turns the last one was announced before it was taken.
  state.closing = options.report === undefined || limit === 'turns' ? undefined : limit;
  const last = state.closing !== undefined || budget.lastTurn() || (idle && state.idleTurns === allowed - 1);
  const told = runs.filter((run) => run.isNew).map((run) => run.answer.content);
  if (!last) notes.push(...(await remembered(step, said, told)));
  if (last && options.report !== undefined) notes.push(lastCall(options.report.name));
  state.messages.push({ role: 'user', content: [...results, ...notes.map(textBlock)] });
  return 'again';
}

/** The model stopped by itself: done, unless somebody has said something or its report is still missing. */
async function withoutTools<T>(text: string, step: Step<T>): Promise<Next<T>> {
  const { state, budget, options } = step;
  const written = options.report === undefined ? undefined : readWrittenReport(options.report, text);
  if (written !== undefined) {
    const review = await reviewed(step, written);
    if (review === null) return finished(step, written);
    state.messages.push({ role: 'user', content: [textBlock(review.says)] });
    return 'again';
  }
  if (state.closing !== undefined) return ended(state.closing, state, budget);
  const said = await hints(step);
  if (options.report === undefined && said.length === 0) return finished(step, undefined);
  const notes = [...said, ...(await remembered(step, said, []))];
  if (options.report !== undefined) {
    state.nudges += 1;
    if (state.nudges > MAX_NUDGES) {
      return broken('AGENT_NO_REPORT', `The model stopped without calling ${options.report.name}.`, budget);
    }
    notes.push(
      `Your answer counts only as a call of ${options.report.name}. Call it now, or go on investigating.`,
    );
  }
  state.messages.push({ role: 'user', content: notes.map(textBlock) });
  return 'again';
}

async function hints<T>({ options, state, durably }: Step<T>): Promise<string[]> {
  const { takeHints } = options;
  if (takeHints === undefined) return [];
  const taken = await durably(`turn ${state.turn} hints`, () => takeHints(state.lastHint));
  state.lastHint = Math.max(state.lastHint, ...taken.map(({ seq }) => seq));
  return taken.map(({ text }) => text);
}

async function remembered<T>(
  { options, state }: Step<T>,
  said: readonly string[],
  results: readonly string[],
): Promise<readonly string[]> {
  if (options.remember === undefined || said.length + results.length === 0) return [];
  const block = await options.remember({ number: state.turn + 1, hints: said, results });
  return block === '' ? [] : [block];
}

function lastCall(report: string): string {
  return `This is your last turn. Call ${report} now with what you know; what you could not find out is a good answer.`;
}

function textBlock(text: string): UserBlock {
  return { type: 'text', text };
}

function resultBlock(id: string, problems: ReadonlyMap<string, string>, runs: readonly ToolRun[]): UserBlock {
  const problem = problems.get(id);
  const answer = runs.find((run) => run.use.id === id)?.answer ?? { content: problem ?? '', isError: true };
  const content = answer.content === '' ? '(no output)' : answer.content;
  return {
    type: 'tool_result',
    tool_use_id: id,
    content,
    ...(answer.isError ? { is_error: true as const } : {}),
  };
}

function finished<T>({ state, budget }: Step<T>, report: T | undefined, final?: string): LoopOutcome<T> {
  const { text, recordedAs } = state;
  return { kind: 'finished', text, report, final, recordedAs, spent: budget.spent };
}

function ended<T>(limit: LimitKind, state: LoopState, budget: Budget): LoopOutcome<T> {
  return { kind: 'limit', limit, text: state.text, spent: budget.spent };
}

/** Failures of a model call that are limits of ours. */
function failed<T>(code: string, state: LoopState, budget: Budget): LoopOutcome<T> | undefined {
  if (code === 'LLM_CONTEXT_EXCEEDED') return ended('context', state, budget);
  return code === 'LLM_DEADLINE' ? ended('wallMs', state, budget) : undefined;
}

function broken<T>(code: string, message: string, budget: Budget): LoopOutcome<T> {
  const hint = 'The playbook takes over; choose another model if this happens often.';
  return { kind: 'failed', error: new OpsError(code, message, { hint }), spent: budget.spent };
}
