import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt } from '../../../core/measure.ts';
import { age, more, oneLine, percent, table } from '../../format.ts';
import type { PostgresSession } from '../system.ts';
import { output, postgresReadTool, serverVersion } from './postgres-read-tool.ts';
import { hiddenAmong, hiddenLine, isClientSession, sessionColumns, sessionFacts } from './session-columns.ts';

/**
 * Connections against the limit. Data: `{ max_connections, superuser_reserved, reserved, usable, used, free, used_percent,
 * full, idle_count, idle_in_transaction_count, by_state: [{state, sessions}], by_user: [{user, sessions}],
 * by_application: [{application_name, user, sessions, idle, idle_in_transaction, longest_idle_seconds}],
 * top_application: that|null, longest_idle: facts[], hidden_count }`; hidden sessions are connected, in a state nobody sees. `used` counts client sessions, Sentry's own included;
 * `usable` is what ordinary roles can have; percent is of `usable`.
 */
export const postgresConnections = postgresReadTool({
  name: 'postgres_connections',
  description:
    'Connections by state, user and application against max_connections, with the percentage used and the sessions idle longest (pid, backend_start). For refused connections and leaks.',
  measures: [
    measureAt('used_percent', {
      name: 'connections_used_percent',
      label: 'usable connections in use',
      well: '{bound} of the usable connections are in use',
      unit: '%',
      healthy: 'at_most',
      bound: 80,
    }),
    measureAt('free', {
      name: 'free_connections',
      label: 'free connections',
      well: '{bound} are free',
      unit: 'connections',
      healthy: 'at_least',
      bound: 1,
    }),
    measureAt('used', {
      name: 'connections_used',
      label: 'connections in use',
      well: '{bound} are in use',
      unit: 'connections',
      healthy: 'at_most',
      // How many are too many only a rule knows that counts them: by themselves they are judged against the limit, above.
      bound: Number.POSITIVE_INFINITY,
      metrics: ['pg_stat_activity_count', 'pg_stat_database_numbackends'],
    }),
  ],
  input: z.strictObject({}),
  async read(session) {
    const limits = await readLimits(session);
    const rows = await session.query(`
      SELECT ${sessionColumns} FROM pg_stat_activity a
       WHERE ${isClientSession('a')} ORDER BY a.state_change`);
    const all = rows.map(sessionFacts);
    const byState = tally(all, (facts) => facts.state ?? 'hidden');
    const byUser = tally(all, (facts) => facts.user ?? 'unknown');
    const applications = [
      ...groups(all, (facts) => `${facts.application_name ?? ''}\n${facts.user}`).values(),
    ]
      .map((sessions) => {
        const idle = sessions.filter((facts) => facts.state === 'idle');
        return {
          application_name: sessions[0]?.application_name ?? '',
          user: sessions[0]?.user ?? null,
          sessions: sessions.length,
          idle: idle.length,
          idle_in_transaction: sessions.filter((facts) => facts.state?.startsWith('idle in')).length,
          longest_idle_seconds: Math.max(0, ...idle.map((facts) => facts.state_age_seconds ?? 0)),
        };
      })
      .sort((a, b) => b.sessions - a.sessions);
    const idlest = all.filter((facts) => facts.state === 'idle' && !facts.is_sentry);
    const data = {
      ...limits,
      used: all.length,
      free: Math.max(0, limits.usable - all.length),
      used_percent: Math.round((1_000 * all.length) / Math.max(1, limits.usable)) / 10,
      full: all.length >= limits.usable,
      idle_count: all.filter((facts) => facts.state === 'idle').length,
      idle_in_transaction_count: all.filter((facts) => facts.state?.startsWith('idle in')).length,
      by_state: byState.map(([state, sessions]) => ({ state, sessions })),
      by_user: byUser.map(([user, sessions]) => ({ user, sessions })),
      by_application: applications.slice(0, 30),
      top_application: applications[0] ?? null,
      longest_idle: idlest.slice(0, 20),
      hidden_count: hiddenAmong(all.filter((facts) => !facts.is_sentry)),
    };
    return output(
      [
        `${data.used} of ${data.usable} usable connections (${percent(data.used_percent)})${data.full ? ', FULL: ordinary roles are refused' : `, ${data.free} free`}; max_connections ${data.max_connections}, of which reserved for superusers ${data.superuser_reserved}, by reserved_connections ${data.reserved}.`,
        `by state: ${byState.map(([state, n]) => `${state} ${n}`).join(', ')}`,
        `by user: ${byUser.map(([user, n]) => `${user} ${n}`).join(', ')}`,
        ...table(
          ['application', 'user', 'sessions', 'idle', 'idle in transaction', 'longest idle'],
          applications
            .slice(0, 10)
            .map((app) => [
              app.application_name || '–',
              app.user,
              app.sessions,
              app.idle,
              app.idle_in_transaction,
              age(app.longest_idle_seconds),
            ]),
        ),
        ...more(applications.length, 10),
        ...(idlest.length > 0 ? [`${count(idlest.length, 'idle session')}, longest idle first:`] : []),
        ...table(
          ['pid', 'backend_start', 'idle for', 'application', 'last statement'],
          idlest
            .slice(0, 5)
            .map((facts) => [
              facts.pid,
              facts.backend_start,
              age(facts.state_age_seconds),
              facts.application_name || '–',
              oneLine(facts.query, 80),
            ]),
        ),
        ...hiddenLine(data.hidden_count),
      ],
      data,
    );
  },
});

async function readLimits(
  session: PostgresSession,
): Promise<{ max_connections: number; superuser_reserved: number; reserved: number; usable: number }> {
  const hasReserved = (await serverVersion(session)) >= 160_000;
  const [row] = await session.query(`
    SELECT current_setting('max_connections')::int AS max,
           current_setting('superuser_reserved_connections')::int AS superuser,
           ${hasReserved ? `current_setting('reserved_connections')::int` : '0'} AS reserved`);
  const [max, superuser, reserved] = [
    Number(row?.['max']),
    Number(row?.['superuser']),
    Number(row?.['reserved']),
  ];
  return {
    max_connections: max,
    superuser_reserved: superuser,
    reserved,
    usable: max - superuser - reserved,
  };
}

function groups<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) found.set(key(item), [...(found.get(key(item)) ?? []), item]);
  return found;
}

function tally<T>(items: readonly T[], key: (item: T) => string): readonly (readonly [string, number])[] {
  return [...groups(items, key)]
    .map(([name, members]) => [name, members.length] as const)
    .sort((a, b) => b[1] - a[1]);
}
