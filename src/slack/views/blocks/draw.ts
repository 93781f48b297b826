import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isMerged } from '../../../core/merged-with.ts';
import { openReads } from '../../../incidents/failed-reads/open-reads.ts';
import { drawActionCard } from './action-card.ts';
import { drawAgain } from './again.ts';
import { drawCall, drawPageFailed } from './call.ts';
import { drawDiagnosis, type PlanNone } from './diagnosis.ts';
import { drawLive, roundsOf } from './live.ts';
import { drawMembers } from './merged.ts';
import { drawNoOtherWay } from './no-other-way.ts';
import { drawNoTarget } from './no-target.ts';
import { drawEscalation, drawSummary, drawVerification } from './outcome.ts';
import { drawPromotionNote } from './promotion-notes.ts';
import { drawRoot, isOneLine } from './root.ts';
import type { DrawOptions, Slot } from './slot.ts';

/**
 * Everything that should stand in Slack for an incident: the root, then the thread in the order things happened.
 * Pure: the same record gives the same messages, and a message's slot never changes as the record grows.
 */
export function draw(record: IncidentRecord, options: DrawOptions): readonly Slot[] {
  if (isOneLine(record)) return [drawRoot(record, options)];
  const placed: { readonly seq: number; readonly slot: Slot }[] = roundsOf(record).map((round) => ({
    seq: round.seq,
    slot: drawLive(record, round, options),
  }));
  const count = new Map<string, number>();
  for (const event of record.events) {
    const number = (count.get(event.type) ?? 0) + 1;
    count.set(event.type, number);
    const slot = slotOf(record, event, number, options);
    if (slot) placed.push({ seq: event.seq, slot });
  }
  placed.push(
    ...endings(record),
    ...(isMerged(record.incident) ? [] : drawAgain(record)),
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
  if (event.type === 'incident.opened') return drawNoTarget(record, event);
  if (event.type === 'diagnosis.concluded')
    return drawDiagnosis(record, event.diagnosis, number, planNoneAfter(record, event.seq), {
      mayDig: options.mayDig === true && endsInReport(record, event.seq),
      reads: options.mayReadAgain === true && endsInReport(record, event.seq) ? openReads(record) : [],
    });
  if (event.type === 'plan.none' && askedBefore(record, event.seq))
    return drawNoOtherWay(record, event, number);
  if (event.type === 'verification.concluded') return drawVerification(record, event, number);
  if (event.type === 'incident.escalated') return drawEscalation(record, event, number);
  if (event.type === 'person.called') return drawCall(record, event, options);
  if (event.type === 'page.failed') return drawPageFailed(record, event, number);
  if (event.type === 'memory.promotion.proposed' || event.type === 'memory.promotion.decided')
    return drawPromotionNote(record, event);
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

/** A proposal that people can decide on, and nothing beside the fix. */
const asksForFix = ({ actions }: IncidentRecord, event: IncidentEvent): boolean =>
  event.type === 'action.proposed' &&
  actions.some(({ id, auditOnly, beside }) => id === event.actionId && !auditOnly && !beside);

/** Why nothing was proposed after this diagnosis and before the next; nothing once something is: a limit may be over. */
function planNoneAfter(record: IncidentRecord, seq: number): PlanNone | null {
  let none: PlanNone | null = null;
  for (const event of record.events) {
    if (event.seq <= seq) continue;
    if (event.type === 'diagnosis.concluded') break;
    if (asksForFix(record, event)) return null;
    if (event.type === 'plan.none') none = event;
  }
  return none;
}

/** One summary each time it was resolved: the words on record, else, when nothing was verified, that the source says so. */
function endings(record: IncidentRecord): readonly { readonly seq: number; readonly slot: Slot }[] {
  const moves = record.events.filter((event) => event.type === 'state.changed');
  const ends = moves.filter((event) => event.to === 'resolved');
  return ends.flatMap((end, index) => {
    const reopenings = moves.filter((move) => move.from === 'resolved');
    const from = reopenings.findLast((move) => move.seq < end.seq)?.seq ?? 0;
    const reopened = reopenings.find((move) => move.seq > end.seq);
    const within = record.events.filter(
      (event) => event.seq > from && event.seq < (reopened?.seq ?? Number.POSITIVE_INFINITY),
    );
    const summary = within.findLast((event) => event.type === 'incident.summary');
    const verified = within.some(
      (event) => event.type === 'verification.concluded' && event.verdict === 'fixed',
    );
    if (!summary && verified) return [];
    // What was verified and then called over by its source has said so already.
    const isConfirmed = verified || (reopened === undefined && record.incident.resolvedBy === 'confirmed');
    return [
      { seq: end.seq, slot: drawSummary(record, summary?.text ?? null, index + 1, end.at, isConfirmed) },
    ];
  });
}

/** The first of a name stands: two messages never share a slot. */
function unique(slots: readonly Slot[]): readonly Slot[] {
  const seen = new Set<string>();
  return slots.filter((slot) => !seen.has(slot.slot) && seen.add(slot.slot));
}

/** The last word of an investigation that went no further. */
function endsInReport({ incident, events }: IncidentRecord, seq: number): boolean {
  const last = events.findLast(({ type }) => type === 'diagnosis.concluded');
  return last?.seq === seq && (incident.state === 'reported' || incident.state === 'escalated');
}
