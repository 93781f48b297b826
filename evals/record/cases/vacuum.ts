import type { FaultCase } from '../fault-case.ts';
import type { ScratchServer } from '../scratch-server.ts';

/** Uses up transaction ids, one commit each, in a fraction of the time that an application would take. */
const burn = (server: ScratchServer, count: number): Promise<unknown> =>
  server.admin.unsafe(
    `DO $$ BEGIN FOR n IN 1..${count} LOOP PERFORM txid_current(); COMMIT; END LOOP; END $$`,
  );

const wraparound = {
  alertname: 'PostgresXidAgeHigh',
  severity: 'critical',
  summary: 'Transaction id age is high on orders-db',
  description: 'The oldest database is past autovacuum_freeze_max_age.',
} as const;

/** Dead rows, transaction ids and the cache. */
export const vacuumCases: readonly FaultCase[] = [
  {
    id: 'storage-missing-index',
    title: 'A table is read from end to end again and again',
    runbook: 'cache-hit-collapse',
    alert: {
      alertname: 'PostgresCacheHitRatioLow',
      severity: 'warning',
      summary: 'The cache hit ratio of orders-db has fallen',
      description: 'Fewer than 90 % of the reads are found in the cache.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'missing_index',
      root_cause: 'public.shipments is read from end to end again and again: an index is missing.',
      keywords: ['shipments'],
      keyword_groups: [['end to end', 'sequential'], ['index']],
      needed_evidence: [['cache', 'Cache hit ratio'], ['shipments']],
    },
    async cause(lab) {
      const server = await lab.server('small');
      await server.admin.unsafe(`DROP TABLE IF EXISTS shipments;
        CREATE TABLE shipments AS SELECT n AS id, n % 90000 AS parcel, repeat('x', 300) AS label FROM generate_series(1, 90000) n;
        ALTER TABLE shipments OWNER TO app; ANALYZE shipments`);
      const stopping = new AbortController();
      const loops = [1, 2].map(async (n) => {
        const session = server.client('tracking-api');
        while (!stopping.signal.aborted)
          await session.unsafe(`SELECT id FROM shipments WHERE parcel = ${n * 41}`);
      });
      return {
        readUrl: server.readUrl,
        async release() {
          stopping.abort();
          await Promise.all(loops);
          await server.calm();
          await server.admin.unsafe('DROP TABLE shipments');
        },
      };
    },
  },
  {
    id: 'storage-cache-is-fine',
    title: 'A low ratio over all time, and nothing is read now',
    runbook: 'cache-hit-collapse',
    alert: {
      alertname: 'PostgresCacheHitRatioLow',
      severity: 'info',
      summary: 'The cache hit ratio of orders-db has fallen',
      description: 'Fewer than 90 % of the reads are found in the cache.',
    },
    expected: {
      verdict: 'healthy',
      root_cause: 'Healthy: hardly anything is read from outside the cache now.',
    },
    async cause(lab) {
      const server = await lab.server('small');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'storage-vacuum-held-back',
    title: 'Dead rows that an old transaction keeps',
    runbook: 'table-bloat',
    alert: {
      alertname: 'PostgresDeadTuplesHigh',
      severity: 'warning',
      summary: 'A table of orders-db has many dead tuples',
      description: 'Dead tuples are more than 40 % of a table.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'vacuum_held_back',
      root_cause:
        'The prepared transaction inventory-42 still needs the dead rows of public.orders, so vacuum cannot remove them.',
      keywords: ['inventory-42', 'orders'],
      keyword_groups: [['cannot be removed', 'cannot remove', 'held back', 'still claims to need']],
      forbidden_keywords: ['switched off'],
      needed_evidence: [['inventory-42']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      const manager = server.client('transaction-manager');
      await manager.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await manager.unsafe('CREATE TABLE reservations_42 (id int)');
      await manager.unsafe("PREPARE TRANSACTION 'inventory-42'");
      for (let n = 0; n < 3; n += 1) await server.admin.unsafe("UPDATE orders SET note = note || '.'");
      await server.admin.unsafe('VACUUM orders');
      return {
        readUrl: server.readUrl,
        async release() {
          await server.calm();
          await server.admin.unsafe('VACUUM ANALYZE orders');
        },
      };
    },
  },
  {
    id: 'storage-wraparound-prepared',
    title: 'A prepared transaction keeps vacuum from freezing',
    runbook: 'wraparound-risk',
    alert: wraparound,
    expected: {
      verdict: 'cause_found',
      category: 'wraparound_risk',
      root_cause: 'The prepared transaction ledger-close keeps vacuum from freezing anything younger.',
      keywords: ['ledger-close'],
      keyword_groups: [['freezing', 'freeze']],
      forbidden_keywords: ['has not been frozen'],
      needed_evidence: [['ledger-close'], ['oldest database', 'Oldest database']],
    },
    async cause(lab) {
      const server = await lab.server('old');
      const manager = server.client('ledger');
      await manager.unsafe('BEGIN');
      await manager.unsafe("UPDATE orders SET note = 'closed' WHERE id = 1");
      await manager.unsafe("PREPARE TRANSACTION 'ledger-close'");
      await burn(server, 125_000);
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'storage-wraparound-session',
    title: 'A forgotten session keeps vacuum from freezing',
    runbook: 'wraparound-risk',
    alert: { ...wraparound, alertname: 'PostgresTransactionIdWraparound' },
    expected: {
      verdict: 'cause_found',
      category: 'wraparound_risk',
      root_cause: 'A data-science session left a transaction open and keeps vacuum from freezing.',
      keywords: ['data-science'],
      keyword_groups: [
        ['transaction open', 'open transaction'],
        ['freezing', 'freeze'],
      ],
      needed_evidence: [['idle in transaction', 'idle in a transaction']],
    },
    async cause(lab) {
      const server = await lab.server('old');
      const session = server.client('data-science');
      await session.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await session.unsafe('SELECT count(*) FROM orders');
      await burn(server, 125_000);
      return {
        readUrl: server.readUrl,
        async release() {
          await server.calm();
          await server.admin.unsafe('VACUUM (FREEZE)');
        },
      };
    },
  },
  {
    id: 'storage-xid-age-is-fine',
    title: 'The age alert of a server that freezes in time',
    runbook: 'wraparound-risk',
    alert: { ...wraparound, severity: 'warning', description: 'The oldest database is half way.' },
    expected: { verdict: 'healthy', root_cause: 'Healthy: freezing keeps up.' },
    async cause(lab) {
      const server = await lab.server('plain');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
];
