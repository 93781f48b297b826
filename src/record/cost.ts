import { count } from '../core/count.ts';
import type { IncidentId } from '../core/ids.ts';
import type { ModelUsage } from '../core/model-usage.ts';
import type { Sql } from '../core/sql.ts';

/** What model calls used and cost. Tokens as the server counted them; US dollars by the price table. */
export interface Cost extends Omit<ModelUsage, 'model' | 'costUsd'> {
  readonly usd: number;
  readonly calls: number;
}

export interface CostShare extends Cost {
  readonly model: string;
  readonly role: string;
}

/** The sum and what it is made of, the dearest first. */
export interface CostSum extends Cost {
  readonly by: readonly CostShare[];
}

/** What `/sentry cost` and `sentry cost --json` say. Days are UTC; thirty of them with today. */
export interface CostReport {
  readonly incident: (CostSum & { readonly id: IncidentId }) | null;
  readonly today: CostSum;
  readonly thirtyDays: CostSum;
}

export async function costReport(sql: Sql, incidentId: IncidentId | null): Promise<CostReport> {
  const rows = await sql<CostShare & { readonly span: string }>`
    WITH today AS (SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date AS day),
    span AS (
      SELECT 'incident' AS span, 1 AS calls, model, role, cost_usd, input_tokens, cache_read_tokens, cache_write_tokens,
             cache_write_1h_tokens, output_tokens, thinking_tokens
        FROM usage WHERE incident_id = ${incidentId}
      UNION ALL
      SELECT span, calls, model, role, cost_usd, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens,
             output_tokens, thinking_tokens
        FROM (VALUES ('today', 0), ('thirty days', 29)) AS spans (span, before), usage_day
       WHERE day BETWEEN (SELECT day FROM today) - before AND (SELECT day FROM today))
    SELECT span, model, role, sum(calls)::float8 AS calls, sum(cost_usd)::float8 AS usd, sum(input_tokens)::float8 AS "inputTokens",
           sum(cache_read_tokens)::float8 AS "cacheReadTokens", sum(cache_write_tokens)::float8 AS "cacheWriteTokens",
           sum(cache_write_1h_tokens)::float8 AS "cacheWrite1hTokens", sum(output_tokens)::float8 AS "outputTokens",
           sum(thinking_tokens)::float8 AS "thinkingTokens"
      FROM span GROUP BY span, model, role ORDER BY sum(cost_usd) DESC, model, role`;
  const sumOf = (of: string): CostSum =>
    summed(rows.flatMap(({ span, ...share }) => (span === of ? [share] : [])));
  return {
    incident: incidentId === null ? null : { id: incidentId, ...sumOf('incident') },
    today: sumOf('today'),
    thirtyDays: sumOf('thirty days'),
  };
}

function summed(by: readonly CostShare[]): CostSum {
  const sum = (of: (each: CostShare) => number): number => by.reduce((total, each) => total + of(each), 0);
  return {
    usd: sum((each) => each.usd),
    calls: sum((each) => each.calls),
    inputTokens: sum((each) => each.inputTokens),
    cacheReadTokens: sum((each) => each.cacheReadTokens),
    cacheWriteTokens: sum((each) => each.cacheWriteTokens),
    cacheWrite1hTokens: sum((each) => each.cacheWrite1hTokens),
    outputTokens: sum((each) => each.outputTokens),
    thinkingTokens: sum((each) => each.thinkingTokens),
    by,
  };
}

/** For people: each span a line, and below it what it is made of. */
/** Of its incident alone. */
export const incidentCost = ({ incident }: CostReport): readonly string[] =>
  incident ? spanLines(incident.id, incident) : [];

export function costLines(report: CostReport): readonly string[] {
  const { today, thirtyDays } = report;
  return [...incidentCost(report), ...spanLines('Today (UTC)', today), ...spanLines('30 days', thirtyDays)];
}

function spanLines(name: string, sum: CostSum): readonly string[] {
  if (sum.calls === 0) return [`${name}: $0.00, no model was used`];
  const prompt = sum.inputTokens + sum.cacheReadTokens + sum.cacheWriteTokens;
  const cached = Math.round((100 * sum.cacheReadTokens) / Math.max(1, prompt));
  return [
    `${name}: ${usd(sum.usd)} in ${count(sum.calls, 'call')}; ${tokens(prompt)} read (${cached} % from the cache), ${tokens(sum.outputTokens)} written (${tokens(sum.thinkingTokens)} of it thinking)`,
    ...sum.by.map(
      ({ model, role, ...each }) => `  • ${role}, ${model}: ${usd(each.usd)} in ${count(each.calls, 'call')}`,
    ),
  ];
}

/** To the cent; what is less than one is not nothing. */
export function usd(amount: number): string {
  return amount > 0 && amount < 0.005 ? 'under $0.01' : `$${amount.toFixed(2)}`;
}

function tokens(n: number): string {
  if (n < 1_000) return `${n} tokens`;
  return n < 999_500 ? `${Math.round(n / 1_000)}k tokens` : `${(n / 1_000_000).toFixed(1)}M tokens`;
}
