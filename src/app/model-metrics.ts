import type { MetricsRegistry } from '../infra/metrics/registry.ts';
import type { IncidentRecords } from '../record/record.ts';

/**
 * The record, counting into the metrics what it is told of model calls: after they are on record, so that both agree.
 * Counters are this process's since its start.
 */
export function countingUsage(records: IncidentRecords, metrics: MetricsRegistry): IncidentRecords {
  const calls = metrics.counter('sentry_model_calls_total', 'Model calls, by model and role.');
  const usd = metrics.counter(
    'sentry_model_cost_usd_total',
    'US dollars for model calls, by model and role.',
  );
  const tokens = metrics.counter(
    'sentry_model_tokens_total',
    'Tokens of model calls, by model, role and kind (thinking is part of output).',
  );
  return {
    ...records,
    async addUsage(id, role, usage) {
      await records.addUsage(id, role, usage);
      const labels = { model: usage.model, role };
      calls.add(labels);
      usd.add(labels, usage.costUsd);
      const write5m = usage.cacheWriteTokens - usage.cacheWrite1hTokens;
      tokens.add({ ...labels, kind: 'input' }, usage.inputTokens);
      tokens.add({ ...labels, kind: 'cache_read' }, usage.cacheReadTokens);
      tokens.add({ ...labels, kind: 'cache_write_5m' }, write5m);
      tokens.add({ ...labels, kind: 'cache_write_1h' }, usage.cacheWrite1hTokens);
      tokens.add({ ...labels, kind: 'output' }, usage.outputTokens);
      tokens.add({ ...labels, kind: 'thinking' }, usage.thinkingTokens);
    },
  };
}
