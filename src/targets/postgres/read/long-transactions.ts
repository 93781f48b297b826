import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt } from '../../../core/measure.ts';
import { age, more, oneLine, table } from '../../format.ts';
import { output, postgresReadTool } from './postgres-read-tool.ts';
import {
  hiddenLine,
  hiddenSessions,
  hidesBelow,
  isClientSession,
  type SessionFacts,
  sessionColumns,
  sessionFacts,
} from './session-columns.ts';
import { longestQuery, longestTransaction } from './session-measures.ts';

const kept = 50;
const shown = 10;

/**
 * Transactions and running queries older than `min_seconds`, oldest first. Data: `{ min_seconds, transaction_count,
 * query_count, oldest_transaction_seconds, oldest_query_seconds, oldest_transaction: facts|null,
 * oldest_query: facts|null, transactions: facts[], queries: facts[], prepared_count, hidden_count }`. A session that runs a long query
 * is in both. Maintenance (autovacuum, parallel workers) and Sentry itself are left out.
 */
export const postgresLongTransactions = postgresReadTool({
  name: 'postgres_long_transactions',
  description:
    'Transactions and running queries older than min_seconds (default 60), oldest first, with pid, backend_start, ages in seconds, state and query. For runaway queries, forgotten transactions, and vacuum that cannot clean up.',
  measures: [
    measureAt('oldest_query_seconds', { ...longestQuery, isPartial: hidesBelow }),
    measureAt('oldest_transaction_seconds', { ...longestTransaction, isPartial: hidesBelow }),
  ],
  input: z.strictObject({ min_seconds: z.number().min(0).max(1_000_000).default(60) }),
  async read(session, { min_seconds }) {
    const rows = await session.query(
      `SELECT ${sessionColumns} FROM pg_stat_activity a
        WHERE ${isClientSession('a')} AND a.pid <> pg_backend_pid()
          AND (a.xact_start < clock_timestamp() - $1::float8 * interval '1 second'
               OR a.state = 'active' AND a.query_start < clock_timestamp() - $1::float8 * interval '1 second')
        ORDER BY a.xact_start NULLS LAST`,
      [min_seconds],
    );
    const [prepared] = await session.query('SELECT count(*)::int AS n FROM pg_prepared_xacts');
    const all = rows.map(sessionFacts).filter((facts) => !facts.is_sentry);
    const transactions = all.filter((facts) => (facts.xact_age_seconds ?? -1) >= min_seconds);
    const queries = all
      .filter((facts) => facts.state === 'active' && (facts.query_age_seconds ?? -1) >= min_seconds)
      .sort((a, b) => (b.query_age_seconds ?? 0) - (a.query_age_seconds ?? 0));
    const data = {
      min_seconds,
      transaction_count: transactions.length,
      query_count: queries.length,
      oldest_transaction_seconds: transactions[0]?.xact_age_seconds ?? 0,
      oldest_query_seconds: queries[0]?.query_age_seconds ?? 0,
      oldest_transaction: transactions[0] ?? null,
      oldest_query: queries[0] ?? null,
      transactions: transactions.slice(0, kept),
      queries: queries.slice(0, kept),
      prepared_count: Number(prepared?.['n']),
      hidden_count: await hiddenSessions(session),
    };
    return output(
      [
        `${count(transactions.length, 'transaction')} and ${queries.length} running ${queries.length === 1 ? 'query' : 'queries'} older than ${age(min_seconds)}; prepared transactions: ${data.prepared_count}.`,
        ...section('oldest queries:', queries, (facts) => facts.query_age_seconds),
        ...section('oldest transactions:', transactions, (facts) => facts.xact_age_seconds),
        ...hiddenLine(data.hidden_count),
      ],
      data,
    );
  },
});

function section(
  title: string,
  sessions: readonly SessionFacts[],
  seconds: (facts: SessionFacts) => number | null,
): readonly string[] {
  if (sessions.length === 0) return [];
  return [
    title,
    ...table(
      ['pid', 'backend_start', 'age', 'state', 'wait', 'application', 'query'],
      sessions
        .slice(0, shown)
        .map((facts) => [
          facts.pid,
          facts.backend_start,
          age(seconds(facts)),
          facts.state,
          facts.wait_event_type === null ? '–' : `${facts.wait_event_type}:${facts.wait_event}`,
          facts.application_name || '–',
          oneLine(facts.query, 160),
        ]),
    ),
    ...more(sessions.length, shown),
  ];
}
