import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import { age, more, oneLine, table } from '../../format.ts';
import { output, postgresReadTool, rowsAsJson, serverVersion } from './postgres-read-tool.ts';
import { relationName } from './relation-size.ts';
import { exactTime, secondsSince } from './session-columns.ts';

/**
 * Locks on tables and transactions. Data: `{ lock_count, waiting_count, exclusive_count, locks: [{ pid, backend_start,
 * application_name, state, lock_type, mode, granted, relation, wait_seconds, xact_age_seconds, query }],
 * by_mode: [{ mode, granted, locks }] }`. Waiting ones first, then the strongest; `relation` is null for other databases.
 */
export const postgresLocks = postgresReadTool({
  name: 'postgres_locks',
  description:
    'Locks held and awaited, with mode, table, pid, backend_start and wait in seconds; waiting and strongest first. Narrow it with table or waiting_only. For who blocks whom use postgres_blocking_tree.',
  measures: [
    measureAt('waiting_count', {
      name: 'waiting_locks',
      label: 'locks waited for',
      well: '{bound} are waited for',
      unit: 'locks',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
    }),
  ],
  input: z.strictObject({
    table: z.string().min(1).max(200).optional(),
    waiting_only: z.boolean().default(false),
    limit: z.number().int().min(1).max(200).default(30),
  }),
  async read(session, { table: name, waiting_only, limit }) {
    const waitstart = (await serverVersion(session)) >= 140_000 ? 'l.waitstart' : 'NULL::timestamptz';
    const rows = rowsAsJson(
      await session.query(
        `SELECT l.pid, ${exactTime('a.backend_start')} AS backend_start, a.application_name, a.state,
                l.locktype AS lock_type, l.mode, l.granted, ${relationName('c.oid')} AS relation,
                CASE WHEN NOT l.granted THEN ${secondsSince(`coalesce(${waitstart}, a.query_start)`)} END AS wait_seconds,
                ${secondsSince('a.xact_start')} AS xact_age_seconds, left(a.query, 1000) AS query,
                count(*) OVER ()::int AS total
           FROM pg_locks l
           LEFT JOIN pg_stat_activity a ON a.pid = l.pid
           LEFT JOIN pg_class c ON c.oid = l.relation
                 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          WHERE l.locktype <> 'virtualxid' AND l.pid IS DISTINCT FROM pg_backend_pid()
            AND (c.oid IS NULL OR c.relkind <> 'i' OR NOT l.granted)
            AND ($1::text IS NULL OR c.relname = $1::text OR ${relationName('c.oid')} = $1::text)
            AND (NOT $2::boolean OR NOT l.granted)
          ORDER BY l.granted, position('Exclusive' IN l.mode) = 0, l.mode <> 'AccessExclusiveLock', a.xact_start
          LIMIT $3::int`,
        [name ?? null, waiting_only, limit],
      ),
    );
    const modes = rowsAsJson(
      await session.query(`SELECT mode, granted, count(*)::int AS locks FROM pg_locks
        WHERE locktype <> 'virtualxid' AND pid IS DISTINCT FROM pg_backend_pid() GROUP BY 1, 2 ORDER BY 2, 3 DESC`),
    );
    const total = Number(rows[0]?.['total'] ?? 0);
    const locks = rows.map(
      ({ total: _total, ...row }) =>
        ({ ...row, query: oneLine(row['query']) }) as {
          readonly [key: string]: string | number | boolean | null;
        },
    );
    const sum = (matching: (mode: { readonly [key: string]: unknown }) => boolean): number =>
      modes.filter(matching).reduce((n, mode) => n + Number(mode['locks']), 0);
    const data = {
      lock_count: total,
      waiting_count: sum((mode) => mode['granted'] === false),
      exclusive_count: sum((mode) => mode['granted'] === true && mode['mode'] === 'AccessExclusiveLock'),
      locks,
      by_mode: modes,
    };
    return output(
      [
        `${total} locks match, ${data.waiting_count} on the server are not granted, ${data.exclusive_count} AccessExclusiveLock held.`,
        ...table(
          ['pid', 'backend_start', 'mode', 'on', 'state', 'waits', 'application', 'query'],
          locks
            .slice(0, 20)
            .map((lock) => [
              lock['pid'],
              lock['backend_start'],
              lock['mode'],
              lock['relation'] ?? lock['lock_type'],
              lock['granted'] === true ? 'held' : 'WAITING',
              age(lock['wait_seconds']),
              lock['application_name'] || '–',
              oneLine(lock['query'], 80),
            ]),
        ),
        ...more(total, Math.min(20, locks.length)),
      ],
      data,
    );
  },
});
