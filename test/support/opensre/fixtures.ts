import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scratchDir } from '../scratch-dir.ts';

/**
 * Suites of our own in the shape of OpenSRE's, with what is awkward in theirs: comments and blank lines in YAML, quotes, lists that are
 * there and empty, nulls, a base, split metrics, both namings of RDS, answers with and without headings, and folders that are no scenario.
 */
export type Files = Readonly<Record<string, string | object>>;

const series = (metric: string, values: readonly (number | null)[]) => ({
  id: `m_${metric.toLowerCase()}`,
  label: metric,
  metric_name: metric,
  dimensions: [{ Name: 'DBInstanceIdentifier', Value: 'stock-db' }],
  stat: 'Average',
  unit: 'Count',
  status_code: 'Complete',
  timestamps: values.map((_, minute) => `2026-02-03T04:0${minute}:00Z`),
  values,
});
const envelope = {
  namespace: 'AWS/RDS',
  period: 60,
  start_time: '2026-02-03T04:00:00Z',
  end_time: '2026-02-03T04:05:00Z',
};
const insights = (statement: string, wait: string) => ({
  db_instance_identifier: 'stock-db',
  start_time: envelope.start_time,
  end_time: envelope.end_time,
  db_load: { timestamps: [envelope.start_time], values: [3.5], unit: 'AAS' },
  top_sql: [
    {
      statement,
      db_load_avg: 3.1,
      wait_events: [{ name: wait, type: 'IO', db_load_avg: 2.8 }],
      calls_per_sec: null,
    },
  ],
  top_wait_events: [{ name: wait, type: 'IO', db_load_avg: 2.8 }],
  top_users: [],
  top_hosts: [{ id: '10.9.8.7', db_load_avg: 3.1 }],
});
const event = (date: string, message: string) => ({
  date,
  message,
  source_identifier: 'stock-db',
  source_type: 'db-instance',
  event_categories: ['notification'],
});
const rdsAlert = (title: string, summary: string) => ({
  title: `[synthetic-rds] ${title}`,
  state: 'alerting',
  alert_source: 'cloudwatch',
  commonLabels: { alertname: 'StockDb', severity: 'critical', service: 'rds', engine: 'postgres' },
  commonAnnotations: { summary, db_instance_identifier: 'stock-db', rds_failure_mode: 'the_answer' },
});
const rdsMeta = (name: string, evidence: readonly string[]) => `schema_version: "1.0"
scenario_id: ${name}
engine: postgres
engine_version: "15"
db_cluster: ""
depends_on:
adversarial_signals:
  - CPU is high — and means nothing: it only looks like it
available_evidence:
${evidence.map((each) => `  - ${each}`).join('\n')}
`;
const NEW = ['aws_cloudwatch_metrics', 'aws_rds_events', 'aws_performance_insights'];

