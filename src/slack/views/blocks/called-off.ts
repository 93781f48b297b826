import { callStateOf } from '../../../core/calls.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { mentionsOf, paragraph, prose, words } from './build.ts';
import { openingsOf } from './openings.ts';
import type { DrawOptions, Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type CalledOff = Extract<IncidentEvent, { type: 'incident.closed' | 'incident.stopped' }>;

/**
 * Tells that a person closed or stopped it, where others count on it: it is critical, or somebody else has it, who is mentioned.
 * A new message, for an edit rings nobody and moves nothing.
 */
export function drawCalledOff(
  record: IncidentRecord,
  { type, by, reason, seq, severity }: CalledOff,
  { nameOf }: Pick<DrawOptions, 'nameOf'>,
): Slot | null {
  const before = record.events.filter((event) => event.seq < seq);
  const { acknowledged } = callStateOf(before);
  const has = acknowledged !== null && acknowledged.how !== 'acted' ? acknowledged.by : null;
  const told = has !== null && has !== by && isSlackUser(has) ? [has] : [];
  // The first closing is a new message by itself, and says who closed it.
  const isTold = type === 'incident.closed' && openingsOf({ ...record, events: before }).length === 1;
  const isCritical = severity === 'critical';
  if (told.length === 0 && (!isCritical || isTold)) return null;
  const who = mentionsOf(told);
  const name = cut(oneLine(nameOf?.(by) ?? ''), 40) || 'A person';
  const why = reason === '' ? '' : `: “${cut(oneLine(reason).replace(/\.$/, ''), 80)}”`;
  const says = `${name} ${type === 'incident.closed' ? 'closed' : 'stopped'} ${record.incident.id}${why}.`;
  return {
    slot: `called-off:${seq}`,
    inThread: true,
    text: `${who.text}${escape(says)}`,
    blocks: [prose(paragraph(words('✋ '), ...who.spans, words(says)))],
  };
}
