import { callStateOf } from '../../core/calls.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';

const MOST_RUNG = 5;
/** Who was called so shortly before a card need not be mentioned by it as well. */
const JUST_CALLED_MS = 60_000;

export interface MayRing {
  /** The id of the group on call; null: there is none, or Slack does not tell. */
  readonly oncall: string | null;
  /** Ids of those who may decide. */
  readonly approvers: readonly string[];
  /** By the ladder's quiet hours for this severity, when the card appeared. */
  readonly isQuiet: boolean;
}

/**
 * Whom a card, or a line that asks for people, mentions when it appears: whoever has the incident, else the group on call; for
 * something critical, else those who may decide. In quiet hours only what is critical mentions anybody. What an earlier card
 * mentioned does not count: whether it was ever seen is not known here, and one mention too many is better than none. It follows
 * from the record alone, so that no edit changes it.
 */
export function whoIsRung(
  { incident, events }: Pick<IncidentRecord, 'incident' | 'events'>,
  askedAt: string,
  { oncall, approvers, isQuiet }: MayRing,
): readonly string[] {
  const isCritical = incident.severity === 'critical';
  // What only informs asks nobody to come.
  if (incident.severity === 'info' || (isQuiet && !isCritical)) return [];
  const { acknowledged } = callStateOf(events);
  const rung =
    acknowledged?.how === 'taken'
      ? [acknowledged.by]
      : oncall !== null
        ? [oncall]
        : isCritical
          ? approvers.slice(0, MOST_RUNG)
          : [];
  const at = Date.parse(askedAt);
  const called = events.flatMap((event) =>
    event.type === 'person.called' && isJustBefore(Date.parse(event.at), at) ? event.mentions : [],
  );
  return rung.filter((id) => !called.includes(id));
}

const isJustBefore = (call: number, card: number): boolean => call <= card && card - call < JUST_CALLED_MS;
