import { canonicalJson } from '../../domain/canonical-json.ts';
import type { Json } from '../../domain/tool-call.ts';
import type { ToolUse } from '../../llm/types.ts';
import type { AgentEvent, CallTool, Durably, ToolAnswer } from './types.ts';

/** Remembers what was asked in this loop, so that the same question is not asked of a live system twice. */
export type AskedBefore = Map<string, { readonly turn: number; readonly answer: Promise<TimedAnswer> }>;

/** As recorded: `ms` is how long the call took when it really ran. */
interface TimedAnswer extends ToolAnswer {
  readonly ms: number;
}

export interface ToolRun {
  readonly use: ToolUse;
  readonly answer: ToolAnswer;
  readonly repeated: boolean;
  /** 0 when it did not run. */
  readonly ms: number;
}

export interface RunToolsOptions {
  /** Unique per turn; part of the durable names. */
  readonly turn: number;
  readonly callTool: CallTool;
  readonly durably: Durably;
  readonly signal: AbortSignal;
  readonly onEvent: (event: AgentEvent) => void;
  readonly askedBefore: AskedBefore;
}

/** Runs all calls of one finished message at once; answers come back in the message's order. */
export function runTools(uses: readonly ToolUse[], options: RunToolsOptions): Promise<ToolRun[]> {
  return Promise.all(uses.map((use, index) => runTool(use, index, options)));
}

async function runTool(use: ToolUse, index: number, options: RunToolsOptions): Promise<ToolRun> {
  const { turn, callTool, durably, signal, onEvent, askedBefore } = options;
  const key = `${use.name} ${canonicalJson(use.input as Json)}`;
  const before = askedBefore.get(key);
  if (before !== undefined) {
    const earlier = await before.answer;
    // A failed call may be tried again in a later turn; twins in one message share one run, however it ends.
    if (!earlier.isError || before.turn === turn) {
      onEvent({
        type: 'tool_finished',
        toolUseId: use.id,
        name: use.name,
        isError: earlier.isError,
        repeated: true,
      });
      return { use, answer: repeatOf(earlier), repeated: true, ms: 0 };
    }
  }
  const answer = durably(`turn ${turn} tool ${index} ${use.name}`, async () => {
    onEvent({ type: 'tool_started', toolUseId: use.id, name: use.name, input: use.input });
    const started = performance.now();
    const given = await unlessAborted(callTool(use.name, use.input, use.id, signal), signal);
    return { ...given, ms: Math.round(performance.now() - started) };
  });
  askedBefore.set(key, { turn, answer });
  const { ms, ...given } = await answer;
  onEvent({
    type: 'tool_finished',
    toolUseId: use.id,
    name: use.name,
    isError: given.isError,
    repeated: false,
  });
  return { use, answer: given, repeated: false, ms };
}

/** Says that it is old news without adding instructions: those never stand in tool results. */
function repeatOf(earlier: ToolAnswer): ToolAnswer {
  const note = 'Repeated call: not run again; this is the result of the earlier identical call.';
  const { content, isError, recordedAs } = earlier;
  return { content: `${note}\n${content}`, isError, ...(recordedAs === undefined ? {} : { recordedAs }) };
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
