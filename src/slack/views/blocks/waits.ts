import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { mentionsOf, moment, paragraph, prose, words } from './build.ts';
import type { DrawOptions, Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type NoPlan = Extract<IncidentEvent, { type: 'plan.none' }>;

/**
 * Where something critical begins to wait for a limit. Nobody is called for it, for Sentry comes back by itself; people should know all the
 * same. The same limit met again is the same wait. Where the event does not say how bad it was, nothing is told late.
 */
export function waitsOf(record: IncidentRecord): readonly NoPlan[] {
  const found: NoPlan[] = [];
  let isWaiting = false;
  for (const event of record.events) {
    if (event.type === 'action.proposed' || (event.type === 'state.changed' && event.from === 'resolved'))
      isWaiting = false;
    if (event.type !== 'plan.none') continue;
    const waits = event.asksAgainAt !== undefined;
    if (waits && !isWaiting && event.severity === 'critical') found.push(event);
    isWaiting = waits;
  }
  return found;
}

/** Mentions who is on call, once: a new line at the end of the thread. */
export function drawWait(
  { incident }: IncidentRecord,
  { reason, asksAgainAt = '', seq }: NoPlan,
  { ringAt }: Pick<DrawOptions, 'ringAt'>,
): Slot {
  const who = mentionsOf(ringAt?.(seq) ?? []);
  const says = `${cut(oneLine(reason), 120).replace(/[\s.]+$/, '')}.`;
  return {
    slot: `waits:${seq}`,
    inThread: true,
    text: `${who.text}${escape(`${incident.id} waits: ${says}`)}`,
    blocks: [
      prose(
        paragraph(
          words('⏳ '),
          ...who.spans,
          words(`${incident.id} waits: ${says} I ask again at `),
          moment(asksAgainAt),
          words('.'),
        ),
      ),
    ],
  };
}
