import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt, numberAt } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import { age, more, oneLine, table } from '../../format.ts';
import { output, postgresReadTool } from './postgres-read-tool.ts';
import {
  hiddenAmong,
  hiddenLine,
  hidesSessions,
  isClientSession,
  sessionColumns,
  sessionFacts,
} from './session-columns.ts';
import { longestQuery, longestTransaction } from './session-measures.ts';

const MAX_SESSIONS = 2_000;

/** Some sessions, or what they do, were not seen: a number over all of them is at least so high. */
export const isPartial = (data: Json): boolean => hidesSessions(data) || numberAt(data, 'complete') === 0;

/**
 * What every session does now, busiest first. Data: `{ total, active, idle, idle_in_transaction, waiting_on_lock,
 * longest_transaction_seconds, longest_query_seconds, hidden_count, complete, sessions: facts[] }`; the counts are over all
 * client sessions but Sentry's own (`complete` false: over the first 2000), `sessions` holds at most `limit`; of `hidden_count` sessions the role may not see what they do.
 */
export const postgresActivity = postgresReadTool({
  name: 'postgres_activity',
  description:
    'What the sessions of the server do now: counts by state and the busiest sessions with pid, backend_start, state, wait event, ages in seconds and query. The first look when nothing more specific fits.',
  measures: [
    measureAt('waiting_on_lock', {
      name: 'sessions_waiting_on_lock',
      label: 'sessions waiting for a lock',
      well: '{bound} wait for a lock',
      unit: 'sessions',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
      isPartial,
    }),
    measureAt('longest_query_seconds', { ...longestQuery, isPartial }),
    measureAt('longest_transaction_seconds', { ...longestTransaction, isPartial }),
  ],
  input: z.strictObject({
    include_idle: z.boolean().default(false),
    limit: z.number().int().min(1).max(100).default(20),
  }),
  async read(session, { include_idle, limit }) {
    const rows = await session.query(`
      SELECT ${sessionColumns} FROM pg_stat_activity a
       WHERE ${isClientSession('a')} AND a.pid <> pg_backend_pid()
       ORDER BY a.state = 'active' DESC NULLS LAST, a.state LIKE 'idle in%' DESC, a.xact_start NULLS LAST
       LIMIT ${MAX_SESSIONS}`);
    const all = rows.map(sessionFacts).filter((facts) => !facts.is_sentry);
    const running = all.filter((facts) => facts.state === 'active');
    const shown = all.filter((facts) => include_idle || facts.state !== 'idle').slice(0, limit);
    const data = {
      total: all.length,
      active: running.length,
      idle: all.filter((facts) => facts.state === 'idle').length,
      idle_in_transaction: all.filter((facts) => facts.state?.startsWith('idle in transaction')).length,
      waiting_on_lock: all.filter((facts) => facts.wait_event_type === 'Lock').length,
      longest_transaction_seconds: Math.max(0, ...all.map((facts) => facts.xact_age_seconds ?? 0)),
      longest_query_seconds: Math.max(0, ...running.map((facts) => facts.query_age_seconds ?? 0)),
      hidden_count: hiddenAmong(all),
      complete: rows.length < MAX_SESSIONS,
      sessions: shown,
    };
    return output(
      [
        `${count(data.total, 'session')}: ${data.active} active, ${data.idle} idle, ${data.idle_in_transaction} idle in transaction, ${data.waiting_on_lock} waiting for a lock; longest transaction ${age(data.longest_transaction_seconds)}, longest running query ${age(data.longest_query_seconds)}.`,
        ...table(
          [
            'pid',
            'backend_start',
            'application',
            'user@db',
            'state',
            'wait',
            'transaction',
            'query for',
            'query',
          ],
          shown.map((facts) => [
            facts.pid,
            facts.backend_start,
            facts.application_name || '–',
            `${facts.user}@${facts.database}`,
            facts.state,
            facts.wait_event_type === null ? '–' : `${facts.wait_event_type}:${facts.wait_event}`,
            age(facts.xact_age_seconds),
            age(facts.query_age_seconds),
            oneLine(facts.query, 120),
          ]),
        ),
        ...more(include_idle ? all.length : all.length - data.idle, shown.length),
        ...(data.complete ? [] : [`There are more than ${MAX_SESSIONS} sessions: the rest is not counted.`]),
        ...hiddenLine(data.hidden_count),
      ],
      data,
    );
  },
});
