import type { ChangesSubject, NamedSystem } from '../changes/judge-changes.ts';
import { namesOf } from '../core/change.ts';
import { ENVIRONMENT_LABELS, isSameEnvironment } from '../core/environment.ts';
import type { IncidentId } from '../core/ids.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { isObject } from '../core/json-of.ts';
import type { Target } from '../core/target.ts';
import { alertStartedAt } from '../record/alert-started-at.ts';
import { type AlertRow, type EventRow, toAlert, toEvent } from '../record/rows.ts';
import { labelOf, valuesOf } from './correlation/correlate.ts';
import type { InvestigationDeps } from './deps.ts';

/** What is deployed: a change that names another of these is of something else in the same system. */
const WORKLOADS = [
  'service',
  'service_name',
  'app',
  'application',
  'component',
  'deployment',
  'kube_deployment',
  'statefulset',
  'daemonset',
  'cronjob',
  'workload',
  'workload_name',
  'unit',
  'systemd_unit',
];
const CONTAINERS = ['container', 'container_name', 'name'];
const PODS = ['pod', 'pod_name', 'kubernetes_pod_name'];
const REPLICA_SETS = ['replicaset'];
const JOBS = ['job_name'];
/** Where the monitoring has its own, as kube-state-metrics has, what it tells of is called `exported_namespace`. */
const NAMESPACES = ['exported_namespace', 'namespace', 'kubernetes_namespace', 'kube_namespace'];
/** Who is scraped or runs: often a service, and as often only how the monitoring is set up. */
const ALSO = ['job'];
const DATA = ['table', 'table_name', 'relname', 'relation', 'index', 'index_name', 'indexrelname'];
/** What may have code of its own: a job, a table or whatever is just called `name` opens none. */
const SERVICES = [...WORKLOADS, 'container', 'container_name'];
/** A model's word of when it began is not believed further back. */
const ONSET_MS = 24 * 60 * 60_000;

/** So many alerts of an incident are read: the last ones say what it is about. */
const ALERTS = 200;

/** Null: there is no such incident. */
export async function readChangesSubject(
  {
    sql,
    records,
    targets,
  }: Pick<InvestigationDeps, 'sql' | 'records'> & {
    readonly targets: ReadonlyMap<string, Target>;
  },
  id: IncidentId,
): Promise<ChangesSubject | null> {
  const incident = await records.incident(id);
  if (incident === null) return null;
  const [alerts, events] = await Promise.all([
    sql<AlertRow>`SELECT * FROM alert WHERE incident_id = ${id} ORDER BY id DESC LIMIT ${ALERTS}`,
    sql<EventRow>`
      SELECT * FROM event WHERE incident_id = ${id} AND type IN ('alert.repeated', 'diagnosis.concluded') ORDER BY seq`,
  ]);
  return changesSubjectOf(
    { incident, alerts: alerts.map(toAlert).toReversed(), events: events.map(toEvent) },
    targets,
  );
}

/** What changes are looked for of, and by when before and after are told, from what is on record of an incident. */
export function changesSubjectOf(
  record: Pick<IncidentRecord, 'incident' | 'alerts' | 'events'>,
  targets: ReadonlyMap<string, Target>,
): ChangesSubject {
  const { incident } = record;
  const target = incident.target === null ? undefined : targets.get(incident.target);
  const system = target === undefined ? null : systemOf(target);
  const neighbours = (target?.neighbours ?? []).flatMap((name) => {
    const neighbour = targets.get(name);
    return neighbour === undefined ? [] : [systemOf(neighbour)];
  });
  const environment = system?.environment ?? labelOf(incident, ENVIRONMENT_LABELS);
  const isOurs = (name: string): boolean =>
    [system, ...neighbours].some((each) => each?.names.includes(name));
  const near = new Set([incident.target, ...neighbours.map(({ name }) => name)]);
  const others = [...targets.values()].filter(({ name }) => !near.has(name));
  const isCalled = (keys: readonly string[], also: Also = plainly): readonly string[] =>
    labelled(record, keys).flatMap((name) => [name, ...also(name)]);
  const things = (names: readonly string[]): readonly string[] =>
    namesOf(names).filter((name) => !system?.names.includes(name) && !isOnlyAKind(name, target));
  return {
    beganAt: beganAt(record),
    system,
    environment,
    workloads: things([
      ...isCalled(WORKLOADS),
      ...isCalled(CONTAINERS, ofInstance),
      ...isCalled(PODS, ofPod),
      ...isCalled(REPLICA_SETS, ofReplicaSet),
      ...isCalled(JOBS, ofJob),
    ]),
    alsoCalled: things(isCalled(ALSO)),
    data: things(isCalled(DATA, ofSchema)),
    namespaces: namesOf(NAMESPACES.map((key) => labelled(record, [key])).find((all) => all.length > 0) ?? []),
    neighbours,
    elsewhere: namesOf(
      others
        .filter((other) => !isSameEnvironment(other.environment, environment))
        .flatMap(({ name, aliases }) => [name, ...aliases]),
    ).filter((name) => !isOurs(name)),
    services: namesOf(labelled(record, SERVICES)),
    others: namesOf(others.flatMap(({ name, aliases }) => [name, ...aliases])).filter(
      (name) => !isOurs(name),
    ),
  };
}

