import { defineKind } from '../kind.ts';
import { postgresAutovacuumOn } from './active/autovacuum-on.ts';
import { postgresCancelQuery } from './active/cancel-query.ts';
import { postgresSetSetting } from './active/set-setting.ts';
import { postgresTerminateBackend } from './active/terminate-backend.ts';
import { postgresVacuumTable } from './active/vacuum-table.ts';
import { advisePostgres } from './advise.ts';
import { postgresFields, readingRole, readPostgres } from './config.ts';
import { connectPostgres } from './connect/connect-postgres.ts';
import { postgresFacts } from './facts.ts';
import { postgresInventory } from './inventory.ts';
import { postgresActivity } from './read/activity.ts';
import { postgresBlockingTree } from './read/blocking-tree.ts';
import { postgresCacheHit } from './read/cache-hit.ts';
import { postgresCheckpoints } from './read/checkpoints.ts';
import { postgresConnections } from './read/connections.ts';
import { postgresDeadlocks } from './read/deadlocks.ts';
import { postgresExplain } from './read/explain.ts';
import { postgresIdleInTransaction } from './read/idle-in-transaction.ts';
import { postgresIndexUse } from './read/index-use.ts';
import { postgresLocks } from './read/locks.ts';
import { postgresLongTransactions } from './read/long-transactions.ts';
import { postgresReachable } from './read/reachable.ts';
import { postgresReplication } from './read/replication.ts';
import { postgresSession } from './read/session.ts';
import { postgresSettings } from './read/settings.ts';
import { postgresSizes } from './read/sizes.ts';
import { postgresSlowStatements } from './read/slow-statements.ts';
import { postgresTableHealth } from './read/table-health.ts';
import { postgresXidAge } from './read/xid-age.ts';
import { postgresUsual } from './usual.ts';

export const postgres = defineKind({
  name: 'postgres',
  plural: 'PostgreSQL databases',
  domains: [{ name: 'postgres', label: ['source_type', 'database'] }],
  fields: postgresFields,
  read: readPostgres,
  settings: ({ actUrl }) => ({ acts: actUrl !== null }),
  reader: readingRole,
  connect: connectPostgres,
  async doctor({ actUrl }, { identity }) {
    const { systemIdentifier } = await identity();
    return `reachable (system ${systemIdentifier})${actUrl ? '' : ', read-only'}`;
  },
  facts: postgresFacts,
  inventory: postgresInventory,
  usual: postgresUsual,
  watch: () => null,
  logs: () => [],
  advise: advisePostgres,
  looks: [
    // Answers where all the others fail, and says so.
    { tool: 'postgres_reachable', why: 'Whether it can be reached' },
    { tool: 'postgres_activity', why: 'What the sessions are doing' },
    { tool: 'postgres_blocking_tree', why: 'Who waits for whom' },
    { tool: 'postgres_connections', why: 'How many connections are in use' },
    { tool: 'postgres_long_transactions', why: 'Which transactions are old' },
  ],
  tools: [
    postgresActivity,
    postgresBlockingTree,
    postgresLongTransactions,
    postgresIdleInTransaction,
    postgresConnections,
    postgresLocks,
    postgresSession,
    postgresTableHealth,
    postgresXidAge,
    postgresReplication,
    postgresCacheHit,
    postgresCheckpoints,
    postgresDeadlocks,
    postgresIndexUse,
    postgresSizes,
    postgresSettings,
    postgresSlowStatements,
    postgresExplain,
    postgresReachable,
    postgresCancelQuery,
    postgresTerminateBackend,
    postgresVacuumTable,
    postgresAutovacuumOn,
    postgresSetSetting,
  ],
});
