import { setTimeout as sleep } from 'node:timers/promises';
import type { CausedFault, FaultCase, Lab } from '../fault-case.ts';

const waiting = (count: number): string =>
  `SELECT count(*) >= ${count} AS ok FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;

/** An editor of prices goes to lunch with a row changed; checkouts of that row hang. */
async function forgottenEditor(lab: Lab): Promise<CausedFault> {
  const server = await lab.server('plain');
  const editor = server.client('price-editor');
  await editor.unsafe('BEGIN');
  await editor.unsafe("UPDATE orders SET note = 'half price' WHERE id = 42");
  for (let n = 0; n < 4; n += 1)
    server.leave(server.client('checkout'), "UPDATE orders SET note = 'sold' WHERE id = 42");
  await server.until(
    'the checkouts to wait for some seconds',
    `SELECT count(*) >= 4 AS ok FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query_start < now() - interval '5 seconds'`,
  );
  return { readUrl: server.readUrl, release: server.calm };
}

/** Sessions that wait for each other, each time for another reason. */
export const lockCases: readonly FaultCase[] = [
  {
    id: 'locks-queue-behind-ddl',
    title: 'A migration waits behind a forgotten reader, and everybody behind the migration',
    runbook: 'blocked-sessions',
    alert: {
      alertname: 'PostgresBackendsWaiting',
      severity: 'critical',
      summary: 'Queries on orders are waiting for a lock',
      description: 'Seven backends have been waiting for a relation lock since the migration began.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'blocked_sessions',
      root_cause:
        'A session of nightly-export left a transaction open that has read orders; the migration waits for it, and all others wait behind the migration.',
      keywords: ['nightly-export'],
      keyword_groups: [['transaction open', 'open transaction', 'idle in transaction']],
      forbidden_categories: ['healthy', 'unknown', 'deadlocks'],
      needed_evidence: [['nightly-export'], ['blocked by', 'blocks']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const reader = server.client('nightly-export');
      await reader.unsafe('BEGIN');
      await reader.unsafe('SELECT count(*) FROM orders');
      server.leave(server.client('schema-migration'), 'ALTER TABLE orders ADD COLUMN priority int');
      await server.until('the migration to wait', waiting(1));
      for (let n = 0; n < 6; n += 1)
        server.leave(server.client('checkout'), `SELECT note FROM orders WHERE id = ${n + 1}`);
      await server.until('the checkouts to wait', waiting(7));
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'locks-prepared-transaction',
    title: 'A prepared transaction was never finished',
    runbook: 'blocked-sessions',
    alert: {
      alertname: 'PostgresLockWaits',
      severity: 'critical',
      summary: 'Sessions wait for locks on orders-db',
      description: 'Updates of orders have been hanging for minutes.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'blocked_sessions',
      root_cause:
        'The prepared transaction payment-7781, which nobody committed or rolled back, holds the lock.',
      keywords: ['prepared transaction', 'payment-7781'],
      forbidden_keywords: ['left a transaction open'],
      needed_evidence: [['prepared transaction']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const manager = server.client('transaction-manager');
      await manager.unsafe('BEGIN');
      await manager.unsafe("UPDATE orders SET note = 'paid' WHERE id <= 3");
      await manager.unsafe("PREPARE TRANSACTION 'payment-7781'");
      for (let n = 1; n <= 3; n += 1)
        server.leave(server.client('checkout'), `UPDATE orders SET note = 'sent' WHERE id = ${n}`);
      await server.until('the checkouts to wait', waiting(3));
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'locks-slow-query-that-waits',
    title: 'A slow query that is not slow: it waits for a forgotten transaction',
    runbook: 'long-running-query',
    alert: {
      alertname: 'PostgresSlowQueries',
      severity: 'warning',
      summary: 'Slow queries on orders-db',
      description: 'Queries take longer than 5 seconds.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'blocked_sessions',
      root_cause:
        'A price-editor session left a transaction open and holds the lock that the slow queries wait for.',
      keywords: ['price-editor'],
      keyword_groups: [['transaction open', 'idle in transaction', 'holds the lock']],
      forbidden_categories: ['runaway_query', 'healthy'],
      needed_evidence: [['blocked by', 'blocks']],
    },
    cause: forgottenEditor,
  },
  {
    id: 'locks-named-by-symptom',
    title: 'An alert of an application that speaks of lock waits',
    runbook: 'blocked-sessions',
    alert: {
      alertname: 'CheckoutStalls',
      severity: 'critical',
      summary: 'Checkouts stall',
      description: 'Checkout workers report that they are waiting for a lock in orders-db. CPU is at 12 %.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'blocked_sessions',
      root_cause:
        'A price-editor session left a transaction open and holds the lock that the checkouts wait for.',
      keywords: ['price-editor'],
      keyword_groups: [['transaction open', 'idle in transaction']],
      needed_evidence: [['blocked by', 'blocks']],
      red_herrings: ['CPU'],
    },
    cause: forgottenEditor,
  },
  {
    id: 'uncovered-latency',
    title: 'Checkouts are slow, and nobody says why',
    runbook: null,
    alert: {
      alertname: 'CheckoutLatencyHigh',
      severity: 'critical',
      summary: 'The 95th percentile of checkouts is above 2 s',
      description: 'Since the last minute.',
    },
    expected: {
      verdict: 'cause_found',
      root_cause: 'A price-editor session left a transaction open; checkouts wait for its lock.',
      keywords: ['price-editor', 'lock'],
      forbidden_keywords: ['connection exhaustion'],
      needed_evidence: [['price-editor']],
    },
    cause: forgottenEditor,
  },
  {
    id: 'locks-working-migration',
    title: 'A migration has only just begun and holds everybody up',
    runbook: 'blocked-sessions',
    alert: {
      alertname: 'PostgresBlockedQueries',
      severity: 'warning',
      summary: 'Blocked queries on orders-db',
      description: 'Five queries are blocked.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'blocked_sessions',
      root_cause: 'A schema-migration session holds a lock on orders and is at work in a young transaction.',
      keywords: ['schema-migration'],
      keyword_groups: [['at work', 'active', 'working', 'runs a statement']],
      forbidden_keywords: ['idle in transaction'],
      needed_evidence: [['blocked by', 'blocks']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const migration = server.client('schema-migration');
      await migration.unsafe('BEGIN');
      await migration.unsafe('LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
      server.leave(migration, 'SELECT pg_sleep(120)');
      for (let n = 0; n < 5; n += 1) server.leave(server.client('web'), 'SELECT count(*) FROM orders');
      await server.until('the queries to wait', waiting(5));
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'locks-hot-row',
    title: 'Many short transactions want the same row',
    runbook: 'blocked-sessions',
    alert: {
      alertname: 'PostgresLockContention',
      severity: 'warning',
      summary: 'Lock contention on orders-db',
      description: 'On average six sessions have been waiting for a lock; none of them for long.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause:
        'Cannot tell one culprit: short transactions contend for the same row, and each look finds another one at the root.',
      keyword_groups: [
        ['contention', 'short transactions'],
        ['hot row', 'same row', 'another one'],
      ],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const stopping = new AbortController();
      const sessions = Array.from({ length: 8 }, () => server.client('ticket-counter'));
      const loops = sessions.map(async (session) => {
        while (!stopping.signal.aborted)
          await session
            .unsafe("BEGIN; UPDATE orders SET note = 'seat' WHERE id = 77; SELECT pg_sleep(0.15); COMMIT")
            .catch(() => undefined);
      });
      await server.until('contention', waiting(5));
      return {
        readUrl: server.readUrl,
        async release() {
          stopping.abort();
          await Promise.all(loops);
          await server.calm();
        },
      };
    },
  },
  {
    id: 'locks-deadlocks',
    title: 'Two jobs update the same rows in opposite order',
    runbook: 'deadlocks',
    alert: {
      alertname: 'PostgresqlDeadLocks',
      severity: 'warning',
      summary: 'Deadlocks on orders-db',
      description: 'The deadlock counter rises.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'deadlocks',
      root_cause:
        'Transactions deadlock again and again, since they take the same row locks in different orders.',
      keyword_groups: [['deadlock'], ['again and again', 'in ten seconds', 'more deadlocks']],
      needed_evidence: [['deadlocks counted', 'deadlocks']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const stopping = new AbortController();
      const job = async (name: string, first: number, second: number) => {
        const session = server.client(name);
        while (!stopping.signal.aborted) {
          await session
            .unsafe(
              `BEGIN; UPDATE orders SET note = 'a' WHERE id = ${first}; SELECT pg_sleep(0.3);
               UPDATE orders SET note = 'b' WHERE id = ${second}; COMMIT`,
            )
            .catch(() => session.unsafe('ROLLBACK').catch(() => undefined));
          await sleep(100);
        }
      };
      const jobs = [job('stock-sync', 10, 20), job('price-sync', 20, 10)];
      await server.until('a deadlock', 'SELECT sum(deadlocks) >= 1 AS ok FROM pg_stat_database');
      return {
        readUrl: server.readUrl,
        async release() {
          stopping.abort();
          await Promise.all(jobs);
          await server.calm();
        },
      };
    },
  },
  {
    id: 'locks-old-deadlock',
    title: 'A deadlock of long ago is still on the counter',
    runbook: 'deadlocks',
    alert: {
      alertname: 'PostgresDeadlocks',
      severity: 'info',
      summary: 'Deadlocks on orders-db',
      description: 'The deadlock counter is not zero.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause: 'Cannot tell: deadlocks have been counted at some time, none now; the server log has them.',
      keywords: ['deadlocks', 'server log'],
    },
    async cause(lab) {
      const server = await lab.server('replica');
      const [one, other] = [server.client('stock-sync'), server.client('price-sync')];
      await one.unsafe("BEGIN; UPDATE orders SET note = 'a' WHERE id = 10");
      await other.unsafe("BEGIN; UPDATE orders SET note = 'b' WHERE id = 20");
      await Promise.allSettled([
        one.unsafe("UPDATE orders SET note = 'a' WHERE id = 20"),
        other.unsafe("UPDATE orders SET note = 'b' WHERE id = 10"),
      ]);
      await server.calm();
      await server.until('it to be counted', 'SELECT sum(deadlocks) >= 1 AS ok FROM pg_stat_database');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'locks-no-deadlock',
    title: 'A deadlock alert where none was ever counted',
    runbook: 'deadlocks',
    alert: {
      alertname: 'PostgresDeadlocks',
      severity: 'warning',
      summary: 'Deadlocks on orders-db',
      description: 'More than zero deadlocks in five minutes.',
    },
    expected: { verdict: 'healthy', root_cause: 'Healthy: no deadlock has been counted.' },
    async cause(lab) {
      const server = await lab.server('small');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
];
