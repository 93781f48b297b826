import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isMerged } from '../../../core/merged-with.ts';
import { drawActionCard } from './action-card.ts';
import { drawAgain, drawReopened, type Placed } from './again.ts';
import { drawAssigned } from './assigned.ts';
import { drawCall, drawEscalation, drawPageFailed } from './call.ts';
import { drawCalledOff } from './called-off.ts';
import { drawClosing, hasEnded } from './closing.ts';
import { asksForFix } from './diagnosis.ts';
import { drawHeadsUp } from './heads-up.ts';
import { drawLive } from './live.ts';
import { drawLooked } from './looked.ts';
import { drawMembers } from './merged.ts';
import { drawNoOtherWay } from './no-other-way.ts';
import { openingsOf } from './openings.ts';
import { drawPromotionNote } from './promotion-notes.ts';
import { drawReport } from './report.ts';
import { drawRoot, isOneLine } from './root.ts';
import type { DrawOptions, Slot } from './slot.ts';
import { drawWait, waitsOf } from './waits.ts';

/**
 * Everything that should stand in Slack for an incident: the root, then the thread in the order things happened.
 * Pure: the same record gives the same messages, and a message's slot never changes as the record grows.
 */
export function draw(record: IncidentRecord, options: DrawOptions): readonly Slot[] {
  if (isOneLine(record)) return [drawRoot(record, options)];
  const placed: Placed[] = [...drawLive(record, options)];
  const count = new Map<string, number>();
  for (const event of record.events) {
    const number = (count.get(event.type) ?? 0) + 1;
    count.set(event.type, number);
    const slot = slotOf(record, event, number, options);
    if (slot) placed.push({ seq: event.seq, slot });
  }
  placed.push(
    ...endings(record, options),
    ...(isMerged(record.incident) ? [] : drawAgain(record, options)),
    ...drawMembers(record, options),
  );
  placed.sort((a, b) => a.seq - b.seq);
  return [drawRoot(record, options), ...unique(placed.map((each) => each.slot))];
}

function slotOf(
  record: IncidentRecord,
  event: IncidentEvent,
  number: number,
  options: DrawOptions,
): Slot | null {
  if (event.type === 'diagnosis.concluded') return drawHeadsUp(record, event, number);
  if (event.type === 'incident.looked') return drawLooked(record, event, number);
  if (event.type === 'plan.none' && waitsOf(record).includes(event)) return drawWait(record, event, options);
  if (event.type === 'plan.none' && askedBefore(record, event.seq))
    return drawNoOtherWay(record, event, number);
  if (event.type === 'incident.escalated') return drawEscalation(record, event, number, options);
  if (event.type === 'person.called') return drawCall(record, event, options);
  if (event.type === 'incident.acknowledged') return drawAssigned(record, event, options);
  if (event.type === 'incident.closed' || event.type === 'incident.stopped')
    return drawCalledOff(record, event, options);
  if (event.type === 'page.failed') return drawPageFailed(record, event, number);
  if (event.type === 'memory.promotion.proposed' || event.type === 'memory.promotion.decided')
    return drawPromotionNote(record, event);
  if (event.type === 'report.made') return drawReport(record, event);
  if (event.type !== 'action.proposed') return null;
  const action = record.actions.find((each) => each.id === event.actionId);
  return action ? drawActionCard(record, action, options) : null;
}

/**
 * Something was asked for between the diagnosis and this: somebody waits at the end of the thread for what comes instead, and
 * the diagnosis above is no place to say it.
 */
function askedBefore(record: IncidentRecord, seq: number): boolean {
  const before = record.events.filter((event) => event.seq < seq);
  const diagnosed = before.findLast(({ type }) => type === 'diagnosis.concluded')?.seq ?? 0;
  return before.some((event) => event.seq > diagnosed && asksForFix(record, event));
}

/** How its first opening ended, and a line for each time it came back. */
function endings(record: IncidentRecord, options: DrawOptions): readonly Placed[] {
  const closings = openingsOf(record)
    .slice(0, 1)
    .filter(hasEnded)
    .map((opening) => ({
      seq: opening.end.seq,
      slot: { slot: 'summary:1', inThread: true, ...drawClosing(record, opening, options) },
    }));
  return [...closings, ...drawReopened(record, options)];
}

/** The first of a name stands: two messages never share a slot. */
function unique(slots: readonly Slot[]): readonly Slot[] {
  const seen = new Set<string>();
  return slots.filter((slot) => !seen.has(slot.slot) && seen.add(slot.slot));
}
