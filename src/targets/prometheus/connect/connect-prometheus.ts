import { z } from 'zod';
import { canonicalJson } from '../../../core/canonical-json.ts';
import { OpsError } from '../../../core/errors.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { HttpConfig } from '../config.ts';
import type { Answered, Prometheus } from '../system.ts';
import { httpApi } from './http-api.ts';
import { Labels, Matrix, Sample } from './results.ts';

/** Series that an answer may have: newer servers keep to it, of older ones only `HttpApi`'s size is a limit. */
const MAX_SERIES = 2_000;

/** https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats; native histograms have no points. */
const Result = z.discriminatedUnion('resultType', [
  z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ metric: Labels, value: Sample.optional() })),
  }),
  Matrix,
  z.object({ resultType: z.literal('scalar'), result: Sample }),
  z.object({ resultType: z.literal('string'), result: z.unknown() }),
]);

/** https://prometheus.io/docs/prometheus/latest/querying/api/#rules */
const Rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          type: z.string(),
          name: z.string(),
          query: z.string(),
          duration: z.number().default(0),
          labels: Labels.default({}),
          annotations: Labels.default({}),
          state: z.string().default('inactive'),
          health: z.string().default('unknown'),
          lastError: z.string().default(''),
        }),
      ),
    }),
  ),
});

/** The same, with what stays as it is between two evaluations. */
const RuleGroups = z.object({
  groups: z.array(
    z.object({
      file: z.string().default(''),
      name: z.string(),
      interval: z.number().optional(),
      rules: z.array(
        z.object({
          name: z.string(),
          query: z.string(),
          duration: z.number().optional(),
          keepFiringFor: z.number().optional(),
          labels: Labels.optional(),
          annotations: Labels.optional(),
        }),
      ),
    }),
  ),
});

/** https://prometheus.io/docs/prometheus/latest/querying/api/#config and #runtime-information */
const Config = z.object({ yaml: z.string() });
const Runtime = z.object({ lastConfigTime: z.string().default('') });

/** https://prometheus.io/docs/prometheus/latest/querying/api/#targets */
const Targets = z.object({
  activeTargets: z.array(
    z.object({
      labels: Labels,
      health: z.string(),
      lastError: z.string().default(''),
      lastScrape: z.string().default(''),
    }),
  ),
});

export function connectPrometheus(config: Pick<HttpConfig, 'url' | 'headers'>): Prometheus {
  const api = httpApi(config, 'Prometheus');
  const read = async <T>(
    path: string,
    shape: z.ZodType<T>,
    options: SessionOptions,
    params: Readonly<Record<string, string | number>> = {},
  ) => {
    const { data, warnings } = await api.get(path, params, options);
    return { data: parsed(shape, data), warnings };
  };
  const ask = async (
    path: string,
    options: SessionOptions,
    params: Readonly<Record<string, string | number>>,
  ): Promise<Answered> => {
    // A little less than we wait, so that it is the server that ends and says so.
    const timeout = `${Math.max(1, Math.floor(options.timeoutMs / 1_000) - 1)}s`;
    const { data, warnings } = await read(path, Result, options, { ...params, timeout, limit: MAX_SERIES });
    return { series: seriesOf(data), warnings };
  };
  return {
    version: async (options) =>
      (await read('/api/v1/status/buildinfo', z.object({ version: z.string() }), options)).data.version,
    now: async (options) => {
      const { series } = await ask('/api/v1/query', options, { query: 'time()' });
      return series[0]?.points[0]?.[1] ?? Number.NaN;
    },
    query: (query, options, at) =>
      ask('/api/v1/query', options, { query, ...(at === undefined ? {} : { time: at }) }),
    queryRange: (query, { from, to, stepSeconds }, options) =>
      ask('/api/v1/query_range', options, { query, start: from, end: to, step: stepSeconds }),
    async alertingRules(name, options) {
      const params = { type: 'alert', 'rule_name[]': name };
      const { data } = await read('/api/v1/rules', Rules, options, params);
      // Older servers do not know the name as a filter.
      return data.groups
        .flatMap(({ rules }) => rules)
        .filter((rule) => rule.type === 'alerting' && rule.name === name)
        .map(({ query: expression, duration: forSeconds, lastError: error, ...rule }) => ({
          ...rule,
          expression,
          forSeconds,
          error,
        }));
    },
    async scrapeTargets(options) {
      const { data } = await read('/api/v1/targets', Targets, options, { state: 'active' });
      return data.activeTargets.map(({ labels, health, lastError: error, lastScrape }) => ({
        job: labels['job'] ?? '',
        instance: labels['instance'] ?? '',
        health,
        error,
        lastScrape: momentOf(lastScrape),
      }));
    },
    async ruleGroups(options) {
      const { data } = await read('/api/v1/rules', RuleGroups, options);
      return data.groups.map(({ file, name, ...rest }) => ({
        file,
        name,
        content: canonicalJson(rest as Json),
      }));
    },
    async loadedConfig(options) {
      const [config, runtime] = await Promise.all([
        read('/api/v1/status/config', Config, options),
        read('/api/v1/status/runtimeinfo', Runtime, options),
      ]);
      return { content: config.data.yaml, loadedAt: momentOf(runtime.data.lastConfigTime) };
    },
  };
}

function seriesOf(result: z.infer<typeof Result>): Answered['series'] {
  switch (result.resultType) {
    case 'vector':
      return result.result.map(({ metric, value }) => ({ labels: metric, points: value ? [value] : [] }));
    case 'matrix':
      return result.result.map(({ metric, values }) => ({ labels: metric, points: values }));
    case 'scalar':
      return [{ labels: {}, points: [result.result] }];
    case 'string':
      return [];
  }
}

/** Prometheus writes its own zone, and the year 1 for never. */
function momentOf(time: string): string | null {
  const at = new Date(time);
  return at.getTime() > 0 ? at.toISOString() : null;
}

function parsed<T>(shape: z.ZodType<T>, data: unknown): T {
  const { success, data: read } = shape.safeParse(data);
  if (success) return read;
  throw new OpsError('PROMETHEUS_NO_API', 'What answers is not the API of Prometheus.', {
    hint: 'Check the url of the target in sentry.yaml.',
  });
}
