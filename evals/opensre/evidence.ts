interface Kind {
  /** The recorded tool under which it is offered, where that is not its name. */
  readonly tool?: string;
  /** Files it may lie in, the first that is there counts; left out: `<name>.json`. */
  readonly files?: readonly string[];
  /** What the suite calls reading it; left out: the tool's name. */
  readonly actions?: readonly string[];
}

const METRICS = {
  tool: 'aws_cloudwatch_metrics',
  files: ['aws_cloudwatch_metrics.json', 'cloudwatch_metrics.json'],
  actions: ['query_grafana_metrics'],
};
const INSIGHTS = {
  tool: 'aws_performance_insights',
  files: ['aws_performance_insights.json', 'performance_insights.json'],
  actions: ['query_grafana_metrics'],
};
const EVENTS = {
  tool: 'aws_rds_events',
  files: ['aws_rds_events.json', 'rds_events.json'],
  actions: ['query_grafana_logs', 'describe_rds_events'],
};

/**
 * The kinds of evidence whose file, or whose read, has another name in the suites than they have themselves. The suite of RDS has
 * named its three twice: https://github.com/Tracer-Cloud/opensre/tree/main/tests/synthetic
 */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['aws_cloudwatch_metrics', METRICS],
  ['rds_metrics', METRICS],
  ['aws_performance_insights', INSIGHTS],
  ['performance_insights', INSIGHTS],
  ['aws_rds_events', EVENTS],
  ['rds_events', EVENTS],
  ['eks_pods', { actions: ['list_eks_pods'] }],
  ['eks_deployments', { actions: ['list_eks_deployments'] }],
  ['eks_events', { actions: ['get_eks_events'] }],
  ['eks_node_health', { actions: ['get_eks_node_health'] }],
  ['eks_pod_logs', { actions: ['get_eks_pod_logs'] }],
  ['datadog_logs', { actions: ['query_datadog_logs'] }],
  ['datadog_monitors', { actions: ['query_datadog_monitors'] }],
  ['elb_target_health', { actions: ['get_elb_target_health'] }],
]);

/** The recorded tool under which a piece of evidence is offered. */
export const toolOfEvidence = (name: string): string => KINDS.get(name)?.tool ?? name;

/** The files it may lie in; the first that is there counts. */
export const filesOfEvidence = (name: string): readonly [string, ...string[]] => {
  const [first = `${name}.json`, ...others] = KINDS.get(name)?.files ?? [];
  return [first, ...others];
};

/** What the suites call the act of reading a tool's evidence. */
export const actionsOfTool = (tool: string): readonly string[] =>
  KINDS.get(tool)?.actions ?? [tool.startsWith('hermes_') ? `get_${tool}` : tool];
