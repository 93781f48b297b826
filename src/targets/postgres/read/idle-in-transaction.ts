import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt } from '../../../core/measure.ts';
import { age, more, oneLine, table } from '../../format.ts';
import { output, postgresReadTool } from './postgres-read-tool.ts';
import {
  hiddenLine,
  hiddenSessions,
  hidesBelow,
  hidesSessions,
  sessionColumns,
  sessionFacts,
} from './session-columns.ts';

const kept = 50;

/**
 * Sessions that opened a transaction and do nothing. Data: `{ min_seconds, idle_count, longest_seconds, oldest: row|null,
 * sessions: (facts & { locks_held, blocks_count, has_written, holds_back_vacuum })[], timeout_ms, hidden_count }`, the longest
 * idle first; `timeout_ms` is idle_in_transaction_session_timeout, 0 for none; `hidden_count` sessions may not be seen.
 */
export const postgresIdleInTransaction = postgresReadTool({
  name: 'postgres_idle_in_transaction',
  description:
    'Sessions idle in transaction for at least min_seconds (default 30): pid, backend_start, how long idle, what they hold (locks, waiting sessions, written rows, xmin that holds back vacuum), and idle_in_transaction_session_timeout.',
  measures: [
    measureAt('idle_count', {
      name: 'idle_in_transaction',
      label: 'sessions idle in a transaction',
      well: '{bound} are idle in a transaction',
      unit: 'sessions',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
      isPartial: hidesSessions,
    }),
    measureAt('longest_seconds', {
      name: 'longest_idle_in_transaction',
      label: 'longest time idle in a transaction',
      well: 'the longest idle transaction lasts {bound}',
      unit: 's',
      healthy: 'at_most',
      bound: 30,
      intermittent: true,
      isPartial: hidesBelow,
    }),
  ],
  input: z.strictObject({ min_seconds: z.number().min(0).max(1_000_000).default(30) }),
  async read(session, { min_seconds }) {
    const rows = await session.query(
      `SELECT ${sessionColumns},
              (SELECT count(*)::int FROM pg_locks l WHERE l.pid = a.pid AND l.granted) AS locks_held,
              (SELECT count(*)::int FROM pg_stat_activity o
                WHERE o.wait_event_type = 'Lock' AND a.pid = ANY (pg_blocking_pids(o.pid))) AS blocks_count,
              a.backend_xid IS NOT NULL AS has_written, a.backend_xmin IS NOT NULL AS holds_back_vacuum
         FROM pg_stat_activity a
        WHERE a.state LIKE 'idle in transaction%'
          AND a.state_change <= clock_timestamp() - $1::float8 * interval '1 second'
        ORDER BY a.state_change LIMIT 500`,
      [min_seconds],
    );
    const [setting] = await session.query(
      // Sentry's own session has set one for itself; reset_val is the others'.
      `SELECT reset_val::int AS ms FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'`,
    );
    const sessions = rows
      .map((row) => ({
        ...sessionFacts(row),
        locks_held: Number(row['locks_held']),
        blocks_count: Number(row['blocks_count']),
        has_written: row['has_written'] === true,
        holds_back_vacuum: row['holds_back_vacuum'] === true,
      }))
      .filter((facts) => !facts.is_sentry);
    const data = {
      min_seconds,
      idle_count: sessions.length,
      longest_seconds: sessions[0]?.state_age_seconds ?? 0,
      oldest: sessions[0] ?? null,
      sessions: sessions.slice(0, kept),
      timeout_ms: Number(setting?.['ms'] ?? 0),
      hidden_count: await hiddenSessions(session),
    };
    const timeout =
      data.timeout_ms === 0 ? 'off: they stay until they end by themselves' : `${data.timeout_ms} ms`;
    return output(
      [
        `${count(sessions.length, 'session')} idle in transaction for ${age(min_seconds)} or more; longest ${age(data.longest_seconds)}. idle_in_transaction_session_timeout is ${timeout}.`,
        ...table(
          [
            'pid',
            'backend_start',
            'idle for',
            'transaction',
            'locks',
            'blocks',
            'wrote',
            'application',
            'user',
            'last statement',
          ],
          sessions
            .slice(0, 15)
            .map((facts) => [
              facts.pid,
              facts.backend_start,
              age(facts.state_age_seconds),
              age(facts.xact_age_seconds),
              facts.locks_held,
              facts.blocks_count,
              facts.has_written ? 'yes' : 'no',
              facts.application_name || '–',
              facts.user,
              oneLine(facts.query, 120),
            ]),
        ),
        ...more(sessions.length, 15),
        ...hiddenLine(data.hidden_count),
      ],
      data,
    );
  },
});
