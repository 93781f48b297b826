import { Counter, type Registry } from 'prom-client';
import type { ModelBackend } from '../llm/backend.ts';
import { LlmError } from '../llm/llm-error.ts';
import type { IncidentRecords } from '../record/record.ts';

/**
 * The record, counting into the metrics what it is told of model calls: after they are on record, so that both agree.
 * Counters are this process's since its start.
 */
export function countingUsage(records: IncidentRecords, metrics: Registry): IncidentRecords {
  const labelNames = ['model', 'role'];
  const registers = [metrics];
  const calls = new Counter({
    name: 'sentry_model_calls_total',
    help: 'Model calls, by model and role.',
    labelNames,
    registers,
  });
  const usd = new Counter({
    name: 'sentry_model_cost_usd_total',
    help: 'US dollars for model calls, by model and role.',
    labelNames,
    registers,
  });
  const tokens = new Counter({
    name: 'sentry_model_tokens_total',
    help: 'Tokens of model calls, by model, role and kind (thinking is part of output).',
    labelNames: [...labelNames, 'kind'],
    registers,
  });
  return {
    ...records,
    async addUsage(id, role, usage) {
      await records.addUsage(id, role, usage);
      const labels = { model: usage.model, role };
      calls.inc(labels);
      usd.inc(labels, usage.costUsd);
      const write5m = usage.cacheWriteTokens - usage.cacheWrite1hTokens;
      tokens.inc({ ...labels, kind: 'input' }, usage.inputTokens);
      tokens.inc({ ...labels, kind: 'cache_read' }, usage.cacheReadTokens);
      tokens.inc({ ...labels, kind: 'cache_write_5m' }, write5m);
      tokens.inc({ ...labels, kind: 'cache_write_1h' }, usage.cacheWrite1hTokens);
      tokens.inc({ ...labels, kind: 'output' }, usage.outputTokens);
      tokens.inc({ ...labels, kind: 'thinking' }, usage.thinkingTokens);
    },
  };
}

/** The way to the model, counting the tries that failed. */
export function countingErrors(backend: ModelBackend, metrics: Registry): ModelBackend {
  const errors = new Counter({
    name: 'sentry_model_errors_total',
    help: 'Tries of model calls that failed, by code; LLM_ABORTED: Sentry ended it itself.',
    labelNames: ['code'],
    registers: [metrics],
  });
  return {
    ...backend,
    attempt: (request, options) =>
      backend.attempt(request, options).catch((error: unknown) => {
        errors.inc({ code: error instanceof LlmError ? error.code : 'UNKNOWN' });
        throw error;
      }),
  };
}
