import type { FaultCase } from '../fault-case.ts';
import type { ScratchServer } from '../scratch-server.ts';

const writeMegabytes = (server: ScratchServer, megabytes: number): Promise<unknown> =>
  server.admin.unsafe(`CREATE TABLE IF NOT EXISTS blobs (body text);
    INSERT INTO blobs SELECT repeat(md5(n::text), 32) FROM generate_series(1, ${megabytes * 900}) n;
    TRUNCATE blobs`);

/** Disk, WAL and replication. */
export const storageCases: readonly FaultCase[] = [
  {
    id: 'storage-inactive-slot',
    title: 'A replication slot whose consumer is gone',
    runbook: 'inactive-replication-slot',
    alert: {
      alertname: 'PostgresReplicationSlotInactive',
      severity: 'critical',
      summary: 'A replication slot is not active on orders-db',
      description: 'WAL is retained for it.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'inactive_replication_slot',
      root_cause: 'Replication slot cdc_warehouse has no consumer and makes the server keep WAL.',
      keywords: ['cdc_warehouse'],
      keyword_groups: [['no consumer', 'inactive'], ['WAL']],
      forbidden_keywords: ['archiv'],
      needed_evidence: [['cdc_warehouse']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      await server.admin`SELECT pg_create_logical_replication_slot('cdc_warehouse', 'pgoutput')`;
      await writeMegabytes(server, 40);
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'storage-wal-kept-by-slot',
    title: 'The disk alert whose WAL is kept by a slot',
    runbook: 'wal-disk-growth',
    alert: {
      alertname: 'PostgresWalGrowth',
      severity: 'warning',
      summary: 'The WAL directory of orders-db is growing',
      description: 'pg_wal has grown for an hour.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'inactive_replication_slot',
      root_cause: 'Replication slot audit_stream has no consumer and makes the server keep WAL.',
      keywords: ['audit_stream'],
      keyword_groups: [['no consumer', 'inactive']],
      needed_evidence: [['audit_stream']],
      red_herrings: ['archiving fails'],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      await server.admin`SELECT pg_create_logical_replication_slot('audit_stream', 'pgoutput')`;
      await writeMegabytes(server, 260);
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'storage-archiving-fails',
    title: 'WAL archiving fails',
    runbook: 'wal-disk-growth',
    alert: {
      alertname: 'PostgresWalDiskUsage',
      severity: 'critical',
      summary: 'The WAL directory of orders-db is growing',
      description: 'pg_wal is twice as large as usual.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'wal_archiving_failing',
      root_cause: 'WAL archiving fails, so WAL is kept until it succeeds.',
      keywords: ['archiv', 'fails'],
      forbidden_keywords: ['slot'],
      needed_evidence: [['FAILING', 'archiving fails']],
    },
    async cause(lab) {
      const server = await lab.server('archiving');
      await writeMegabytes(server, 120);
      await server.admin`SELECT pg_switch_wal()`;
      await server.until('archiving to fail', 'SELECT failed_count > 0 AS ok FROM pg_stat_archiver');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'storage-wal-is-normal',
    title: 'The WAL alert while pg_wal is as it should be',
    runbook: 'wal-disk-growth',
    alert: {
      alertname: 'PostgresWalGrowth',
      severity: 'warning',
      summary: 'The WAL directory of orders-db is growing',
      description: 'pg_wal has grown by two files.',
    },
    expected: {
      verdict: 'healthy',
      root_cause: 'Healthy: pg_wal is about as large as max_wal_size allows.',
    },
    async cause(lab) {
      const server = await lab.server('old');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'storage-wal-unseen',
    title: 'The WAL alert, and Sentry may not read the folder',
    runbook: 'wal-disk-growth',
    alert: {
      alertname: 'PostgresWalGrowth',
      severity: 'warning',
      summary: 'The WAL directory of orders-db is growing',
      description: 'pg_wal has grown for an hour.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause: 'Cannot tell: the size of pg_wal may not be read; GRANT pg_monitor to the role that reads.',
      keywords: ['pg_monitor', 'pg_wal'],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      await writeMegabytes(server, 30);
      return { readUrl: server.blindUrl, release: server.calm };
    },
  },
  {
    id: 'storage-checkpoint-storm',
    title: 'A bulk load makes checkpoints follow one another',
    runbook: 'checkpoint-storm',
    alert: {
      alertname: 'PostgresCheckpointsTooFrequent',
      severity: 'warning',
      summary: 'Checkpoints are occurring too frequently on orders-db',
      description: 'Most checkpoints are requested.',
    },
    expected: {
      verdict: 'cause_found',
      category: 'checkpoint_storm',
      root_cause:
        'WAL fills max_wal_size before checkpoint_timeout is over, so checkpoints follow one another.',
      keywords: ['max_wal_size'],
      keyword_groups: [['checkpoints follow', 'requested', 'before checkpoint_timeout']],
      needed_evidence: [['requested']],
    },
    async cause(lab) {
      const server = await lab.server('small');
      const stopping = new AbortController();
      const load = (async () => {
        while (!stopping.signal.aborted) await writeMegabytes(server, 20);
      })();
      await server.until(
        'some checkpoints',
        'SELECT num_requested + num_timed >= 6 AS ok FROM pg_stat_checkpointer',
      );
      return {
        readUrl: server.readUrl,
        async release() {
          stopping.abort();
          await load;
          await server.calm();
        },
      };
    },
  },
  {
    id: 'storage-checkpoints-by-hand',
    title: 'A backup asked for some checkpoints, and nothing is wrong',
    runbook: 'checkpoint-storm',
    alert: {
      alertname: 'PostgresCheckpointsTooFrequent',
      severity: 'info',
      summary: 'Checkpoints are occurring too frequently on orders-db',
      description: 'Most checkpoints are requested.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause: 'Cannot tell: most checkpoints were requested at some time, but none is now.',
      keyword_groups: [['requested'], ['none in the last', 'none is now', 'not now']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      for (let n = 0; n < 6; n += 1) await server.admin.unsafe('CHECKPOINT');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'storage-lag-of-a-blocked-replica',
    title: 'A replica whose apply process waits for a lock there',
    runbook: 'replication-lag',
    alert: {
      alertname: 'PostgresReplicationLagBytes',
      severity: 'critical',
      summary: 'Replication lag of orders_copy',
      description: 'The replica is more than 16 MB behind orders-db.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause:
        'Cannot tell from this server why orders_copy is behind: the replica itself has to be looked at, where something holds it up.',
      keywords: ['orders_copy', 'behind'],
      keyword_groups: [['replica itself', 'on the replica']],
    },
    async cause(lab) {
      const [primary, replica] = [await lab.server('plain'), await lab.server('replica')];
      await primary.admin.unsafe('CREATE PUBLICATION orders_pub FOR TABLE orders');
      const from = new URL(primary.adminUrl);
      await replica.admin.unsafe(
        `CREATE SUBSCRIPTION orders_copy CONNECTION 'host=${from.hostname} port=${from.port} dbname=${from.pathname.slice(1)}
           user=${from.username} password=${from.password}' PUBLICATION orders_pub WITH (copy_data = false)`,
      );
      const reader = replica.client('year-end-report');
      await reader.unsafe('BEGIN');
      await reader.unsafe('LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
      for (let n = 0; n < 12; n += 1) await primary.admin.unsafe("UPDATE orders SET note = note || 'x'");
      await primary.until(
        'the replica to be behind',
        `SELECT bool_or(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) > 20000000) AS ok FROM pg_stat_replication`,
      );
      return {
        readUrl: primary.readUrl,
        async release() {
          await replica.calm();
          await replica.admin.unsafe('ALTER SUBSCRIPTION orders_copy DISABLE');
          await replica.admin.unsafe('ALTER SUBSCRIPTION orders_copy SET (slot_name = NONE)');
          await replica.admin.unsafe('DROP SUBSCRIPTION orders_copy');
          await primary.admin.unsafe('DROP PUBLICATION orders_pub');
          await primary.calm();
          await primary.admin.unsafe('VACUUM FULL orders');
        },
      };
    },
  },
  {
    id: 'storage-lag-without-replica',
    title: 'A lag alert, and no replica is connected',
    runbook: 'replication-lag',
    alert: {
      alertname: 'PostgresReplicationLag',
      severity: 'critical',
      summary: 'Replication lag of orders-db-replica',
      description: 'The replica is more than 5 minutes behind.',
    },
    expected: {
      verdict: 'cannot_tell',
      root_cause:
        'Cannot tell from this server: no replica is connected to it; look at the replica’s own log.',
      keywords: ['no replica is connected'],
      keyword_groups: [["replica's own log", 'replica’s own log', 'own log']],
    },
    async cause(lab) {
      const server = await lab.server('plain');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
];
