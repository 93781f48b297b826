import { canonicalJson } from '../../core/canonical-json.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ToolUse } from '../../llm/types.ts';
import type { AgentEvent, CallTogether, CallTool, Durably, EarlierAnswer, ToolAnswer } from './types.ts';

/** A call may be made again after so long; until then it is answered from the first. */
export const REPEAT_AFTER_MS = 5_000;
/** So often the same call may bring something new by what has changed since: whoever asks on only waits. */
const MAX_SAMPLES = 3;

/** Remembers what was asked in this loop, so that the same question is not asked of a live system again and again. */
export type AskedBefore = Map<string, AskedCall>;

interface AskedCall {
  /** In which it was asked last. */
  readonly turn: number;
  readonly end: Promise<AskedEnd>;
  /** How often it ran and had something to say. */
  readonly samples: number;
}

/** As recorded: `ms` is how long the call took when it really ran, and `at` when that was (ms since 1970). */
interface TimedAnswer extends ToolAnswer {
  readonly ms: number;
  readonly at: number;
}

interface AskedEnd {
  readonly recorded: TimedAnswer | NotRun;
  /** Of the last time that it really ran. */
  readonly answer: TimedAnswer;
}

/** As recorded: it did not run, because the same had been asked `ageMs` before. */
interface NotRun {
  readonly ageMs: number;
}

export interface ToolRun {
  readonly use: ToolUse;
  readonly answer: ToolAnswer;
  readonly repeated: boolean;
  /** It says something that nothing before it had said. */
  readonly isNew: boolean;
  /** 0 when it did not run. */
  readonly ms: number;
}

export interface RunToolsOptions {
  /** Unique per turn; part of the durable names. */
  readonly turn: number;
  readonly callTool: CallTool;
  readonly identify?: ((name: string, input: unknown) => string) | undefined;
  readonly mayRepeat?: ((name: string) => boolean) | undefined;
  readonly clock?: (() => number) | undefined;
  readonly durably: Durably;
  readonly signal: AbortSignal;
  readonly onEvent: (event: AgentEvent) => void;
  readonly askedBefore: AskedBefore;
}

/** Runs all calls of one finished message at once; answers come back in the message's order. */
export function runTools(uses: readonly ToolUse[], options: RunToolsOptions): Promise<ToolRun[]> {
  return Promise.all(uses.map((use, index) => runTool(use, index, options)));
}

/**
 * Runs all calls of one finished message as one, each call that is made twice once. Every one of them gets the answer that
 * all of them got, and is told which step it is.
 */
export async function runTogether(
  uses: readonly ToolUse[],
  callTogether: CallTogether,
  options: RunToolsOptions,
): Promise<readonly ToolRun[]> {
  const { identify = identifyByInput } = options;
  const keyOf = ({ name, input }: ToolUse): string => identify(name, input);
  const steps = [...new Map(uses.map((use) => [keyOf(use), use])).values()];
  const [first] = steps;
  if (first === undefined) return [];
  const asOne = { ...first, name: steps.map(({ name }) => name).join(', ') };
  const run = await runTool(asOne, 0, {
    ...options,
    identify: () => steps.map(keyOf).join('\n'),
    callTool: () => callTogether(steps),
  });
  if (uses.length === 1) return [run];
  return uses.map((use): ToolRun => {
    const number = steps.findIndex((step) => keyOf(step) === keyOf(use)) + 1;
    const says = `Step ${number} of ${steps.length} of one plan, taken or refused as a whole.`;
    return { ...run, use, answer: { ...run.answer, content: `${says}\n${run.answer.content}` } };
  });
}

async function runTool(use: ToolUse, index: number, options: RunToolsOptions): Promise<ToolRun> {
  const { turn, durably, onEvent, askedBefore } = options;
  const { identify = identifyByInput } = options;
  const key = identify(use.name, use.input);
  const before = askedBefore.get(key);
  // Twins in one message share one run, however it ends.
  if (before?.turn === turn) return repeated(use, (await before.end).answer, 0, onEvent);
  // Whether it runs depends on the time, so that is recorded too.
  const end = durably(`turn ${turn} tool ${index} ${use.name}`, () => ask(use, before, options)).then(
    async (recorded): Promise<AskedEnd> => {
      const answer = 'ageMs' in recorded ? (await before?.end)?.answer : recorded;
      return { recorded, answer: answer as TimedAnswer };
    },
  );
  askedBefore.set(key, { turn, end, samples: before?.samples ?? 0 });
  const { recorded: given, answer } = await end;
  if ('ageMs' in given) return repeated(use, answer, given.ageMs, onEvent);
  const samples = (before?.samples ?? 0) + (given.isError ? 0 : 1);
  askedBefore.set(key, { turn, end, samples });
  onEvent(finished(use, given.isError, false));
  const { ms, at: _, ...said } = given;
  const isNew = !given.isError && given.unchanged !== true && samples <= MAX_SAMPLES;
  return { use, answer: said, repeated: false, isNew, ms };
}

const identifyByInput = (name: string, input: unknown): string => `${name} ${canonicalJson(input as Json)}`;

/** A call that failed may be tried again at once. */
async function ask(
  use: ToolUse,
  before: AskedCall | undefined,
  { callTool, signal, onEvent, mayRepeat = () => true, clock = Date.now }: RunToolsOptions,
): Promise<TimedAnswer | NotRun> {
  const earlier = (await before?.end)?.answer;
  const isAnswered = earlier !== undefined && !earlier.isError;
  const at = clock();
  if (isAnswered && (!mayRepeat(use.name) || at - earlier.at < REPEAT_AFTER_MS))
    return { ageMs: Math.max(0, at - earlier.at) };
  onEvent({ type: 'tool_started', toolUseId: use.id, name: use.name, input: use.input });
  const started = performance.now();
  const call = callTool(use.name, use.input, use.id, signal, isAnswered ? earlierOf(earlier) : undefined);
  const given = await unlessAborted(call, signal);
  return { ...given, ms: Math.round(performance.now() - started), at };
}

function earlierOf({ recordedAs, at }: TimedAnswer): EarlierAnswer {
  return { at, ...(recordedAs === undefined ? {} : { recordedAs }) };
}

/** Says that it is old news without adding instructions: those never stand in tool results. */
function repeated(
  use: ToolUse,
  earlier: TimedAnswer,
  ageMs: number,
  onEvent: RunToolsOptions['onEvent'],
): ToolRun {
  onEvent(finished(use, earlier.isError, true));
  const age = ageMs < 1_000 ? '' : ` of ${Math.floor(ageMs / 1_000)} s ago`;
  const note = `Repeated call: not run again; this is the result of the earlier identical call${age}.`;
  const { content, isError, recordedAs } = earlier;
  const answer = {
    content: `${note}\n${content}`,
    isError,
    ...(recordedAs === undefined ? {} : { recordedAs }),
  };
  return { use, answer, repeated: true, isNew: false, ms: 0 };
}

function finished({ id, name }: ToolUse, isError: boolean, isRepeated: boolean): AgentEvent {
  return { type: 'tool_finished', toolUseId: id, name, isError, repeated: isRepeated };
}

/** A tool that ignores the signal must not hold up a person's *Stop*. */
export async function unlessAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
