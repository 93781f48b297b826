import { applyPatch } from './active/host/apply-patch.ts';
import { restartServiceTool } from './active/host/restart-service.ts';
import { undoPatchTool } from './active/host/undo-patch.ts';
import { postgresAutovacuumOn } from './active/postgres/autovacuum-on.ts';
import { postgresCancelQuery } from './active/postgres/cancel-query.ts';
import { postgresSetSetting } from './active/postgres/set-setting.ts';
import { postgresTerminateBackend } from './active/postgres/terminate-backend.ts';
import { postgresVacuumTable } from './active/postgres/vacuum-table.ts';
import type { Tool } from './define.ts';
import { fetchDocsTool } from './read/fetch-docs.ts';
import { compareFiles } from './read/host/compare-files.ts';
import { grepSearch } from './read/host/grep-search.ts';
import { listFiles } from './read/host/list-files.ts';
import { readFile } from './read/host/read-file.ts';
import { runDiagnostics } from './read/host/run-diagnostics.ts';
import { serviceReachable } from './read/host/service-reachable.ts';
import { serviceStatus } from './read/host/service-status.ts';
import { postgresActivity } from './read/postgres/activity.ts';
import { postgresBlockingTree } from './read/postgres/blocking-tree.ts';
import { postgresCacheHit } from './read/postgres/cache-hit.ts';
import { postgresCheckpoints } from './read/postgres/checkpoints.ts';
import { postgresConnections } from './read/postgres/connections.ts';
import { postgresDeadlocks } from './read/postgres/deadlocks.ts';
import { postgresExplain } from './read/postgres/explain.ts';
import { postgresIdleInTransaction } from './read/postgres/idle-in-transaction.ts';
import { postgresIndexUse } from './read/postgres/index-use.ts';
import { postgresLocks } from './read/postgres/locks.ts';
import { postgresLongTransactions } from './read/postgres/long-transactions.ts';
import { postgresReachable } from './read/postgres/reachable.ts';
import { postgresReplication } from './read/postgres/replication.ts';
import { postgresSession } from './read/postgres/session.ts';
import { postgresSettings } from './read/postgres/settings.ts';
import { postgresSizes } from './read/postgres/sizes.ts';
import { postgresSlowStatements } from './read/postgres/slow-statements.ts';
import { postgresTableHealth } from './read/postgres/table-health.ts';
import { postgresXidAge } from './read/postgres/xid-age.ts';

/** Every tool Sentry has, in the order models are shown them. */
export const allTools: readonly Tool[] = [
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
  readFile,
  grepSearch,
  listFiles,
  compareFiles,
  serviceStatus,
  serviceReachable,
  runDiagnostics,
  fetchDocsTool,
  applyPatch,
  undoPatchTool,
  restartServiceTool,
];
