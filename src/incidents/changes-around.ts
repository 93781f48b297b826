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
  'container',
  'container_name',
  'name',
  'pod',
  'pod_name',
  'deployment',
  'kube_deployment',
  'statefulset',
  'daemonset',
  'replicaset',
  'cronjob',
  'job_name',
  'workload',
  'workload_name',
  'unit',
  'systemd_unit',
];
/** Who is scraped or runs: often a service, and as often only how the monitoring is set up. */
const ALSO = ['job'];
const DATA = ['table', 'table_name', 'relname', 'relation', 'index', 'index_name', 'indexrelname'];
/** What may have code of its own: a job, a table or whatever is just called `name` opens none. */
const SERVICES = [
  'service',
  'service_name',
  'app',
  'application',
  'component',
  'container',
  'container_name',
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
  const near = new Set([incident.target, ...neighbours.map(({ name }) => name)]);
  const others = [...targets.values()].filter(({ name }) => !near.has(name));
  const isCalled = (keys: readonly string[]): readonly string[] =>
    namesOf(labelled(record, keys).flatMap(alsoNamed)).filter(
      (name) => !system?.names.includes(name) && !isOnlyAKind(name, target),
    );
  return {
    beganAt: beganAt(record),
    system,
    environment,
    workloads: isCalled(WORKLOADS),
    alsoCalled: isCalled(ALSO),
    data: isCalled(DATA),
    neighbours,
    elsewhere: namesOf(
      others
        .filter((other) => !isSameEnvironment(other.environment, environment))
        .flatMap(({ name, aliases }) => [name, ...aliases]),
    ).filter((name) => ![system, ...neighbours].some((each) => each?.names.includes(name))),
    services: namesOf(labelled(record, SERVICES)),
    others: namesOf(others.flatMap(({ name, aliases }) => [name, ...aliases])).filter(
      (name) => ![system, ...neighbours].some((each) => each?.names.includes(name)),
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

/**
 * `shop-api-7d9f8b6c5d-x2x4z`, `shop-db-0` and `shop_api_1` are of workloads without the end, as Kubernetes and Compose make them up, and
 * `shop.orders` is called `orders`, too.
 */
function alsoNamed(name: string): readonly string[] {
  const pod = /^(.+?)(?:-[bcdfghjklmnpqrstvwxz2456789]{6,10})?-[bcdfghjklmnpqrstvwxz2456789]{5}$/.exec(name);
  const instance = /^(.+)[-_]\d{1,3}$/.exec(name);
  const part = /^[a-z_][\w$]*\.([a-z_][\w$]*)$/i.exec(name);
  return [name, pod?.[1], instance?.[1], part?.[1]].filter((each) => each !== undefined);
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
