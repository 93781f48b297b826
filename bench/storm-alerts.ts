import type { Severity } from '../src/core/alert.ts';
import type { StormSize } from './storm.ts';

/**
 * What a storm is made of. A rule's name stands over several resources and comes from several senders, a resource has several
 * rules, Alertmanager's and Grafana's problems are groups with members, some end in between and fire again, and a third of
 * Alertmanager's are told in Slack as well: whether two alerts are one problem is known here only.
 */
export const SENDERS = ['alertmanager', 'grafana', 'datadog', 'pagerduty'] as const;
export type SenderName = (typeof SENDERS)[number];

export interface StormRequest {
  readonly problem: number;
  readonly sender: SenderName;
  /** How many alerts the payload holds. */
  readonly alerts: number;
  /** When it is due, ms after the first. */
  readonly atMs: number;
  readonly payload: object;
  /** Posted in the alert channel at the same time, as Alertmanager's Slack receiver does. */
  readonly message: { readonly title: string; readonly link: string } | null;
}

const RULES = [
  'DiskWillFillSoon',
  'High memory usage',
  'CPUThrottlingHigh',
  'ConnectionPoolExhausted',
  'ReplicationLagHigh',
  'Checkout latency above target',
  'CertificateExpiresSoon',
  'QueueBacklogGrows',
  'InstanceDown',
  'ErrorBudgetBurn',
] as const;
const SYSTEMS = ['shop-db', 'shop-host', 'shop-cluster'] as const;
const SERVICES = ['checkout', 'payments', 'search', 'catalog', 'mail'] as const;
/** Two in five of the problems are Alertmanager's. */
const SHARE: readonly SenderName[] = ['alertmanager', 'grafana', 'alertmanager', 'datadog', 'pagerduty'];

interface Problem {
  readonly no: number;
  readonly sender: SenderName;
  readonly rule: string;
  readonly host: string;
  readonly area: string;
  readonly service: string;
  readonly severity: Severity;
  /** What tells the alerts of its group apart; one alone where the sender knows no groups. */
  readonly members: readonly string[];
}

/** One in ten is critical and one in ten an error, two are worth a look, spread so that what is sent first is not the worst. */
export const severityOf = (no: number): Severity =>
  (({ 7: 'critical', 4: 'error', 2: 'warning', 5: 'warning' }) as const)[no % 10] ?? 'info';

/** Every rule stands over as many places; a place is a system of the playground or a host nobody has declared. */
function problemOf(no: number): Problem {
  const place = Math.floor(no / RULES.length);
  const sender = SHARE[(no + place) % SHARE.length] ?? 'alertmanager';
  const area = `area-${String(place % 4)}`;
  return {
    no,
    sender,
    rule: RULES[no % RULES.length] ?? '',
    host: SYSTEMS[place] ?? `node-${String(place)}`,
    area,
    service: SERVICES[place % SERVICES.length] ?? '',
    severity: severityOf(no),
    members: sender === 'alertmanager' ? ['a', 'b', 'c'] : sender === 'grafana' ? ['a', 'b'] : [''],
  };
}

/** All requests of a storm in the order they are due: the problems in turn, each with the whole of its group. */
export function stormOf({ alerts, problems, seconds }: StormSize, begun: number): readonly StormRequest[] {
  const list = Array.from({ length: problems }, (_, no) => problemOf(no));
  const requests: StormRequest[] = [];
  for (let round = 0, left = alerts; left > 0; round++)
    for (const problem of list) {
      const count = Math.min(left, problem.members.length);
      if (count === 0) break;
      const atMs = ((alerts - left) / alerts) * seconds * 1_000;
      // Without a time to spread over each occurrence still begins at a moment of its own.
      const at = new Date(begun + (seconds > 0 ? atMs : round * problems + problem.no));
      const ends = problem.no % 6 === 1 && round % 8 === 5;
      requests.push({
        problem: problem.no,
        sender: problem.sender,
        alerts: count,
        atMs,
        payload: bodyOf(problem, problem.members.slice(0, count), round, at, ends),
        message:
          problem.sender === 'alertmanager' && problem.no % 3 === 0 && round === 0
            ? { title: titleOf(problem, count), link: `http://alertmanager:9093/#/alerts?receiver=sentry` }
            : null,
      });
      left -= count;
    }
  return requests;
}

