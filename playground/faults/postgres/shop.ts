import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { z } from 'zod';
import type { Log } from '../../../src/core/log.ts';
import { startEmbeddedPostgres } from '../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { readStateFile, writeStateFile } from '../../../src/infra/process/state-file.ts';

/** The system under care: a small shop in a PostgreSQL of its own. */
export interface Shop {
  /** Superuser, over the slots reserved for that: works when the shop's own are used up. */
  readonly admin: Sql;
  readonly appUrl: string;
  /** For Sentry: reads everything about the server and the shop's tables. */
  readonly readUrl: string;
  /** For Sentry: ends sessions, vacuums, changes some settings. */
  readonly actUrl: string;
  readonly database: string;
  stop(): Promise<void>;
}

/** Small on purpose: exhaustion is real and quick. Ordinary roles get 25, Sentry's two more, superusers three. */
const settings = {
  max_connections: '30',
  superuser_reserved_connections: '3',
  reserved_connections: '2',
  shared_buffers: '32MB',
  shared_preload_libraries: 'pg_stat_statements',
  // A killed playground must not leave its runaway query behind.
  client_connection_check_interval: '1s',
  autovacuum_naptime: '10s',
};

const Passwords = z.object({ shop_app: z.string(), sentry_read: z.string(), sentry_act: z.string() });
type Passwords = z.infer<typeof Passwords>;

/** Starts (or adopts) shop-db and makes sure of its schema, rows and roles. Can be repeated. */
export async function startShop(dataDir: string, log: Log): Promise<Shop> {
  mkdirSync(dataDir, { recursive: true });
  const server = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'shop-db'),
    name: 'shop-db',
    log,
    settings,
  });
  const admin = postgres(server.url, {
    max: 1,
    prepare: false,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { application_name: 'prometheus-postgres-exporter' },
  });
  const passwords = rememberedPasswords(join(dataDir, 'passwords.json'));
  await makeRoles(admin, passwords);
  await makeSchema(admin);
  await makeOwner(admin);
  const as = (role: keyof Passwords): string => {
    const url = new URL(server.url);
    url.username = role;
    url.password = passwords[role];
    return url.href;
  };
  return {
    admin,
    appUrl: as('shop_app'),
    readUrl: as('sentry_read'),
    actUrl: as('sentry_act'),
    database: new URL(server.url).pathname.slice(1),
    async stop() {
      await admin.end({ timeout: 2 });
      await server.stop();
    },
  };
}

function rememberedPasswords(path: string): Passwords {
  const text = readStateFile(path);
  if (text !== undefined) return Passwords.parse(JSON.parse(text));
  const fresh = (): string => randomBytes(18).toString('base64url');
  const passwords = { shop_app: fresh(), sentry_read: fresh(), sentry_act: fresh() };
  writeStateFile(path, JSON.stringify(passwords));
  return passwords;
}

/** What a team would grant; docs/ names the same statements. */
async function makeRoles(admin: Sql, passwords: Passwords): Promise<void> {
  for (const [role, password] of Object.entries(passwords)) {
    const [found] = await admin`SELECT 1 FROM pg_roles WHERE rolname = ${role}`;
    // Made of base64url only, so it cannot end the literal.
    await admin.unsafe(
      `${found === undefined ? 'CREATE' : 'ALTER'} ROLE ${role} LOGIN PASSWORD '${password}'`,
    );
  }
  await admin.unsafe(`
    GRANT pg_monitor, pg_read_all_data, pg_use_reserved_connections TO sentry_read;
    ALTER ROLE sentry_read SET default_transaction_read_only = on;
    GRANT pg_signal_backend, pg_monitor, pg_maintain, pg_use_reserved_connections TO sentry_act;
    GRANT EXECUTE ON FUNCTION pg_reload_conf() TO sentry_act;
    GRANT ALTER SYSTEM ON PARAMETER idle_in_transaction_session_timeout, idle_session_timeout, statement_timeout,
      lock_timeout, transaction_timeout, deadlock_timeout, autovacuum, autovacuum_naptime, autovacuum_vacuum_threshold,
      autovacuum_vacuum_scale_factor, autovacuum_analyze_scale_factor, autovacuum_vacuum_cost_delay,
      autovacuum_vacuum_cost_limit, log_autovacuum_min_duration, log_min_duration_statement, log_lock_waits,
      log_checkpoints, work_mem, maintenance_work_mem, max_wal_size, checkpoint_timeout TO sentry_act`);
}

/** One multi-statement string is one transaction: a kill in the middle leaves nothing half made. */
async function makeSchema(admin: Sql): Promise<void> {
  const [found] = await admin`SELECT to_regclass('public.cart_events') IS NOT NULL AS done`;
  if (found?.['done'] === true) return;
  await admin.unsafe(`
    CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
    CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, email text NOT NULL, newsletter_sent_at timestamptz);
    CREATE TABLE products (id int PRIMARY KEY, name text NOT NULL, price_cents int NOT NULL, stock int NOT NULL);
    CREATE TABLE stock_levels (product_id int REFERENCES products, warehouse text, quantity int NOT NULL, PRIMARY KEY (product_id, warehouse));
    CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, total_cents int NOT NULL, placed_at timestamptz NOT NULL DEFAULT now());
    CREATE INDEX orders_customer ON orders (customer_id);
    CREATE TABLE order_items (order_id bigint NOT NULL REFERENCES orders ON DELETE CASCADE, product_id int NOT NULL REFERENCES products, quantity int NOT NULL, PRIMARY KEY (order_id, product_id));
    CREATE TABLE cart_events (id int PRIMARY KEY, customer_id int NOT NULL, event text NOT NULL, seen int NOT NULL DEFAULT 0);
    INSERT INTO customers SELECT n, 'Customer ' || n, 'customer' || n || '@example.com' FROM generate_series(1, 1000) n;
    INSERT INTO products SELECT n, 'Product ' || n, 100 + n * 7 % 9000, 100000 FROM generate_series(1, 200) n;
    INSERT INTO stock_levels SELECT n, w, 500 FROM generate_series(1, 200) n, unnest(ARRAY['north', 'south']) w;
    INSERT INTO orders (customer_id, total_cents, placed_at) SELECT 1 + n % 1000, 500 + n * 13 % 20000, now() - n * interval '1 minute' FROM generate_series(1, 10000) n;
    INSERT INTO order_items SELECT n, 1 + (n + k * 31) % 200, 1 + n % 3 FROM generate_series(1, 10000) n, generate_series(1, 2) k;
    INSERT INTO cart_events SELECT n, 1 + n % 1000, 'added_to_cart' FROM generate_series(1, 30000) n;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO shop_app`);
  await admin.unsafe('ANALYZE');
}

/** Only its owner may switch autovacuum on for a table again. */
async function makeOwner(admin: Sql): Promise<void> {
  const [found] = await admin`
    SELECT pg_get_userbyid(relowner) = 'shop_owner' AS done FROM pg_class WHERE oid = 'public.cart_events'::regclass`;
  if (found?.['done'] === true) return;
  const [role] = await admin`SELECT 1 FROM pg_roles WHERE rolname = 'shop_owner'`;
  await admin.unsafe(`
    ${role === undefined ? 'CREATE ROLE shop_owner NOLOGIN;' : ''}
    GRANT shop_owner TO sentry_act;
    ALTER TABLE public.cart_events OWNER TO shop_owner`);
}