const systemOf = ({ name, aliases, environment, changesFrom }: Target): NamedSystem => ({
  name,
  names: namesOf([name, ...aliases]),
  environment,
  changesFrom: changesFrom ?? null,
});

/** In the labels of its alerts; a group's differ. */
function labelled(
  { incident, alerts }: Pick<IncidentRecord, 'incident' | 'alerts'>,
  keys: readonly string[],
): readonly string[] {
  const firing = alerts.filter(({ status }) => status === 'firing');
  return [
    ...valuesOf(incident, keys),
    ...firing.flatMap(({ labels }) => (isObject(labels) ? valuesOf({ labels, annotations: {} }, keys) : [])),
  ];
}

/** What else something is called. */
type Also = (name: string) => readonly string[];
const plainly: Also = () => [];

/** `shop_api_1`, as Compose makes it up, is one of `shop_api`. */
const ofInstance: Also = (name) => matched(/^(.+)[-_]\d{1,3}$/, name);

/** `shop.orders` is called `orders`, too. */
const ofSchema: Also = (name) => matched(/^[a-z_][\w$]*\.([a-z_][\w$]*)$/i, name);

/** What Kubernetes makes up has no vowels, and neither 0, 1 nor 3; the hash of a pod template has a digit. */
const RANDOM = '[bcdfghjklmnpqrstvwxz2456789]';
const HASHED = new RegExp(`^(.+)-(?=[a-z]*\\d)${RANDOM}{6,10}$`);
const GENERATED = new RegExp(`^(.+)-${RANDOM}{5}$`);

const ofReplicaSet: Also = (name) => matched(HASHED, name);

/** A cron job's job ends in its minute since 1970; in its second, with an old Kubernetes. */
const ofJob: Also = (name) => matched(/^(.+)-(?:[2-9]\d{7}|1\d{9})$/, name);

/**
 * Whose pod it is: a deployment's `api-7d9f8b6c5d-x2x4z`, a daemon set's or job's `agent-x2x4z`, a cron job's `nightly-29123456-x2x4z`, or
 * a stateful set's `db-0`. Only the end that was made up is left out: `api-v2` is not `api`.
 */
function ofPod(name: string): readonly string[] {
  const owner = matched(GENERATED, name);
  if (owner.length === 0) return matched(/^(.+)-(?:0|[1-9]\d{0,3})$/, name);
  const above = owner.flatMap((each) => [...ofReplicaSet(each), ...ofJob(each)]);
  return above.length > 0 ? above : owner;
}

function matched(pattern: RegExp, name: string): readonly string[] {
  const [, part] = pattern.exec(name) ?? [];
  return part === undefined ? [] : [part];
}

/** “postgres”, “node-exporter”: the name says what sort of thing it is, and not which. */
function isOnlyAKind(name: string, target: Target | undefined): boolean {
  return name === target?.kind || name === target?.domain || /^(?:node|kubelet|.*exporter)$/.test(name);
}

/**
 * The earliest that is known: when its alert began, when it was opened, or when a diagnosis showed that it began. Of one that fired again
 * after its end, only what is known of this time.
 */
function beganAt({
  incident,
  alerts,
  events,
}: Pick<IncidentRecord, 'incident' | 'alerts' | 'events'>): string {
  const again = events.findLastIndex((event) => event.type === 'alert.repeated' && event.again === true);
  const opened = events[again]?.at ?? incident.openedAt;
  const alert = alertStartedAt({ incident, alerts, events });
  const first = alert !== null && Date.parse(alert) < Date.parse(opened) ? alert : opened;
  const onsets = events.slice(again + 1).flatMap((event) => {
    const onset = event.type === 'diagnosis.concluded' ? event.diagnosis.onset : undefined;
    const at = onset === undefined ? Number.NaN : Date.parse(onset);
    return at >= Date.parse(first) - ONSET_MS ? [new Date(at).toISOString()] : [];
  });
  return [new Date(first).toISOString(), ...onsets].toSorted()[0] ?? first;
}
