import { randomUUID } from 'node:crypto';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createWorkspaceSettings } from '../actions/policy/workspace-settings.ts';
import { openRepositories } from '../code/open-repositories.ts';
import { readConfigFile } from '../config/config-file.ts';
import { live } from '../core/live.ts';
import { createEventBus } from '../infra/db/event-bus.ts';
import { watchEventLoop } from '../infra/process/watch-event-loop.ts';
import { createGrades } from '../record/grades.ts';
import { createRecords } from '../record/record.ts';
import { loadRunbooks, problemLine, readRunbookFiles } from '../runbooks/load-runbooks.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { openVaultKey } from '../safety/vault/vault-key.ts';
import { createSlackWorkspace } from '../slack/people/slack-workspace.ts';
import { addMappings } from '../sources/registry.ts';
import { toolsOfKinds } from '../targets/all-tools.ts';
import { domainsOf } from '../targets/domains.ts';
import { connectSystems } from '../targets/systems.ts';
import { changesTools } from '../tools/changes/changes-tools.ts';
import { codeTools } from '../tools/code/code-tools.ts';
import type { ChangesTool, Tool } from '../tools/define.ts';
import { evidenceTools } from '../tools/evidence/evidence-tools.ts';
import type { ForeignServers } from '../tools/mcp/foreign-servers.ts';
import { memoryToolset } from '../tools/memory/memory-tools.ts';
import { createRegistry } from '../tools/registry.ts';
import { usualValues } from '../tools/usual/usual-values.ts';
import { checkChangesFrom } from './changes-from.ts';
import { countingRefusals } from './layers.ts';
import { countingUsage } from './model-metrics.ts';
import type { Parts } from './parts.ts';
import { ownPorts } from './tool-ports.ts';

export type Foundations = Awaited<ReturnType<typeof createFoundations>>;

/** What every service stands on: the record, the bus, the systems under care, the runbooks' files, the people in Slack. */
export async function createFoundations(parts: Parts) {
  const { config, store, log } = parts;
  const { sql } = store;
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const records = countingUsage(createRecords(sql), metrics);
  const systems = connectSystems(parts.kinds, parts.targets, { ownPorts: ownPorts(parts) });
  const tools = toolsOfKinds(parts.kinds);
  const registry = createRegistry<Tool | ChangesTool>([...tools, ...changesTools]);
  const domains = domainsOf(parts.kinds);
  const foreign = await foreignServers(parts);
  addMappings(config.sourcesDir);
  checkChangesFrom(() => readConfigFile(config.targetsFile), config.targets, config.http.apiTokens);
  const { runbooks, problems } = await loadRunbooks(config.runbooksDir, { tools: registry, domains });
  for (const problem of problems) log.error({ runbook: problem.file }, problemLine(problem));
  const audit = countingRefusals(createAuditLog(sql), metrics);
  const vaultKey = openVaultKey(config.dataDir, config.vaultKey);
  const settings = createWorkspaceSettings({
    key: vaultKey,
    sql,
    audit,
    fixed: parts.fixed,
    team: () => slackWorkspace.team(),
  });
  const slackWorkspace = createSlackWorkspace({
    connection: parts.slack,
    alertChannels: live(() => settings.alertChannels),
    sql,
    log,
  });
  await settings.refresh();
  return {
    parts,
    config,
    sql,
    slackSql: await store.forSlack(),
    log,
    metrics,
    records,
    grades: createGrades(sql, records),
    executorId: randomUUID(),
    shutdown: new AbortController(),
    bus: createEventBus({ url: store.url, log }),
    loopWatch: watchEventLoop(log),
    systems,
    /** The targets as they are at the moment of asking, by name. */
    targets: systems.targets,
    eachTarget: live(() => systems.targets.values()),
    domains,
    tools,
    /** What the steps of runbooks may use; models are offered those of memory and evidence as well. */
    registry,
    offered: [
      ...tools,
      ...foreign.tools,
      ...evidenceTools,
      ...changesTools,
      ...codeTools(openRepositories(config.repositories)),
      ...(config.usualMinutes === null ? [] : [usualValues]),
      ...memoryToolset,
    ],
    foreign,
    runbooks,
    problems,
    runbookFiles: await readRunbookFiles(config.runbooksDir),
    slackWorkspace,
    settings,
    audit,
    vaultKey,
  };
}

/** The protocol's library is loaded only where it is spoken. */
async function foreignServers({ config, store, log }: Parts): Promise<ForeignServers> {
  const { servers } = config.mcp;
  if (servers.length === 0) return { tools: [], close: async () => undefined };
  const { openForeignServers } = await import('../tools/mcp/foreign-servers.ts');
  return openForeignServers(servers, { sql: store.sql, log });
}
