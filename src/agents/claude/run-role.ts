import type { ZodType } from 'zod';
import { messageOf } from '../../domain/errors.ts';
import { LlmError } from '../../llm/llm-error.ts';
import { addUsage, type Effort, type ModelStream, type Spent } from '../../llm/types.ts';
import { runLoop } from '../loop/run-loop.ts';
import type { LoopLimits, LoopOutcome, ToolAnswer } from '../loop/types.ts';
import { type Investigation, InvestigatorFailed } from '../ports.ts';
import { loadPrompt, type PromptedRole } from './load-prompt.ts';
import { answerOf, type OfferedTool, requestOf, toolsOf } from './role-tools.ts';
import { createWords } from './words.ts';

export interface ClaudeModel {
  /** Its id, for the record. */
  readonly model: string;
  readonly stream: ModelStream;
}

export interface RoleRun<T> {
  readonly role: PromptedRole;
  readonly prompt: string;
  readonly effort: Effort;
  readonly maxTokens: number;
  readonly report: { readonly name: string; readonly description: string; readonly schema: ZodType<T> };
  readonly limits: Partial<LoopLimits>;
  /** For proposals. */
  readonly runbookId?: string | null;
}

export interface RoleDeps {
  readonly llm: ClaudeModel;
  readonly tools: readonly OfferedTool[];
}

export type Finished<T> = Extract<LoopOutcome<T>, { kind: 'finished' | 'limit' }>;

/**
 * One role of one incident at work: its prompt, its tools, every model message and tool result a durable step.
 * Throws `InvestigatorFailed` when the model cannot go on, and the signal's reason when it was stopped.
 */
export async function runRole<T>(deps: RoleDeps, work: Investigation, run: RoleRun<T>): Promise<Finished<T>> {
  const prefix = `claude:${run.role}:r${work.incident.round}`;
  const words = createWords(
    (text) => work.say(text),
    () => work.unsay(),
  );
  const outcome = await runLoop<T>({
    stream: paying(deps.llm, work),
    system: loadPrompt(run.role).system,
    tools: toolsOf(run.role, deps.tools),
    report: run.report,
    // Recorded: what memory and people said may have changed by a restart, the history must not.
    prompt: await work.durably(`${prefix}:prompt`, () => Promise.resolve(run.prompt)),
    effort: run.effort,
    maxTokens: run.maxTokens,
    signal: work.signal,
    limits: run.limits,
    oneCallPerTurn: run.role === 'surgeon',
    durably: (name, fn) => work.durably(`${prefix}:${name}`, fn),
    callTool: (name, input) => callThroughGate(work, name, input, run.runbookId ?? null),
    onEvent: words.on,
  });
  switch (outcome.kind) {
    case 'finished':
    case 'limit':
      return outcome;
    case 'aborted':
      throw work.signal.reason instanceof Error ? work.signal.reason : new Error('stopped');
    case 'refused':
      work.unsay();
      throw new InvestigatorFailed(
        `Claude declined this investigation (${outcome.category ?? 'no category'}): ${outcome.explanation ?? 'no reason given'}`,
      );
    case 'failed':
      work.unsay();
      throw new InvestigatorFailed(`Claude could not go on: ${messageOf(outcome.error).slice(0, 300)}`, {
        cause: outcome.error,
      });
  }
}

async function callThroughGate(
  work: Investigation,
  tool: string,
  input: unknown,
  runbookId: string | null,
): Promise<ToolAnswer> {
  const { request, purpose } = requestOf(tool, input, runbookId);
  const result = await work.callTool(request, purpose);
  return {
    content: answerOf(request, result),
    isError: result.kind === 'failed' || result.kind === 'refused',
    ...(result.kind === 'proposed' ? { final: result.actionId } : {}),
  };
}

/** Records what each message cost, failed ones included, inside the durable step that paid for it. */
function paying(llm: ClaudeModel, work: Investigation): ModelStream {
  const record = ({ usage, usd }: Spent) =>
    work.spent({
      model: llm.model,
      inputTokens: usage.input,
      cacheReadTokens: usage.cacheRead,
      cacheWriteTokens: usage.cacheWrite5m + usage.cacheWrite1h,
      outputTokens: usage.output,
      costUsd: usd,
    });
  return async (request, options) => {
    try {
      const message = await llm.stream(request, options);
      await record({
        usage: addUsage(message.usage, message.wasted.usage),
        usd: (message.usd ?? 0) + message.wasted.usd,
      });
      return message;
    } catch (error) {
      if (error instanceof LlmError && error.spent.usd > 0) await record(error.spent);
      throw error;
    }
  };
}
