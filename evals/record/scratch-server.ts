import postgres, { type Sql } from 'postgres';
import { clientSession, endSessions, leaveRunning } from '../../playground/faults/postgres/client-session.ts';
import { until } from '../../playground/faults/until.ts';
import type { Log } from '../../src/core/log.ts';
import { startEmbeddedPostgres } from '../../src/infra/db/embedded/start-embedded-postgres.ts';
import type { ServerKind } from './fault-case.ts';

/** A PostgreSQL of its own, with a table `orders` and the two roles that Sentry may be given. */
export interface ScratchServer {
  readonly admin: Sql;
  /** As superuser, for what replicates. */
  readonly adminUrl: string;
  readonly appUrl: string;
  /** With pg_monitor, as documented. */
  readonly readUrl: string;
  /** A role that was granted nothing: sees neither other sessions' statements nor files. */
  readonly blindUrl: string;
  /** A session of an application; ended by `calm`. */
  client(application: string): Sql;
  /** Sends a statement that hangs or runs on. */
  leave(session: Sql, statement: string): void;
  until(what: string, sql: string): Promise<void>;
  /** Ends all clients and rolls back what they prepared. */
  calm(): Promise<void>;
  stop(): Promise<void>;
}

const logical = { max_connections: '40', wal_level: 'logical' };
const common = { fsync: 'off', timezone: 'UTC', autovacuum_naptime: '1h', max_prepared_transactions: '5' };

/** What makes a fault come quickly there, and nothing else. */
const settingsOf: Readonly<Record<ServerKind, Readonly<Record<string, string>>>> = {
  plain: { ...common, ...logical, shared_preload_libraries: 'pg_stat_statements' },
  replica: { ...common, ...logical },
  small: { ...common, shared_buffers: '2MB', max_wal_size: '32MB', min_wal_size: '32MB', jit: 'off' },
  old: { ...common, autovacuum_freeze_max_age: '100000', autovacuum: 'off', synchronous_commit: 'off' },
  archiving: { ...common, archive_mode: 'on', archive_command: 'false', max_wal_size: '64MB' },
};

export async function startScratchServer(
  kind: ServerKind,
  dataDir: string,
  log: Log,
): Promise<ScratchServer> {
  const server = await startEmbeddedPostgres({ dataDir, name: 'orders-db', log, settings: settingsOf[kind] });
  const admin = postgres(server.url, {
    max: 1,
    prepare: false,
    onnotice: () => undefined,
    connection: { application_name: 'postgres-exporter' },
  });
  await admin.unsafe(`
    CREATE ROLE app LOGIN PASSWORD 'app'; CREATE ROLE sentry_read LOGIN PASSWORD 'sentry_read';
    CREATE ROLE sentry_blind LOGIN PASSWORD 'sentry_blind';
    GRANT pg_monitor, pg_read_all_data TO sentry_read;
    GRANT CREATE ON SCHEMA public TO app;
    CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL, note text NOT NULL DEFAULT 'new');
    INSERT INTO orders SELECT n, n % 500 FROM generate_series(1, 20000) n;
    ALTER TABLE orders OWNER TO app; ANALYZE;`);
  if (kind === 'plain') await admin.unsafe('CREATE EXTENSION pg_stat_statements');
  const as = (role: string): string => {
    const url = new URL(server.url);
    url.username = role;
    url.password = role;
    return url.href;
  };
  const clients: Sql[] = [];
  return {
    admin,
    adminUrl: server.url,
    appUrl: as('app'),
    readUrl: as('sentry_read'),
    blindUrl: as('sentry_blind'),
    client(application) {
      const session = clientSession(as('app'), application);
      clients.push(session);
      return session;
    },
    leave: leaveRunning,
    until: (what, sql) => until(what, async () => (await admin.unsafe(sql))[0]?.['ok'] === true),
    async calm() {
      await endSessions(clients.splice(0));
      await admin`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                   WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
      for (const { gid } of await admin<{ gid: string }[]>`SELECT gid FROM pg_prepared_xacts`)
        await admin.unsafe(`ROLLBACK PREPARED '${gid.replaceAll("'", "''")}'`);
      for (const { slot_name } of await admin<
        { slot_name: string }[]
      >`SELECT slot_name FROM pg_replication_slots`)
        await admin`SELECT pg_drop_replication_slot(${slot_name})`;
    },
    async stop() {
      await endSessions(clients.splice(0));
      await admin.end({ timeout: 2 });
      await server.stop();
    },
  };
}
