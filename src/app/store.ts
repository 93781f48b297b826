import { join } from 'node:path';
import { type Config } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { endAbandonedTransactions } from '../infra/db/abandoned-transactions.ts';
import { alone } from '../infra/db/alone.ts';
import { type Database, openDatabase } from '../infra/db/client.ts';
import { embeddedPostgres } from '../infra/db/embedded/start-embedded-postgres.ts';
import { migrateDatabase } from '../infra/db/migrate.ts';
import { recordFault } from '../infra/db/record-fault.ts';
import { grantWriterRole } from '../infra/db/writer-role.ts';
import { migrateEngine } from '../infra/dbos/enqueue-function.ts';
import { keepRunning } from '../infra/supervisor/keep-running.ts';
import { startChild } from '../infra/supervisor/start-child.ts';

/** Eight threads are drawn side by side, most of the time waiting for Slack. */
const SLACK_CONNECTIONS = 5;

/** The record's database, ready to use. */
export interface Store extends Database {
  readonly url: string;
  /**
   * The same through connections of its own, for what people see and press in Slack: while forty investigations share the others, a
   * message would wait for one at each of its statements. Opened when first asked for.
   */
  forSlack(): Promise<Sql>;
  /** Names of the migrations this start applied. */
  readonly applied: readonly string[];
  /** Closes the pool and, where it is ours and nobody else uses it, the server. */
  stop(): Promise<void>;
}

/** Opens DATABASE_URL, or starts the embedded PostgreSQL under the data folder; migrates either. */
export async function openStore(
  config: Config,
  log: Log,
  options: { readonly keep?: boolean } = {},
): Promise<Store> {
  const server = config.databaseUrl === null ? await startServer(config, log, options.keep ?? false) : null;
  const url = config.databaseUrl ?? server?.url ?? '';
  try {
    const { applied, role } = await alone(url, () => prepare(url, log));
    const database = openDatabase(url, { role });
    // The driver learns the types of arrays with its first statement.
    await database.sql`SELECT 1`;
    const forSlack = openDatabase(url, { role, max: SLACK_CONNECTIONS, name: 'sentry slack' });
    return {
      ...database,
      async forSlack() {
        await forSlack.sql`SELECT 1`;
        return forSlack.sql;
      },
      url,
      applied,
      stop: async () => {
        await Promise.all([database.close(), forSlack.close()]);
        await server?.stop();
      },
    };
  } catch (error) {
    await server?.stop();
    throw config.databaseUrl === null ? error : recordFault(error);
  }
}

/** Brings the database up to date: what the record needs, then the engine, then what the bot may do with both. */
async function prepare(url: string, log: Log) {
  const applied = await migrateDatabase(url, join(packageRoot(), 'prisma', 'migrations'));
  const owner = openDatabase(url, { max: 1 });
  await migrateEngine(url, owner.sql).finally(() => owner.close());
  await endAbandonedTransactions(url, log);
  return { applied, role: await grantWriterRole(url, log) };
}

/** `keep`: restarted whenever it dies, for the long-running bot; a command needs it only for a moment. */
async function startServer(config: Config, log: Log, keep: boolean) {
  const spec = embeddedPostgres({ dataDir: join(config.dataDir, 'postgres'), name: 'sentry', log });
  if (!keep) return startChild(spec);
  const kept = await keepRunning(spec);
  return { url: kept.current().url, stop: kept.stop };
}
