import { join } from 'node:path';
import { packageRoot } from '../config.ts';
import type { Log } from '../domain/log.ts';
import type { Stage } from '../evaluation/recovery/play.ts';
import type { Scenario } from '../evaluation/scenario.ts';
import { startSimulatedServer } from '../infra/db/simulated-database.ts';
import { createAccept } from '../ingest/accept.ts';
import { loadRunbooks } from '../memory/runbooks/load-runbooks.ts';
import { allTools } from '../tools/all.ts';
import { createRegistry } from '../tools/registry.ts';

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
    accept: (sql, target) => createAccept(sql, [target]),
    tools: allTools,
    runbooks,
    scenarios: new Map(scenarios.map((scenario) => [scenario.id, scenario])),
    log,
    close: server.stop,
  };
}