const rds: Files = {
  '000-healthy/scenario.yml': rdsMeta('000-healthy', NEW),
  '000-healthy/alert.json': rdsAlert('Periodic look at stock-db', 'Nobody complains.'),
  '000-healthy/aws_cloudwatch_metrics_envelope.json': envelope,
  '000-healthy/aws_cloudwatch_metrics_CPUUtilization.json': series('CPUUtilization', [11, 12]),
  '000-healthy/aws_cloudwatch_metrics_ReplicaLag.json': series('ReplicaLag', [0, null]),
  '000-healthy/aws_rds_events.json': { events: [] },
  '000-healthy/aws_performance_insights.json': insights('SELECT * FROM stock WHERE id = $1', 'CPU'),
  '000-healthy/answer.yml': `root_cause_category: healthy
required_keywords:
  - healthy
forbidden_categories:
  - resource_exhaustion
model_response: |
  ROOT_CAUSE: The database is healthy: nothing that was read is beyond its usual range.
  ROOT_CAUSE_CATEGORY: healthy

  VALIDATED_CLAIMS:
  - CPU stays low. [evidence: aws_cloudwatch_metrics]
`,
  '001-wal-pile-up/scenario.yml': rdsMeta('001-wal-pile-up', [
    'rds_metrics',
    'rds_events',
    'performance_insights',
  ]),
  '001-wal-pile-up/alert.json': rdsAlert(
    'The replica lags',
    'Reads are stale. An old failover is on record.',
  ),
  '001-wal-pile-up/cloudwatch_metrics.json': {
    ...envelope,
    metric_data_results: [series('ReplicaLag', [1, 900]), series('CPUUtilization', [80, 81])],
  },
  '001-wal-pile-up/rds_events.json': {
    events: [event('2026-02-02T00:00:00Z', 'Multi-AZ failover completed')],
  },
  '001-wal-pile-up/performance_insights.json': insights('INSERT INTO movements SELECT …', 'WAL:Write'),
  '001-wal-pile-up/QA_VALIDATION.md': 'Looked at.',
  '001-wal-pile-up/answer.yml': `root_cause_category: resource_exhaustion
required_keywords:
  - replication lag
  - WAL
  - nightly import
required_evidence_sources:
  - rds_events
  - performance_insights
forbidden_categories:
  - infrastructure
forbidden_keywords:
ruling_out_keywords:
  # "failover": it must be named, and put aside
  - failover
  - WAL
optimal_trajectory:
  - query_grafana_logs
  - query_grafana_metrics
  - query_grafana_alert_rules
max_investigation_loops: 3
model_response: |
  ROOT_CAUSE: Replication lag of ~900 s: the nightly import writes WAL at about 190 MB/s, faster than the replica replays it.
  ROOT_CAUSE_CATEGORY: resource_exhaustion

  VALIDATED_CLAIMS:
  - ReplicaLag grew from 1 to 900 s. [evidence: rds_metrics]
  - WAL:Write is the dominant wait. [evidence: performance_insights]

  NON_VALIDATED_CLAIMS:
  - The failover of the day before is over and has nothing to do with it.

  CAUSAL_CHAIN:
  - The import began at 04:00Z.
  - The replica fell behind.
`,
  '002-disk-without-its-metric/scenario.yml':
    'base: 000-healthy\nseverity: critical\nscenario_difficulty: 3\n',
  '002-disk-without-its-metric/alert.json': rdsAlert('Writes stall', 'Storage metrics have a gap.'),
  '002-disk-without-its-metric/aws_cloudwatch_metrics.json': {
    ...envelope,
    metric_data_results: [series('WriteIOPS', [900, 0, null])],
  },
  '002-disk-without-its-metric/aws_rds_events.json': {
    events: [event('2026-02-03T04:02:00Z', 'DB instance ran out of storage space')],
  },
  '002-disk-without-its-metric/answer.yml': `root_cause_category:   resource_exhaustion
required_keywords: [ storage space, 'events' ]
required_evidence_sources: [aws_rds_events]
ruling_out_keywords: []
model_response: >
  ROOT_CAUSE: stock-db ran out of storage space, as its events say; the metric itself was not collected.
`,
  '003-failover/scenario.yml': 'base: 000-healthy\navailable_evidence: [aws_rds_events]\n',
  '003-failover/aws_rds_events.json': {
    events: ['Failover initiated', 'Failover in progress', 'Failover completed', 'Instance available'].map(
      (message, second) => event(`2026-02-03T04:00:0${second}Z`, message),
    ),
  },
  '003-failover/answer.yml': `root_cause_category: infrastructure
required_keywords:
  - failover initiated
  - failover in progress
  - failover completed
  - instance available
  - primary evidence source
required_evidence_sources:
  - aws_rds_events
max_investigation_loops: 0
model_response: |
  ROOT_CAUSE: A failover to the standby.
  ROOT_CAUSE_CATEGORY: infrastructure
  VALIDATED_CLAIMS:
  - The RDS event timeline is the primary evidence source: failover initiated, failover in progress, failover completed, instance available. [evidence: aws_rds_events]
`,
  '004-one-tenant/scenario.yml': `${rdsMeta('004-one-tenant', [...NEW.slice(0, 2), 'ec2_instances_by_tag', 'elb_target_health'])}topology:
  vpc_id: vpc-1
  # one of three
  tiers: [{ name: api, asg: null }]
`,
  '004-one-tenant/alert.json': rdsAlert('CPU near its limit', 'CPU is at 91 %.'),
  '004-one-tenant/aws_cloudwatch_metrics_envelope.json': envelope,
  '004-one-tenant/aws_cloudwatch_metrics_CPUUtilization.json': series('CPUUtilization', [12, 91]),
  '004-one-tenant/aws_cloudwatch_metrics_RequestCountMaple.json': series('RequestCount', [410, 3306]),
  '004-one-tenant/aws_rds_events.json': { events: [event('2026-02-03T00:08:00Z', 'Backup completed')] },
  '004-one-tenant/ec2_instances_by_tag.json': {
    instances: [{ id: 'i-1', tags: { tenant: 'maple' }, state: null }],
  },
  '004-one-tenant/elb_target_health.json': { target_groups: [{ name: 'maple-tg', targets: [] }] },
  '004-one-tenant/answer.yml': `root_cause_category: application_load_spike
equivalent_root_cause_categories:
  - tenant_noisy_neighbor
required_keywords:
  - tenant
  - maple
  - "91"
  - 91
forbidden_keywords:
  - slow query
  - two root causes
forbidden_categories:
  - cpu_saturation
  - connection_exhaustion
required_evidence_sources:
  - aws_cloudwatch_metrics
  - elb_target_health
# There is no tool for the instance itself here.
optimal_trajectory:
  - describe_rds_instance
  - describe_rds_events
  - query_grafana_metrics
  - ec2_instances_by_tag
  - get_elb_target_health
golden_trajectory:
  ordered_actions: [describe_rds_instance]
  matching: lcs
required_queries: [RequestCount]
max_investigation_loops: 3
ruling_out_keywords:
  - baseline
model_response: |
  ROOT_CAUSE: Tenant maple alone drives the CPU to 91 %: its requests climbed ~8x.
  ROOT_CAUSE_CATEGORY: application_load_spike

  VALIDATED_CLAIMS:
  - RequestCount of maple climbed from 410 to 3306. [evidence: aws_cloudwatch_metrics]
  - The others stay at their baseline. [evidence: elb_target_health, ec2_instances_by_tag]

  RECOMMENDED_ACTIONS:
  - Talk to maple.
`,
  'shared/baseline_metrics.json': { metric_data_results: [] },
  '_baseline/000-healthy.json': { passed: true },
  'run_suite.py': 'pass',
};

