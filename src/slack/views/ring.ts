import { type Action, stepsOf } from '../../core/action.ts';
import { callStateOf } from '../../core/calls.ts';
import type { ActionId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';

const MOST_RUNG = 5;
/** Who was called or asked so shortly before a card need not be mentioned by it as well. */
const JUST_CALLED_MS = 60_000;

export interface MayRing {
  /** The id of the group on call; null: there is none, or Slack does not tell. */
  readonly oncall: string | null;
  /** Ids of those who may decide. */
  readonly approvers: readonly string[];
  /** By the ladder's quiet hours for this severity, when the card appeared. */
  readonly isQuiet: boolean;
}

/** What asks for people, and when: a card, or a line of its own (null). */
export interface Asks {
  readonly card: ActionId | null;
  readonly at: string;
}

/** The proposal that waits for people: a plan's card is its first step's. */
export function cardOf(
  { actions }: Pick<IncidentRecord, 'actions'>,
  asks: Pick<Action, 'id' | 'planId' | 'proposedAt'>,
): Asks {
  const [head = asks] = stepsOf(actions, asks);
  return { card: head.id, at: head.proposedAt };
}

/**
 * Whom a card, or a line that asks for people, mentions when it appears: whoever has the incident, else the group on call; for
 * something critical, else those who may decide. In quiet hours only what is critical mentions anybody. Nobody is mentioned
 * twice for one need: an alert that ends and fires again within a minute asks those whom it has just asked. It follows from the record alone, so that no edit
 * changes it.
 */
export function whoIsRung(
  { incident, events }: Pick<IncidentRecord, 'incident' | 'events'>,
  asks: Asks,
  may: MayRing,
): readonly string[] {
  const { oncall, approvers, isQuiet } = may;
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
  const at = Date.parse(asks.at);
  const called = events.flatMap((event) =>
    event.type === 'person.called' && isJustBefore(Date.parse(event.at), at) ? event.mentions : [],
  );
  const told = [...called, ...askedBefore({ incident, events }, asks, may)];
  return rung.filter((id) => !told.includes(id));
}

/** Whom the cards just before mentioned that nobody has decided on: they were called off by themselves. */
function askedBefore(
  { incident, events }: Pick<IncidentRecord, 'incident' | 'events'>,
  { card, at }: Asks,
  may: MayRing,
): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'action.proposed' || event.actionId === card) return [];
    if (!isJustBefore(Date.parse(event.at), Date.parse(at))) return [];
    const isDecided = events.some(
      (each) =>
        (each.type === 'action.approved' || each.type === 'action.denied') &&
        each.actionId === event.actionId,
    );
    if (isDecided) return [];
    const before = events.filter(({ seq }) => seq < event.seq);
    return whoIsRung({ incident, events: before }, { card: event.actionId, at: event.at }, may);
  });
}

const isJustBefore = (call: number, card: number): boolean => call <= card && card - call < JUST_CALLED_MS;
