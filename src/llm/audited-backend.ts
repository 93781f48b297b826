import type { Json } from '../core/tool-call.ts';
import { sha256 } from '../safety/sha256.ts';
import type { AttemptRequest, ModelBackend } from './backend.ts';
import { LlmError } from './llm-error.ts';
import { usdOf } from './pricing.ts';

/** Where calls are put on record; the audit log fits. */
export interface ModelAudit {
  append(entry: { readonly kind: string; readonly actor: string; readonly details: Json }): Promise<void>;
}

/**
 * A way to the model that leaves each call in the audit log: hashes of what went out and came back, and what it cost; never
 * the text. An answer that cannot be put on record is not given on. Failed calls are there with their code.
 */
export function auditedBackend(backend: ModelBackend, audit: ModelAudit): ModelBackend {
  const record = (request: AttemptRequest, details: { readonly [key: string]: Json }): Promise<void> =>
    audit.append({
      kind: 'model.called',
      actor: 'system',
      details: { by: backend.name, model: request.model, asked: hashOf(bodyOf(request)), ...details },
    });
  return {
    ...backend,
    async attempt(request, options) {
      const answer = await backend.attempt(request, options).catch(async (error: unknown) => {
        await record(request, { failed: error instanceof LlmError ? error.code : 'UNKNOWN' });
        throw error;
      });
      const { requestId, usage, model } = answer;
      const usd = usdOf(model, usage);
      await record(request, { answered: hashOf(answer.content), requestId, usd, usage: { ...usage } });
      return answer;
    },
  };
}

function bodyOf({ system, tools, messages, effort, compaction }: AttemptRequest): unknown {
  return { system, tools, messages, effort, compaction };
}

/** SHA-256 (hex) of its JSON. */
const hashOf = (value: unknown): string => sha256(JSON.stringify(value));
