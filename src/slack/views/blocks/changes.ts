import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isEnded } from '../../../core/machine.ts';
import { isCauseKnown } from '../../../core/model-words.ts';
import { type ToldChange, toldChanges } from '../../../core/told-changes.ts';
import {
  type ChangePiece,
  changeLines,
  formatToldChange,
  leadChanges,
  urlOf,
} from '../../../incidents/questions/format-changes.ts';
import {
  type Block,
  bold,
  code,
  link,
  list,
  moment,
  paragraph,
  person,
  prose,
  type Span,
  words,
} from './build.ts';
import type { Cap, Lines } from './going-on.ts';
import { cut, oneLine } from './text.ts';

/** Characters of a change that stands alone, and of each of two. */
const ALONE = 150;
const ONE_OF_TWO = 90;

/** What was changed before it, in one line; once it is over only what caused it. Nothing where nobody knows of a change. */
export function leadLines({ incident, events }: IncidentRecord, cap: Cap): Lines {
  const told = toldChanges(events);
  const lead = told && leadChanges(told, isCauseKnown(events));
  if (lead === null || (isEnded(incident.state) && lead.title !== 'Changed')) return [];
  const most = cap(lead.changes.length > 1 ? ONE_OF_TWO : ALONE);
  return [
    [
      bold(`${lead.title}: `),
      ...lead.changes.flatMap((each, at): readonly Span[] => [
        ...(at > 0 ? [words('; ')] : []),
        linked(each, most),
      ]),
      ...(lead.more > 0 ? [words(`; and ${lead.more} more`)] : []),
      ...(lead.more === 0 && isCut(lead.changes.at(-1), most) ? [] : [words('.')]),
    ],
  ];
}

/** An ellipsis needs no full stop. */
const isCut = (told: ToldChange | undefined, most: number): boolean =>
  told !== undefined && textOf(told, most).endsWith('…');

const textOf = (told: ToldChange, most: number): string => cut(oneLine(formatToldChange(told)), most);

function linked(told: ToldChange, most: number): Span {
  const text = textOf(told, most);
  const url = urlOf(told);
  return url === null ? words(text) : link(url, text);
}

/** All of it, for a window. */
export function changesBlocks(events: IncidentRecord['events']): readonly Block[] {
  const told = toldChanges(events);
  if (told === null) return [];
  return [prose(paragraph(bold('What changed')), list(changeLines(told).map((line) => line.map(spanOf))))];
}

function spanOf(piece: ChangePiece): Span {
  if (typeof piece === 'string') return words(piece);
  if ('person' in piece) return person(piece.person);
  if ('at' in piece) return moment(piece.at);
  return 'url' in piece ? link(piece.url, piece.text) : code(piece.code);
}
