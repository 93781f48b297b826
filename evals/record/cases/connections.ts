import type { FaultCase, Lab } from '../fault-case.ts';
import type { ScratchServer } from '../scratch-server.ts';

const alert = {
  alertname: 'PostgresqlTooManyConnections',
  severity: 'warning',
  summary: 'Too many connections on orders-db',
  description: 'More than 80 % of the connections are in use.',
} as const;

async function open(server: ScratchServer, application: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await server.client(application).unsafe('SELECT 1');
}

async function leak(lab: Lab, count: number): Promise<ScratchServer> {
  const server = await lab.server('plain');
  await open(server, 'invoice-service', count);
  await open(server, 'web', 3);
  return server;
}

/** Who takes the connections, and the alerts that come with long transactions. */
export const connectionCases: readonly FaultCase[] = [
  {
    id: 'connections-leak',
    title: 'One application leaks connections',
    runbook: 'connection-exhaustion',
    alert,
    expected: {
      verdict: 'cause_found',
      category: 'connection_exhaustion',
      root_cause: 'invoice-service holds most connections and uses hardly any: it leaks connections.',
      keywords: ['invoice-service'],
      keyword_groups: [['leaks', 'leak', 'pools are too large']],
      forbidden_keywords: ['blocked by', 'busy'],
      needed_evidence: [['usable connections'], ['invoice-service']],
      red_herrings: ['wait for a lock'],
    },
    async cause(lab) {
      const server = await leak(lab, 27);
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'connections-open-transactions',
    title: 'A pool full of open transactions',
    runbook: 'connection-exhaustion',
    alert,
    expected: {
      verdict: 'cause_found',
      category: 'connection_exhaustion',
      root_cause:
        'billing-worker does not end its transactions: most connections are idle in open transactions.',
      keywords: ['billing-worker'],
      keyword_groups: [['idle in open transactions', 'does not end its transactions', 'idle in transaction']],
      forbidden_keywords: ['wait for a lock'],
      needed_evidence: [['usable connections'], ['idle in a transaction', 'idle in transaction']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      for (let n = 0; n < 26; n += 1) {
        const session = server.client('billing-worker');
        await session.unsafe('BEGIN');
        await session.unsafe(`SELECT note FROM orders WHERE id = ${n + 1}`);
      }
      await open(server, 'web', 4);
      await server.until(
        'them to be idle for some seconds',
        `SELECT bool_and(state_change < now() - interval '6 seconds') AS ok FROM pg_stat_activity
          WHERE application_name = 'billing-worker'`,
      );
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'connections-surge',
    title: 'More work than the server finishes',
    runbook: 'connection-exhaustion',
    alert: { ...alert, alertname: 'PostgresConnectionsHigh', severity: 'critical' },
    expected: {
      verdict: 'cause_found',
      category: 'connection_surge',
      root_cause:
        'Nearly all connections are busy at the same time: more work comes in than the server finishes.',
      keywords: ['busy'],
      keyword_groups: [['more work', 'surge']],
      forbidden_keywords: ['leaks'],
      forbidden_categories: ['connection_exhaustion', 'healthy'],
      needed_evidence: [['usable connections'], ['at work', 'by state']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      for (let n = 0; n < 30; n += 1)
        server.leave(
          server.client(n % 2 === 0 ? 'search-api' : 'web'),
          'SELECT count(*) FROM generate_series(1, 3000000000) n',
        );
      await server.until(
        'all of them to work',
        "SELECT count(*) >= 29 AS ok FROM pg_stat_activity WHERE state = 'active'",
      );
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'connections-several-pools',
    title: 'The pools together are larger than the server',
    runbook: 'connection-exhaustion',
    alert,
    expected: {
      verdict: 'cause_found',
      category: 'connection_pools_too_large',
      root_cause: 'The pools of several applications together are larger than the server.',
      keyword_groups: [['several applications', 'together'], ['pools']],
      forbidden_keywords: ['busy'],
      needed_evidence: [['usable connections']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      for (const application of ['web', 'search-api', 'invoice-service', 'mailer'])
        await open(server, application, 8);
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'connections-busy-pool-is-fine',
    title: 'A warning threshold at 60 % while there is room',
    runbook: 'connection-exhaustion',
    alert: {
      ...alert,
      alertname: 'PostgresConnectionUtilization',
      description: 'More than 50 % are in use.',
    },
    expected: {
      verdict: 'healthy',
      root_cause: 'Healthy: about 60 % of the connections are in use, there is room.',
    },
    async cause(lab) {
      const server = await leak(lab, 19);
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'connections-unseen',
    title: 'Connections are short, and Sentry may not see whose they are',
    runbook: 'connection-exhaustion',
    alert,
    expected: {
      verdict: 'cannot_tell',
      root_cause:
        'Cannot tell whose connections they are: the role that reads may not see other sessions; GRANT pg_monitor.',
      keywords: ['pg_monitor'],
    },
    async cause(lab) {
      const server = await leak(lab, 27);
      return { readUrl: server.blindUrl, release: server.calm };
    },
  },
  {
    id: 'transactions-unseen',
    title: 'A forgotten transaction, and Sentry may not see whose',
    runbook: 'idle-in-transaction',
    alert: {
      alertname: 'PostgresIdleInTransactionSessions',
      severity: 'warning',
      summary: 'Sessions are idle in transaction on orders-db',
      description: 'A session stays idle in a transaction.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause: 'Cannot tell: other sessions are hidden from the role that reads; GRANT pg_monitor.',
      keywords: ['pg_monitor', 'hidden'],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const batch = server.client('loyalty-batch');
      await batch.unsafe('BEGIN');
      await batch.unsafe("UPDATE orders SET note = 'points' WHERE customer = 8");
      return { readUrl: server.blindUrl, release: server.calm };
    },
  },
  {
    id: 'transactions-export-on-primary',
    title: 'A query that never ends, next to a short one',
    runbook: 'long-running-query',
    alert: {
      alertname: 'PostgresLongRunningQuery',
      severity: 'warning',
      summary: 'A query has been running for a long time on orders-db',
      description: 'The oldest active query has passed its limit.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'runaway_query',
      root_cause: 'A revenue-report session has been running the same statement, a join without a condition.',
      keywords: ['revenue-report', 'running'],
      forbidden_keywords: ['waits for a lock', 'maintenance'],
      needed_evidence: [['active for', 'running one statement']],
      red_herrings: ['search-api'],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      server.leave(
        server.client('revenue-report'),
        'SELECT sum(a.id::bigint * b.id) FROM orders a, orders b, generate_series(1, 50) n',
      );
      await open(server, 'search-api', 2);
      await server.until(
        'it to run for some seconds',
        `SELECT bool_or(query_start < now() - interval '6 seconds') AS ok FROM pg_stat_activity
          WHERE application_name = 'revenue-report' AND state = 'active'`,
      );
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'transactions-index-build',
    title: 'An index build takes its time',
    runbook: 'long-running-query',
    alert: {
      alertname: 'PostgresLongRunningTransaction',
      severity: 'warning',
      summary: 'Long running transaction on orders-db',
      description: 'A transaction is older than its limit.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'long_maintenance',
      root_cause: 'Maintenance: a schema-migration session builds an index, which does take long.',
      keywords: ['schema-migration'],
      keyword_groups: [['maintenance', 'index build', 'builds an index']],
      forbidden_categories: ['runaway_query', 'healthy'],
      needed_evidence: [['create index', 'maintenance']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      await server.admin.unsafe(`CREATE OR REPLACE FUNCTION slowly(int) RETURNS int IMMUTABLE LANGUAGE plpgsql
        AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN $1; END $$`);
      server.leave(
        server.client('schema-migration'),
        'CREATE INDEX orders_slowly ON orders (slowly(customer))',
      );
      await server.until(
        'it to run for some seconds',
        `SELECT bool_or(query_start < now() - interval '6 seconds') AS ok FROM pg_stat_activity
          WHERE application_name = 'schema-migration' AND state = 'active'`,
      );
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'transactions-forgotten-writer',
    title: 'A job wrote, and forgot to commit',
    runbook: 'idle-in-transaction',
    alert: {
      alertname: 'PostgresIdleInTransactionSessions',
      severity: 'warning',
      summary: 'Sessions are idle in transaction on orders-db',
      description: 'A session stays idle in a transaction.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'idle_in_transaction',
      root_cause: 'A loyalty-batch session opened a transaction, wrote, and is idle in it.',
      keywords: ['loyalty-batch', 'idle in'],
      forbidden_keywords: ['web', 'deadlock'],
      needed_evidence: [['idle in transaction', 'idle in a transaction']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const reader = server.client('web');
      await reader.unsafe('BEGIN');
      const batch = server.client('loyalty-batch');
      await batch.unsafe('BEGIN');
      await batch.unsafe("UPDATE orders SET note = 'points' WHERE customer = 7");
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'transactions-thinking-reader',
    title: 'A reader thinks between two statements and holds nothing',
    runbook: 'idle-in-transaction',
    alert: {
      alertname: 'PostgresIdleInTransactionSessions',
      severity: 'info',
      summary: 'Sessions are idle in transaction on orders-db',
      description: 'A session is idle in a transaction.',
    },
    expected: {
      verdict: 'healthy',
      root_cause: 'Healthy: what is idle in a transaction holds nothing that others need.',
    },
    async cause(lab) {
      const server = await lab.server('plain');
      await server.client('web').unsafe('BEGIN');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
];
