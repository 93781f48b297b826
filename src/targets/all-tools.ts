import type { Tool } from '../tools/define.ts';
import { fetchDocsTool } from '../tools/docs/fetch-docs.ts';
import { applyPatch } from './host/active/apply-patch.ts';
import { restartServiceTool } from './host/active/restart-service.ts';
import { undoPatchTool } from './host/active/undo-patch.ts';
import { compareFiles } from './host/read/compare-files.ts';
import { grepSearch } from './host/read/grep-search.ts';
import { listFiles } from './host/read/list-files.ts';
import { readFile } from './host/read/read-file.ts';
import { runDiagnostics } from './host/read/run-diagnostics.ts';
import { serviceReachable } from './host/read/service-reachable.ts';
import { serviceStatus } from './host/read/service-status.ts';
import { postgresAutovacuumOn } from './postgres/active/autovacuum-on.ts';
import { postgresCancelQuery } from './postgres/active/cancel-query.ts';
import { postgresSetSetting } from './postgres/active/set-setting.ts';
import { postgresTerminateBackend } from './postgres/active/terminate-backend.ts';
import { postgresVacuumTable } from './postgres/active/vacuum-table.ts';
import { postgresActivity } from './postgres/read/activity.ts';
import { postgresBlockingTree } from './postgres/read/blocking-tree.ts';
import { postgresCacheHit } from './postgres/read/cache-hit.ts';
import { postgresCheckpoints } from './postgres/read/checkpoints.ts';
import { postgresConnections } from './postgres/read/connections.ts';
import { postgresDeadlocks } from './postgres/read/deadlocks.ts';
import { postgresExplain } from './postgres/read/explain.ts';
import { postgresIdleInTransaction } from './postgres/read/idle-in-transaction.ts';
import { postgresIndexUse } from './postgres/read/index-use.ts';
import { postgresLocks } from './postgres/read/locks.ts';
import { postgresLongTransactions } from './postgres/read/long-transactions.ts';
import { postgresReachable } from './postgres/read/reachable.ts';
import { postgresReplication } from './postgres/read/replication.ts';
import { postgresSession } from './postgres/read/session.ts';
import { postgresSettings } from './postgres/read/settings.ts';
import { postgresSizes } from './postgres/read/sizes.ts';
import { postgresSlowStatements } from './postgres/read/slow-statements.ts';
import { postgresTableHealth } from './postgres/read/table-health.ts';
import { postgresXidAge } from './postgres/read/xid-age.ts';

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
