import type { FaultCase, Lab } from '../fault-case.ts';

const undecided = (root_cause: string) => ({ verdict: 'cannot_tell', root_cause }) as const;

async function calmPlain(lab: Lab) {
  const server = await lab.server('plain');
  return { readUrl: server.readUrl, release: server.calm };
}

/** Real trouble, or none, for which there is no runbook: whoever follows runbooks can only say so. */
export const uncoveredCases: readonly FaultCase[] = [
  {
    id: 'uncovered-sequence',
    title: 'A sequence is nearly used up',
    runbook: null,
    alert: {
      alertname: 'PostgresSequenceNearlyExhausted',
      severity: 'critical',
      summary: 'A sequence of orders-db has used 99 % of its values',
      description: 'Inserts fail when it is used up.',
    },
    expected: undecided('Cannot tell: no tool reads sequences.'),
    async cause(lab) {
      const server = await lab.server('plain');
      await server.admin.unsafe(`CREATE TABLE tickets (id smallserial PRIMARY KEY, note text);
        SELECT setval('tickets_id_seq', 32700)`);
      return {
        readUrl: server.readUrl,
        async release() {
          await server.calm();
          await server.admin.unsafe('DROP TABLE tickets');
        },
      };
    },
  },
  {
    id: 'uncovered-temp-files',
    title: 'Sorts spill to temporary files',
    runbook: null,
    alert: {
      alertname: 'PostgresTempFileUsage',
      severity: 'warning',
      summary: 'Temporary files are written on orders-db',
      description: 'More than 50 MB of temporary files in five minutes.',
    },
    expected: undecided('Cannot tell: no runbook covers temporary files.'),
    async cause(lab) {
      const server = await lab.server('plain');
      const session = server.client('statement-mailer');
      await session.unsafe("SET work_mem = '64kB'");
      for (let n = 0; n < 3; n += 1)
        await session.unsafe(
          'SELECT count(*) FROM (SELECT a.note FROM orders a, generate_series(1, 20) ORDER BY md5(a.id::text)) s',
        );
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'uncovered-unused-index',
    title: 'An index that nobody uses',
    runbook: null,
    alert: {
      alertname: 'PostgresUnusedIndex',
      severity: 'info',
      summary: 'An index of orders-db is not used',
      description: 'orders_note has not been scanned since the statistics began.',
    },
    expected: undecided('Cannot tell: whether an index may be dropped is not for a runbook to say.'),
    async cause(lab) {
      const server = await lab.server('plain');
      await server.admin.unsafe('CREATE INDEX orders_note ON orders (note)');
      return {
        readUrl: server.readUrl,
        async release() {
          await server.calm();
          await server.admin.unsafe('DROP INDEX orders_note');
        },
      };
    },
  },
  {
    id: 'uncovered-failed-logins',
    title: 'Logins fail, and the database cannot tell whose',
    runbook: null,
    alert: {
      alertname: 'PostgresAuthenticationFailures',
      severity: 'warning',
      summary: 'Password authentication fails on orders-db',
      description: 'Forty failed logins in five minutes, counted in the server log.',
    },
    expected: undecided('Cannot tell: failed logins stand in the server log, which no tool reads.'),
    async cause(lab) {
      const server = await lab.server('plain');
      const stranger = new URL(server.appUrl);
      stranger.password = 'guessed';
      const { clientSession, endSessions } = await import(
        '../../../playground/faults/postgres/client-session.ts'
      );
      for (let n = 0; n < 5; n += 1) {
        const session = clientSession(stranger.href, 'unknown');
        await session.unsafe('SELECT 1').catch(() => undefined);
        await endSessions([session]);
      }
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'uncovered-rollbacks',
    title: 'Many transactions are rolled back',
    runbook: null,
    alert: {
      alertname: 'PostgresHighRollbackRate',
      severity: 'warning',
      summary: 'Many transactions are rolled back on orders-db',
      description: 'More than 10 % of the transactions end with a rollback.',
    },
    expected: undecided('Cannot tell: why applications roll back is in their own logs.'),
    async cause(lab) {
      const server = await lab.server('plain');
      const session = server.client('voucher-service');
      for (let n = 0; n < 200; n += 1) await session.unsafe('BEGIN; SELECT 1; ROLLBACK');
      return { readUrl: server.readUrl, release: server.calm };
    },
  },
  {
    id: 'uncovered-cpu',
    title: 'The host’s processor is busy, the database is not',
    runbook: null,
    alert: {
      alertname: 'HostHighCpuLoad',
      severity: 'warning',
      summary: 'CPU usage above 90 % on the host of orders-db',
      description: 'The load of the host has been above 8 for 10 minutes.',
    },
    expected: undecided(
      'Cannot tell: the database shows nothing, and what else runs on the host is not known to it.',
    ),
    cause: calmPlain,
  },
  {
    id: 'uncovered-clock',
    title: 'The certificate of the server expires',
    runbook: null,
    alert: {
      alertname: 'PostgresCertificateExpiry',
      severity: 'info',
      summary: 'The TLS certificate of orders-db expires in 13 days',
      description: 'Renew it.',
    },
    expected: undecided('Cannot tell: no tool reads certificates.'),
    cause: calmPlain,
  },
];