const pod = (name: string, phase: string, waiting: string | null) => ({
  name,
  namespace: 'stock',
  phase,
  node_name: phase === 'Pending' ? 'unscheduled' : 'node-a',
  containers: [
    { name: 'stock-api', ready: waiting === null, restart_count: 0, state: { waiting, last: null } },
  ],
});
const warning = (reason: string, message: string) => ({
  namespace: 'stock',
  reason,
  message,
  type: 'Warning',
  count: 1,
  involved_object: 'Pod/stock-api-1',
  first_time: '2026-02-03T04:00:00Z',
});
const eksAlert = (title: string, description: string) => ({
  title: `[synthetic-k8s] ${title} — stock-api`,
  state: 'alerting',
  alert_source: 'datadog',
  commonLabels: { alertname: 'StockApi', severity: 'warning', namespace: 'stock' },
  commonAnnotations: { description, kube_namespace: 'stock', context_sources: 'datadog,eks' },
});

const eks: Files = {
  '000-healthy/scenario.yml': `schema_version: "1.0"
scenario_id: 000-healthy
engine: eks
available_evidence:
  - eks_pods
  - eks_events
  - eks_deployments
  - eks_node_health
  - eks_pod_logs
  - datadog_logs
  - datadog_monitors
`,
  '000-healthy/alert.json': eksAlert('Restarts', 'One restart an hour ago.'),
  '000-healthy/eks_pods.json': { pods: [pod('stock-api-1', 'Running', null)] },
  '000-healthy/eks_events.json': { warning_events: [] },
  '000-healthy/eks_deployments.json': {
    deployments: [{ name: 'stock-api', namespace: 'stock', desired: 1, ready: 1, unavailable: 0 }],
  },
  '000-healthy/eks_node_health.json': { nodes: [{ name: 'node-a', ready: 'True', disk_pressure: 'False' }] },
  '000-healthy/eks_pod_logs.json': {
    pod_name: 'stock-api-1',
    logs: 'listening on :8080\n"GET /" 200 — ok\n',
  },
  '000-healthy/datadog_logs.json': { logs: [{ message: '[stock-api] started', tags: ['env:prod'] }] },
  '000-healthy/datadog_monitors.json': { monitors: [{ name: '[stock] latency p95', overall_state: 'OK' }] },
  '000-healthy/answer.yml': `root_cause_category: healthy

required_keywords:
  - restart
  - no active failure

forbidden_categories:
  - unknown
  - code_defect

ruling_out_keywords:
  - transient

required_queries:
  - list_eks_pods

optimal_trajectory:
  - list_eks_pods
  - query_datadog_monitors

max_investigation_loops: 3

model_response: |
  ROOT_CAUSE: There is no active failure. A single transient restart is over, and the pod runs.
  ROOT_CAUSE_CATEGORY: healthy

  VALIDATED_CLAIMS:
  - The pod is Running. [evidence: eks_pods]`,
  '001-image/scenario.yml': 'base: 000-healthy\nscenario_id: 001-image\nfailure_mode: image_pull\n',
  '001-image/alert.json': eksAlert('Pods do not start', 'Memory may be short.'),
  '001-image/eks_pods.json': { pods: [pod('stock-api-2', 'Pending', 'ImagePullBackOff')] },
  '001-image/eks_events.json': {
    warning_events: [warning('Failed', 'Failed to pull image "stock:v9-none": manifest unknown')],
  },
  '001-image/answer.yml': `root_cause_category: configuration_error
required_keywords:
  - ImagePullBackOff
  - "stock:v9-none"
forbidden_categories: [healthy, unknown, resource_exhaustion]
ruling_out_keywords:
  - not an OOM
required_queries:
  - get_eks_events
optimal_trajectory:
  - list_eks_pods
  - get_eks_events
max_investigation_loops: 2
model_response: |
  ROOT_CAUSE: The new pods wait in ImagePullBackOff: the tag 'stock:v9-none' does not exist.
  ROOT_CAUSE_CATEGORY: configuration_error

  VALIDATED_CLAIMS:
  - The registry says manifest unknown. [evidence: eks_events]

  NON_VALIDATED_CLAIMS:
  - It is not an OOM: no container was ever started.
`,
};

