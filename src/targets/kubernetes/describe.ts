import { age, withoutBreaks } from '../format.ts';
import type { Condition, Event, Node } from './objects.ts';
import { type PodState, secondsSince } from './pod-state.ts';

/** `web-6d4-abc: CrashLoopBackOff, exit code 1, started again 4 times, on node-1, 5m 2s old: back-off 40s …`. */
export function podLine(pod: PodState): string {
  const { name, state, exit_code: code, restarts, node, age_seconds, message, container, trouble } = pod;
  const said = [
    trouble === 'out_of_memory' && state !== 'OOMKilled' ? `${state}, out of memory` : state,
    ...(code === null || code === 0 ? [] : [`exit code ${code}`]),
    ...(restarts > 0 ? [`started again ${restarts} times`] : []),
    ...(node === null ? [] : [`on ${node}`]),
    `${age(age_seconds)} old`,
  ].join(', ');
  const where = container === null || trouble === 'none' ? '' : ` [${container}]`;
  return withoutBreaks(`${name}: ${said}${message === '' ? '' : `:${where} ${message.slice(0, 400)}`}`);
}

/** Where an event lists the last time it was seen; APIs of two generations keep it in different places. */
export const lastSeen = ({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp;

/** `2m 3s ago Warning FailedScheduling pod/web-1 (7 times): 0/3 nodes are available …`. */
export function eventLine(event: Event, now: number): string {
  const { type = 'Normal', reason = '', message = '', count, series, involvedObject: about } = event;
  const times = series?.count ?? count ?? 1;
  return withoutBreaks(
    `${age(secondsSince(lastSeen(event), now))} ago ${type} ${reason} ${(about.kind ?? '').toLowerCase()}/${about.name ?? ''}${times > 1 ? ` (${times} times)` : ''}: ${message.trim().slice(0, 500)}`,
  );
}

/** Oldest first. */
export const inOrder = (events: readonly Event[]): readonly Event[] =>
  events.toSorted((a, b) => Date.parse(lastSeen(a)) - Date.parse(lastSeen(b)));

export const conditionOf = (
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined => conditions?.find((each) => each.type === type);

/** What speaks against a node: its conditions that are as they should not be. */
export function nodeTroubles({ status, spec }: Node): readonly string[] {
  const conditions = status?.conditions ?? [];
  const bad = conditions.filter(({ type, status: is }) => (type === 'Ready' ? is !== 'True' : is === 'True'));
  return [
    ...bad.map(({ type, status: is, reason = '', message = '' }) =>
      withoutBreaks(
        `${type === 'Ready' ? `Ready is ${is}` : type}${reason ? ` (${reason})` : ''}${message ? `: ${message.slice(0, 300)}` : ''}`,
      ),
    ),
    ...(spec?.unschedulable ? ['cordoned: it takes no new pods'] : []),
  ];
}

/** For expressions: what one look says of a node. */
export function nodeData(node: Node) {
  const is = (type: string) => conditionOf(node.status?.conditions, type)?.status === 'True';
  return {
    name: node.metadata.name,
    ready: is('Ready'),
    ready_status: conditionOf(node.status?.conditions, 'Ready')?.status ?? 'Unknown',
    ready_reason: conditionOf(node.status?.conditions, 'Ready')?.reason ?? '',
    memory_pressure: is('MemoryPressure'),
    disk_pressure: is('DiskPressure'),
    pid_pressure: is('PIDPressure'),
    network_unavailable: is('NetworkUnavailable'),
    unschedulable: node.spec?.unschedulable === true,
    troubles: nodeTroubles(node),
  };
}
