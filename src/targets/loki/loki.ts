import { z } from 'zod';
import { OpsError } from '../../core/errors.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import type { HttpConfig } from '../prometheus/config.ts';
import { httpApi } from '../prometheus/connect/http-api.ts';
import { Matrix } from '../prometheus/connect/results.ts';
import type { Answered, Labels, Range } from '../prometheus/system.ts';

interface LogLine {
  /** ISO 8601. */
  readonly at: string;
  readonly labels: Labels;
  readonly line: string;
}

/** Loki as tools see it. Everything throws OpsError, see `HttpApi`. */
export interface Loki {
  /** The newest lines, oldest first; or series, where LogQL counts. `limit`: of lines. */
  queryRange(
    query: string,
    range: Range & { readonly limit: number },
    options: SessionOptions,
  ): Promise<
    { readonly kind: 'lines'; readonly lines: readonly LogLine[] } | ({ readonly kind: 'series' } & Answered)
  >;
  /** How many labels its logs have: whether it answers, and to whom. */
  labels(options: SessionOptions): Promise<number>;
}

/** https://grafana.com/docs/loki/latest/reference/loki-http-api/#query-logs-within-a-range-of-time; times are nanoseconds. */
const Streams = z.object({
  resultType: z.literal('streams'),
  result: z.array(
    z.object({
      stream: z.record(z.string(), z.string()),
      // Newer ones append the structured metadata of a line.
      values: z.array(z.tuple([z.string().regex(/^\d{1,19}$/), z.string()]).rest(z.unknown())),
    }),
  ),
});
const Result = z.discriminatedUnion('resultType', [Streams, Matrix]);

export function connectLoki(config: Pick<HttpConfig, 'url' | 'headers'>): Loki {
  const api = httpApi(config, 'Loki');
  return {
    async queryRange(query, { from, to, stepSeconds, limit }, options) {
      const params = { query, start: from, end: to, step: stepSeconds, limit, direction: 'backward' };
      const { data, warnings } = await api.get('/loki/api/v1/query_range', params, options);
      const result = parsed(Result, data);
      if (result.resultType === 'matrix')
        return {
          kind: 'series',
          warnings,
          series: result.result.map(({ metric, values }) => ({ labels: metric, points: values })),
        };
      const lines = result.result.flatMap(({ stream, values }) =>
        values.map(([nanoseconds, line]) => ({ nanoseconds: BigInt(nanoseconds), labels: stream, line })),
      );
      return {
        kind: 'lines',
        lines: lines
          .toSorted((one, other) => Number(one.nanoseconds - other.nanoseconds))
          .map(({ nanoseconds, ...line }) => ({
            at: new Date(Number(nanoseconds / 1_000_000n)).toISOString(),
            ...line,
          })),
      };
    },
    async labels(options) {
      const { data } = await api.get('/loki/api/v1/labels', {}, options);
      return parsed(z.array(z.string()).default([]), data).length;
    },
  };
}

function parsed<T>(shape: z.ZodType<T>, data: unknown): T {
  const { success, data: read } = shape.safeParse(data);
  if (success) return read;
  throw new OpsError('LOKI_NO_API', 'What answers is not the API of Loki.', {
    hint: 'Check the url of the target in sentry.yaml.',
  });
}
