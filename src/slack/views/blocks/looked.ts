import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isEnded } from '../../../core/machine.ts';
import { formatLooked } from '../../../incidents/questions/format-rest.ts';
import { bold, moment, paragraph, prose, type Span, words } from './build.ts';
import type { Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type Looked = Extract<IncidentEvent, { type: 'incident.looked' }>;

/** The line and what it takes back make at most 250 characters. */
const SHOWN = 150;

/** A look takes back what was said: a new line, because nobody sees an edit. One that changes nothing stands on the root alone. */
export function drawLooked(
  { incident }: Pick<IncidentRecord, 'incident'>,
  event: Looked,
  number: number,
): Slot | null {
  if (event.outcome !== 'changed') return null;
  const head = 'Looked again';
  const said = cut(oneLine(event.says), SHOWN);
  const rest = `, after ${event.after}: ${formatLooked({ ...event, says: said })}`;
  return {
    slot: `looked:${number}`,
    inThread: true,
    text: escape(oneLine(`${incident.id}: ${head}${rest}`)),
    blocks: [prose(paragraph(bold(head), words(rest)))],
  };
}

/** When it was last looked whether it is still so, and that nothing has changed; none where a line of its own says more, or it is over. */
export function lookedLine({ incident, events }: IncidentRecord, max: number): readonly Span[] | null {
  const last = events.findLast((event) => event.type === 'incident.looked');
  if (last?.type !== 'incident.looked' || last.outcome === 'changed') return null;
  if (last.round !== incident.round || isEnded(incident.state)) return null;
  const said = formatLooked({ ...last, differences: [] });
  return [
    words('Looked again at '),
    moment(last.at),
    words(cut(oneLine(`, after ${last.after}: ${said}`), max)),
  ];
}