/** Where the truth of an alert on record is read. */
const linkOf = ({ no }: Problem): string => `https://monitoring.example.com/rules/view?problem=${String(no)}`;
export const problemIn = (url: string): number | null => {
  const no = /[?&]problem=(\d+)$/.exec(url)?.[1];
  return no === undefined ? null : Number(no);
};

function bodyOf(
  problem: Problem,
  members: readonly string[],
  round: number,
  at: Date,
  ends: boolean,
): object {
  switch (problem.sender) {
    case 'alertmanager':
    case 'grafana':
      return groupBody(problem, members, at, ends);
    case 'datadog':
      return datadogBody(problem, round, at, ends);
    case 'pagerduty':
      return pagerdutyBody(problem, round, at, ends);
  }
}

const groupLabels = ({ rule, host, area }: Problem) => ({ alertname: rule, area, instance: host });

function groupBody(problem: Problem, members: readonly string[], at: Date, ends: boolean): object {
  const { sender, no, severity, service, rule } = problem;
  const status = ends ? 'resolved' : 'firing';
  const common = { ...groupLabels(problem), job: service, severity };
  return {
    version: '4',
    status,
    receiver: 'sentry',
    externalURL: `http://${sender}:9093`,
    groupKey: `{}:{alertname="${rule}", area="${problem.area}", instance="${problem.host}"}`,
    groupLabels: groupLabels(problem),
    commonLabels: common,
    commonAnnotations: {},
    alerts: members.map((member) => ({
      status,
      labels: { ...common, device: `vd${member}` },
      annotations: { summary: `${rule}, measured, not real` },
      startsAt: at.toISOString(),
      endsAt: ends ? at.toISOString() : '0001-01-01T00:00:00Z',
      generatorURL: linkOf(problem),
      ...(sender === 'grafana' ? { fingerprint: `${(0xabc000 + no).toString(16)}${member}` } : {}),
    })),
  };
}

function datadogBody(
  { rule, host, area, severity, ...problem }: Problem,
  round: number,
  at: Date,
  ends: boolean,
) {
  const priority = { critical: 'P1', error: 'P2', warning: 'P3', info: 'P4', unknown: 'P5' }[severity];
  const transition = ends ? 'Recovered' : round === 0 ? 'Triggered' : 'Re-Triggered';
  return {
    id: String(7_000_000 + problem.no * 1_000 + round),
    alert_id: String(5_000 + (RULES as readonly string[]).indexOf(rule)),
    alert_title: `[${priority}] [${transition}] ${rule}`,
    alert_transition: transition,
    alert_type: ends ? 'success' : 'error',
    alert_priority: priority,
    alert_scope: `env:${area},host:${host}`,
    hostname: host,
    text_only_msg: 'Measured, not real',
    date: String(at.getTime()),
    last_updated: String(at.getTime()),
    link: linkOf({ ...problem, rule, host, area, severity }),
  };
}

function pagerdutyBody(problem: Problem, round: number, at: Date, ends: boolean): object {
  const { no, rule, host, service, severity } = problem;
  const type = ends ? 'resolved' : round === 0 ? 'triggered' : 'reopened';
  return {
    event: {
      id: `01STORM${String(no)}E${String(round)}`,
      event_type: `incident.${type}`,
      resource_type: 'incident',
      occurred_at: at.toISOString(),
      data: {
        id: `PSTORM${String(no)}`,
        type: 'incident',
        html_url: linkOf(problem),
        number: no,
        status: ends ? 'resolved' : 'triggered',
        incident_key: `storm-${String(no)}`,
        created_at: at.toISOString(),
        title: `${rule} on ${host}`,
        service: { id: `PSVC${service}`, summary: service, type: 'service_reference' },
        escalation_policy: { id: 'PUS0KTE', summary: 'Default' },
        priority: {
          id: 'PSO75BM',
          summary: { critical: 'P1', error: 'P2', warning: 'P3', info: 'P4', unknown: 'P5' }[severity],
        },
        urgency: 'high',
      },
    },
  };
}

/** The default title of Alertmanager's Slack receiver: the group's labels, then in brackets what its alerts share besides. */
function titleOf(problem: Problem, firing: number): string {
  const { alertname, ...rest } = groupLabels(problem);
  const others = [...(firing === 1 ? ['vda'] : []), problem.service, problem.severity];
  return `[FIRING:${String(firing)}] ${[alertname, ...Object.values(rest)].join(' ')} (${others.join(' ')})`;
}
