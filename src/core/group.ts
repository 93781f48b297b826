import type { IncidentEvent } from './event.ts';
import type { Incident } from './incident.ts';
import type { IncidentRecord, RecordedAlert } from './incident-record.ts';
import type { Json } from './tool-call.ts';

/** `50 of DiskFull`, where the sender groups its alerts. */
export function groupTitle({ title, members }: Pick<Incident, 'title' | 'members'>): string {
  return members > 1 ? `${members} of ${title}` : title;
}

/**
 * The alerts of a group, oldest first, each by the labels in which it differs from the others (`device=sda1`, `device=sdb1
 * (over)`); empty where an incident has one alert.
 */
export function groupMembers({
  incident,
  alerts,
}: Pick<IncidentRecord, 'incident' | 'alerts'>): readonly string[] {
  const source = alerts.find(({ deliveryKey }) => !deliveryKey.startsWith('slack:'))?.source;
  if (incident.members < 2 || source === undefined) return [];
  const last = new Map<string, RecordedAlert>();
  for (const alert of alerts) if (alert.source === source) last.set(JSON.stringify(alert.labels), alert);
  const members = [...last.values()];
  const names = [...new Set(members.flatMap(({ labels }) => Object.keys(labels as object)))].filter(
    (name) => new Set(members.map(({ labels }) => valueOf(labels, name))).size > 1,
  );
  return members.map(({ labels, status }) => {
    const pairs = names.flatMap((name) => {
      const value = valueOf(labels, name);
      return value === undefined ? [] : [`${name}=${value}`];
    });
    return `${pairs.join(' ') || 'the group’s labels alone'}${status === 'firing' ? '' : ' (over)'}`;
  });
}

const valueOf = (labels: Json, name: string): string | undefined =>
  (labels as Readonly<Record<string, string>>)[name];

/** So many alerts of a group are named. */
const NAMED = 10;

/** For people: how many fire, and which they are. */
export function formatMembers(record: Pick<IncidentRecord, 'incident' | 'alerts'>): readonly string[] {
  const members = groupMembers(record);
  if (members.length === 0) return [];
  const { membersFiring, members: all } = record.incident;
  const more = all - Math.min(members.length, NAMED);
  return [
    `*Its alerts* (${membersFiring} of ${all} fire): ${members.slice(0, NAMED).join(' · ')}${more > 0 ? ` · and ${more} more` : ''}`,
  ];
}

/** Said once, where the last of them joined; null for those before. */
export function formatGrowth(event: IncidentEvent, events: readonly IncidentEvent[]): string | null {
  const last = events.findLast((each) => each.type === 'alert.repeated' && each.members !== undefined);
  return last === event && last.type === 'alert.repeated'
    ? `${last.members} alerts of its group by now (${last.source})`
    : null;
}
