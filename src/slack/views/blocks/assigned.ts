import type { Acknowledged } from '../../../core/calls.ts';
import { groupTitle } from '../../../core/group.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { mentionsOf, paragraph, prose, words } from './build.ts';
import type { DrawOptions, Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

/** Tells somebody that it was given to them: a new message, for edits ring nobody. Whoever took it knows. */
export function drawAssigned(
  { incident }: IncidentRecord,
  { by, assignedBy, seq }: Acknowledged,
  { nameOf }: Pick<DrawOptions, 'nameOf'>,
): Slot | null {
  if (assignedBy === undefined) return null;
  const who = mentionsOf([by]);
  // By name: this new message rings who it is given to, and nobody else.
  const name = nameOf?.(assignedBy) ?? null;
  const what = `${incident.id} · ${cut(oneLine(groupTitle(incident)), 120)}`;
  return {
    slot: `assigned:${seq}`,
    inThread: true,
    text: `${who.text}${escape(`this is yours: ${what}`)}`,
    blocks: [
      prose(
        paragraph(
          words('👤 '),
          ...who.spans.slice(0, -1),
          words(`, this is yours: ${what}.${name ? ` ${cut(oneLine(name), 60)} gave it to you.` : ''}`),
        ),
      ),
    ],
  };
}