const hermes: Files = {
  '041-no-gate/scenario.yml': `schema_version: "1"
scenario_id: "041-no-gate"

available_evidence:
  - "hermes_session_log"
  - "hermes_approval_events"
`,
  '041-no-gate/alert.json': {
    title: 'A dangerous command ran',
    state: 'firing',
    alert_source: 'hermes',
    commonLabels: { alertname: 'GateMissing', severity: 'critical', service: 'hermes' },
    commonAnnotations: { summary: 'Nobody was asked.', failure_mode: 'the_answer' },
  },
  '041-no-gate/hermes_session_log.json': {
    session_id: 's-41',
    events: [{ ts: '2026-02-03T04:00:00Z', kind: 'command_executed', payload: { class: 'destructive' } }],
  },
  '041-no-gate/hermes_approval_events.json': { events: [] },
  '041-no-gate/answer.yml': `root_cause_category: "missing_approval_gate"

required_keywords:
  - "approval"
  - "destructive command"

required_evidence_sources:
  - "hermes_approval_events"

optimal_trajectory:
  - "get_hermes_session_log"
  - "get_hermes_approval_events"

forbidden_categories:
  - "user_error"

forbidden_keywords:
  - "user mistake"

model_response: |
  The root cause is missing_approval_gate.

  A destructive command ran without approval, as no gate asks for it.
`,
};

/** What lies beside the suites and cannot be converted, each for another reason. */
const others: Files = {
  'hermes/011-log-only/scenario.yml': 'scenario_id: "011-log-only"\nlog_file: "errors.log"\n',
  'hermes/011-log-only/answer.yml': 'expected_incidents:\n  - rule: "history"\n',
  'hermes/011-log-only/errors.log': 'ERROR\n',
  'repo_scope/001-url/scenario.json': { scenario_id: '001-url', expected: { owner: 'we' } },
  'openclaw/scenarios/slow-tool/alert.json': { title: 'Slow' },
  'mock_backend/backend.py': 'pass',
};

const inFolder = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([file, content]) => [`${folder}/${file}`, content]));

/** As `tests/synthetic` holds them. */
export const SYNTHETIC: Files = {
  ...inFolder('rds_postgres', rds),
  ...inFolder('eks', eks),
  ...inFolder('hermes_rca', hermes),
  ...others,
};

/** Writes files to a folder of the test's own, and says where. */
export function writeFiles(files: Files): string {
  const dir = scratchDir();
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(
      join(dir, file),
      typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`,
    );
  }
  return dir;
}
