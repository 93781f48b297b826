import type { IncidentEvent } from './event.ts';
import type { IncidentId } from './ids.ts';
import type { Incident } from './incident.ts';
import type { IncidentRecord } from './incident-record.ts';
import { isEnded } from './machine.ts';
import type { MergeReason } from './merge.ts';

/** What was merged into an incident at some time, in the order of its first time. */
export interface Member {
  readonly id: IncidentId;
  /** Of its first event: where its line stands in the thread. */
  readonly seq: number;
  readonly at: string;
  readonly because: MergeReason;
  /** By whom it was split off, null: by nobody; undefined: it is a part of the incident. */
  readonly splitBy: string | null | undefined;
}

export function membersOf(events: readonly IncidentEvent[]): readonly Member[] {
  const members = new Map<IncidentId, Member>();
  for (const event of events) {
    if (event.type === 'member.merged') {
      const { seq, at } = members.get(event.incident) ?? event;
      members.set(event.incident, {
        id: event.incident,
        seq,
        at,
        because: event.because,
        splitBy: undefined,
      });
    } else if (event.type === 'member.split') {
      const member = members.get(event.incident);
      if (member) members.set(member.id, { ...member, splitBy: event.by });
    }
  }
  return [...members.values()];
}

/** Whether it rests under another incident now. What is over, or stopped by a person, is that first. */
export const isMerged = ({ mergedInto, state }: Pick<Incident, 'mergedInto' | 'state'>): boolean =>
  mergedInto !== null && !isEnded(state) && state !== 'stopped';

/** The last that was said of what an incident is a part of; null: it never was a part of another. */
export function lastMerge(events: readonly IncidentEvent[]) {
  const last = events.findLast(({ type }) => type === 'incident.merged' || type === 'incident.split');
  return last?.type === 'incident.merged' || last?.type === 'incident.split' ? last : null;
}

/** Every other incident that a record of merging names. */
export const mergedWith = (events: readonly IncidentEvent[]): readonly IncidentId[] => [
  ...new Set(events.flatMap((event) => nameIn(event) ?? [])),
];

function nameIn(event: IncidentEvent): IncidentId | null {
  if (event.type === 'incident.merged') return event.into;
  if (event.type === 'incident.split') return event.from;
  return event.type === 'member.merged' || event.type === 'member.split' ? event.incident : null;
}

/** What an incident is called to those who may not know which it is. */
const UNNAMED = 'another incident' as IncidentId;

/** Without the names of those that its readers may not read of. */
export function hideMerged(record: IncidentRecord, mayName: (id: IncidentId) => boolean): IncidentRecord {
  const { events, incident } = record;
  if (incident.mergedInto === null && mergedWith(events).length === 0) return record;
  const named = (id: IncidentId): IncidentId => (mayName(id) ? id : UNNAMED);
  return {
    ...record,
    incident: hideLead(incident, mayName),
    events: events.map((each) => hidden(each, named)),
  };
}

/** The same of an incident alone, as lists show it. */
export function hideLead(incident: Incident, mayName: (id: IncidentId) => boolean): Incident {
  const { mergedInto } = incident;
  return mergedInto === null || mayName(mergedInto) ? incident : { ...incident, mergedInto: UNNAMED };
}

function hidden(event: IncidentEvent, named: (id: IncidentId) => IncidentId): IncidentEvent {
  if (event.type === 'incident.merged') return { ...event, into: named(event.into) };
  if (event.type === 'incident.split') return { ...event, from: named(event.from) };
  return event.type === 'member.merged' || event.type === 'member.split'
    ? { ...event, incident: named(event.incident) }
    : event;
}
