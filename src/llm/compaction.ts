import type { AttemptResult } from './backend.ts';
import { LlmError } from './llm-error.ts';
import type { MessageBody } from './request-body.ts';
import type { ModelTurn } from './types.ts';

/**
 * Compaction on demand (platform.claude.com, build-with-claude/compaction-on-demand, 2026-11): a request with
 * `compaction` is answered by one signed block, which stands first in every later request, in place of what it sums up.
 */
const BETA = 'compact-2026-09-04';

/** For the look-up of what a model can do: without it the answer does not say whether it compacts. */
export const COMPACTION_BETAS = [BETA];

/** Servers take the parameter and its block only with the beta's header, and others may know neither: so only then. */
export function headersFor({ compaction, messages }: MessageBody): Readonly<Record<string, string>> {
  return compaction !== undefined || isCompacted(messages as readonly ModelTurn[])
    ? { 'anthropic-beta': BETA }
    : {};
}

/** The history begins with a server's summary of what was before. */
export function isCompacted(messages: readonly ModelTurn[]): boolean {
  return messages[0]?.content[0]?.type === 'compaction';
}

/** Remembers by model which servers do not compact, however they said so. */
export interface Compacting {
  /** Runs one attempt at a summary. Rejects with LLM_NO_COMPACTION where there is none to be had. */
  attempt(model: string, able: boolean, send: () => Promise<AttemptResult>): Promise<AttemptResult>;
}

export function createCompacting(): Compacting {
  const unable = new Set<string>();
  return {
    async attempt(model, able, send) {
      if (!able || unable.has(model)) throw noCompaction(`${model} does not compact here`);
      let answer: AttemptResult;
      try {
        answer = await send();
      } catch (error) {
        if (!(error instanceof LlmError) || error.code !== 'LLM_BAD_REQUEST') throw error;
        unable.add(model);
        throw noCompaction(error.message, error);
      }
      // The API answers a summary that failed with no content: this one did not know the parameter.
      if (answer.stop.kind !== 'compaction' && answer.content.length > 0) unable.add(model);
      return answer;
    },
  };
}

export function noCompaction(message: string, cause?: LlmError): LlmError {
  return new LlmError('LLM_NO_COMPACTION', message, cause === undefined ? {} : { spent: cause.spent, cause });
}
