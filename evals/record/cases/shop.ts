import { blockedSessions } from '../../../playground/faults/postgres/blocked-sessions.ts';
import { connectionExhaustion } from '../../../playground/faults/postgres/connection-exhaustion.ts';
import type { DatabaseFault } from '../../../playground/faults/postgres/database-fault.ts';
import { idleInTransaction } from '../../../playground/faults/postgres/idle-in-transaction.ts';
import { runawayQuery } from '../../../playground/faults/postgres/runaway-query.ts';
import { tableBloat } from '../../../playground/faults/postgres/table-bloat.ts';
import { startWorkload } from '../../../playground/faults/postgres/workload.ts';
import { until } from '../../../playground/faults/until.ts';
import { createLog } from '../../../src/infra/log/log.ts';
import type { ExpectedAnswer, FaultCase } from '../fault-case.ts';

const runbookOf: Readonly<Record<string, string>> = {
  blocked_sessions: 'blocked-sessions',
  idle_in_transaction: 'idle-in-transaction',
  connection_exhaustion: 'connection-exhaustion',
  runaway_query: 'long-running-query',
  table_bloat: 'table-bloat',
};

function faultCase(fault: DatabaseFault, id: string, expected: ExpectedAnswer, caused: boolean): FaultCase {
  const { alertname, severity, summary, description } = fault.rule;
  return {
    id,
    title: caused ? fault.title : `${fault.title}: the alert on a quiet day`,
    runbook: runbookOf[fault.id] ?? null,
    alert: { alertname, severity, summary, description },
    expected,
    async cause(lab) {
      const shop = await lab.shop();
      const workload = startWorkload(shop.appUrl, createLog('error'));
      const held = caused ? await fault.cause(shop) : undefined;
      if (caused) await until('the alert', async () => (await fault.read(shop.admin)).holds);
      return {
        readUrl: shop.readUrl,
        async release() {
          await held?.release();
          await fault.undo(shop);
          await workload.stop();
        },
      };
    },
  };
}

const fault = (of: DatabaseFault, expected: Omit<ExpectedAnswer, 'verdict' | 'category'>): FaultCase =>
  faultCase(
    of,
    `shop-${of.id.replaceAll('_', '-')}`,
    { verdict: 'cause_found', category: of.id, forbidden_categories: ['healthy', 'unknown'], ...expected },
    true,
  );

const quiet = (of: DatabaseFault, says: string): FaultCase =>
  faultCase(
    of,
    `shop-quiet-${of.id.replaceAll('_', '-')}`,
    { verdict: 'healthy', root_cause: says, red_herrings: ['is the cause'] },
    false,
  );

/** The playground's faults, and the same alerts while nothing is wrong. */
export const shopCases: readonly FaultCase[] = [
  fault(blockedSessions, {
    root_cause:
      'A shop-backoffice session updated a product and left its transaction open; it is idle in transaction and holds the lock that the checkouts wait for.',
    keywords: ['shop-backoffice'],
    keyword_groups: [
      ['left a transaction open', 'left its transaction open', 'idle in transaction', 'uncommitted'],
    ],
    forbidden_keywords: ['slow query', 'deadlock'],
    needed_evidence: [['blocked by'], ['idle in transaction']],
    red_herrings: ['shop-web', 'shop-catalog'],
  }),
  fault(idleInTransaction, {
    root_cause: 'A shop-newsletter session opened a transaction, wrote, and has been idle in it ever since.',
    keywords: ['shop-newsletter', 'idle in'],
    forbidden_keywords: ['slow query', 'deadlock'],
    needed_evidence: [['idle in transaction', 'idle in a transaction']],
    red_herrings: ['shop-catalog'],
  }),
  fault(connectionExhaustion, {
    root_cause:
      'A shop-stock-import session locks a table in an open transaction; the storefront’s requests pile up behind it until no connection is left.',
    keywords: ['shop-stock-import'],
    keyword_groups: [['transaction open', 'open transaction', 'locks', 'lock']],
    forbidden_keywords: ['leaks connections', 'pools are larger'],
    forbidden_categories: ['healthy', 'unknown', 'connection_surge'],
    needed_evidence: [
      ['usable connections are in use', 'usable connections'],
      ['wait for a lock', 'blocked'],
    ],
  }),
  fault(runawayQuery, {
    root_cause: 'A shop-reports session has been running the same query, a join that never ends.',
    keywords: ['shop-reports', 'running'],
    forbidden_keywords: ['waits for a lock'],
    needed_evidence: [['active for', 'running one statement']],
  }),
  fault(tableBloat, {
    root_cause: 'public.cart_events is full of dead rows because autovacuum is switched off for the table.',
    keywords: ['cart_events', 'dead rows'],
    keyword_groups: [['switched off', 'disabled', 'off for']],
    forbidden_keywords: ['held back', 'does not keep up'],
    needed_evidence: [['over threshold', 'dead rows']],
  }),
  quiet(blockedSessions, 'Healthy: nobody waits for a lock now.'),
  quiet(idleInTransaction, 'Healthy: no session stays idle in a transaction.'),
  quiet(connectionExhaustion, 'Healthy: most connections are free.'),
  quiet(runawayQuery, 'Healthy: no query has been running for long.'),
  quiet(tableBloat, 'Healthy: no table has many dead rows.'),
];
