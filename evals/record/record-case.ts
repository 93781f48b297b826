import { setTimeout as sleep } from 'node:timers/promises';
import { createPlaybook } from '../../src/agents/playbook/create-playbook.ts';
import type { Diagnosis } from '../../src/core/diagnosis.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import { runbooksFor } from '../../src/runbooks/runbooks-for.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { incidentOf } from '../replay/incident-of.ts';
import { createRecordedSession } from '../replay/recorded-session.ts';
import { createRecordings } from '../replay/recordings.ts';
import { Scenario } from '../replay/scenario.ts';
import type { CausedFault, FaultCase, Lab, Look } from './fault-case.ts';
import {
  clusterPlace,
  databasePlace,
  enginePlace,
  hostPlace,
  type LivePlace,
  type LiveTools,
  liveTools,
} from './live-tools.ts';

/** An alert fires some seconds after the trouble has begun, and somebody looks some seconds later. */
const FIRES_AFTER_MS = 1_500;
const LOOKED_AT_AFTER_MS = 2_000;

/** A kind of system that is recorded: how alerts name it, and what anybody may want to look at, asked once beside what the playbook asks. */
interface Recorded {
  readonly target: string;
  readonly domain: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly looks: readonly Look[];
  /** Also what the playbook has asked already, with another input. */
  readonly asksAll: boolean;
}

const DATABASE: Recorded = {
  target: 'orders-db',
  domain: 'postgres',
  labels: { source_type: 'database', instance: 'orders-db' },
  looks: [
    { tool: 'postgres_activity' },
    { tool: 'postgres_blocking_tree' },
    { tool: 'postgres_connections' },
    { tool: 'postgres_long_transactions' },
    { tool: 'postgres_idle_in_transaction' },
    { tool: 'postgres_locks' },
    { tool: 'postgres_table_health' },
    { tool: 'postgres_xid_age' },
    { tool: 'postgres_replication' },
    { tool: 'postgres_checkpoints' },
    { tool: 'postgres_deadlocks' },
    { tool: 'postgres_cache_hit', input: { sample_seconds: 2 } },
    { tool: 'postgres_index_use' },
    { tool: 'postgres_sizes' },
    { tool: 'postgres_slow_statements' },
  ],
  asksAll: false,
};
const HOST: Recorded = {
  target: 'app-1',
  domain: 'docker',
  labels: { job: 'node', instance: 'app-1' },
  looks: [
    { tool: 'service_status' },
    { tool: 'list_files', input: { order: 'size' } },
    { tool: 'list_files', input: { order: 'modified' } },
    { tool: 'grep_search', input: { query: 'error|fatal|cannot|failed' } },
    { tool: 'run_diagnostics', input: { command: 'df -h /srv' } },
    { tool: 'run_diagnostics', input: { command: 'free -m' } },
    { tool: 'run_diagnostics', input: { command: 'ps -eo pid,ppid,pcpu,pmem,etime,comm --sort=-pcpu' } },
    { tool: 'run_diagnostics', input: { command: 'ps -eo pid,rss,pmem,etime,comm --sort=-rss' } },
  ],
  asksAll: true,
};
const CLUSTER: Recorded = {
  target: 'prod-eu',
  domain: 'kubernetes',
  labels: { job: 'kube-state-metrics', cluster: 'prod-eu' },
  looks: [{ tool: 'kubernetes_workloads' }, { tool: 'kubernetes_nodes' }],
  asksAll: true,
};

const ENGINE: Recorded = {
  target: 'shop-1',
  domain: 'docker',
  labels: { job: 'cadvisor', instance: 'shop-1' },
  looks: [
    { tool: 'container_list', input: { limit: 200 } },
    { tool: 'container_disk' },
    { tool: 'container_networks' },
    { tool: 'container_events' },
  ],
  asksAll: false,
};

/** Causes the fault, lets the playbook look at it, looks around once more, and undoes the fault. */
export async function recordCase(
  fault: FaultCase,
  lab: Lab,
  runbooks: readonly Runbook[],
): Promise<{ readonly scenario: Scenario; readonly diagnosis: Diagnosis }> {
  const caused = await fault.cause(lab);
  const kind = recordedAs(caused);
  const { target, looks, asksAll } = kind;
  const live = liveTools(placeFor(target, caused));
  try {
    await sleep(FIRES_AFTER_MS);
    const firedAt = Date.now();
    await sleep(LOOKED_AT_AFTER_MS);
    const scenario = Scenario.parse({
      ...described(fault, kind, Math.round((Date.now() - firedAt) / 100) / 10),
      tool_outputs: [],
    });
    const diagnosis = await investigate(scenario, live, runbooks);
    for (const { tool, input } of [...looks, ...(fault.looks ?? [])])
      if (asksAll || !live.outputs.some((output) => output.tool === tool))
        await live.call({ tool, target, input: input ?? {} });
    return { scenario: { ...scenario, tool_outputs: [...live.outputs] }, diagnosis };
  } finally {
    await live.close();
    await caused.release();
  }
}

function recordedAs(caused: CausedFault): Recorded {
  if ('host' in caused) return HOST;
  if ('cluster' in caused) return CLUSTER;
  return 'engine' in caused ? { ...ENGINE, domain: caused.engine.kind } : DATABASE;
}

function placeFor(target: string, caused: CausedFault): LivePlace {
  if ('host' in caused) return hostPlace(target, caused.host);
  if ('engine' in caused) return enginePlace(target, caused.engine);
  return 'cluster' in caused ? clusterPlace(target, caused.cluster) : databasePlace(target, caused.readUrl);
}

function described(fault: FaultCase, { target, domain, labels: own }: Recorded, ageSeconds: number) {
  const { id, title, runbook, alert, expected } = fault;
  const labels = {
    alertname: alert.alertname,
    severity: alert.severity,
    ...own,
    ...alert.labels,
  };
  return {
    id,
    title,
    kind: 'alert',
    domain,
    target,
    runbook,
    incident: {
      title: alert.summary,
      commonLabels: labels,
      commonAnnotations: { summary: alert.summary, description: alert.description },
      age_seconds: ageSeconds,
    },
    severity: alert.severity,
    expected,
  };
}

async function investigate(
  scenario: Scenario,
  live: LiveTools,
  runbooks: readonly Runbook[],
): Promise<Diagnosis> {
  const session = createRecordedSession({
    incident: incidentOf(scenario, Date.now()),
    recordings: createRecordings([]),
    signal: AbortSignal.timeout(120_000),
  });
  const followed = runbooksFor(runbooks, live.kind, createRegistry(allTools));
  const playbook = createPlaybook({ runbooks: () => followed });
  const work = { ...session.work('detective'), callTool: live.call };
  const triage = await playbook.triage(work);
  return playbook.diagnose(work, triage);
}
