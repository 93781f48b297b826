import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';
import type { Log } from '../../src/core/log.ts';
import { createAccept } from '../../src/ingest/accept.ts';
import { loadRunbooks } from '../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { domainOfLabels } from '../../src/targets/domains.ts';
import { kinds } from '../../src/targets/kinds.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import type { Scenario } from '../replay/scenario.ts';
import type { Stage } from './play.ts';
import { startSimulatedServer } from './simulated-database.ts';

/** Where recovery cases are played: a PostgreSQL of its own for the record, the real tools and runbooks, and the recorded incidents. */
export async function openRecoveryStage(
  scenarios: readonly Scenario[],
  log: Log,
): Promise<Stage & { close(): Promise<void> }> {
  const { runbooks } = await loadRunbooks(join(packageRoot(), 'runbooks'), {
    tools: createRegistry(allTools),
  });
  const server = await startSimulatedServer(join(packageRoot(), 'prisma', 'migrations'), log);
  return {
    openRecord: server.open,
    accept: (sql, target) => createAccept(sql, [target], domainOfLabels(kinds)),
    tools: allTools,
    runbooks,
    scenarios: new Map(scenarios.map((scenario) => [scenario.id, scenario])),
    log,
    close: server.stop,
  };
}
