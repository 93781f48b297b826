import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { table } from '../../format.ts';
import { output, postgresReadTool, rowsAsJson } from './postgres-read-tool.ts';

/**
 * Deadlock counts. Data: `{ deadlocks, deadlocks_per_hour, databases: [{ database, deadlocks, rollbacks, commits,
 * rollback_percent, conflicts, stats_reset, hours }], deadlock_timeout_ms, log_lock_waits }`; counts since each database's
 * `stats_reset` (`hours` ago), or since it was made. PostgreSQL writes who deadlocked to its log only.
 */
export const postgresDeadlocks = postgresReadTool({
  name: 'postgres_deadlocks',
  description:
    'Deadlocks, rollbacks and recovery conflicts per database since its statistics began, the rate per hour, and deadlock_timeout and log_lock_waits. The statements involved stand in the server log only.',
  input: z.strictObject({}),
  counters: [
    'deadlocks',
    'databases.*.deadlocks',
    'databases.*.rollbacks',
    'databases.*.commits',
    'databases.*.conflicts',
  ],
  async read(session) {
    const databases = rowsAsJson(
      await session.query(`
        SELECT datname::text AS database, deadlocks, xact_rollback AS rollbacks, xact_commit AS commits, conflicts,
               CASE WHEN xact_commit + xact_rollback > 0 THEN round(100.0 * xact_rollback / (xact_commit + xact_rollback), 1) ELSE 0 END AS rollback_percent,
               stats_reset::text, round(extract(epoch FROM clock_timestamp() - coalesce(stats_reset, pg_postmaster_start_time()))::numeric / 3600, 2) AS hours
          FROM pg_stat_database WHERE datname IS NOT NULL ORDER BY deadlocks DESC, datname LIMIT 50`),
    );
    const [settings] = await session.query(`
      SELECT (SELECT setting::int FROM pg_settings WHERE name = 'deadlock_timeout') AS timeout_ms,
             current_setting('log_lock_waits') = 'on' AS log_waits`);
    const total = databases.reduce((sum, row) => sum + Number(row['deadlocks']), 0);
    const rate = databases.reduce(
      (sum, row) => sum + Number(row['deadlocks']) / Math.max(0.01, Number(row['hours'])),
      0,
    );
    const data = {
      deadlocks: total,
      deadlocks_per_hour: Math.round(rate * 100) / 100,
      databases,
      deadlock_timeout_ms: Number(settings?.['timeout_ms']),
      log_lock_waits: settings?.['log_waits'] === true,
    };
    return output(
      [
        `${count(total, 'deadlock')} counted, ${data.deadlocks_per_hour} per hour; deadlock_timeout ${data.deadlock_timeout_ms} ms, log_lock_waits ${data.log_lock_waits ? 'on' : 'off'}.`,
        ...table(
          ['database', 'deadlocks', 'rollbacks', 'rollback share', 'conflicts', 'hours counted'],
          databases
            .slice(0, 10)
            .map((row) => [
              row['database'],
              row['deadlocks'],
              row['rollbacks'],
              `${row['rollback_percent']}%`,
              row['conflicts'],
              row['hours'],
            ]),
        ),
        'The sessions and statements of each deadlock are in the server log ("deadlock detected").',
      ],
      data,
    );
  },
});
