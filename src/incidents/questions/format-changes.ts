import { titleOfSource } from '../../core/change-source.ts';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import { describeChange, describeWhen } from '../../core/describe-changes.ts';
import { withoutMarks } from '../../core/model-words.ts';
import type { ToldChange, ToldChanges } from '../../core/told-changes.ts';
import { type ChangeSourceSeen, OWN_LOOK, type RelatedChange } from '../../core/what-changed.ts';
import type { Piece } from './answer-lines.ts';

/** Whoever shows it knows how times and links are told there. */
export type ChangePiece = Piece | { readonly url: string; readonly text: string };
type ChangeLine = readonly ChangePiece[];

const MOST = 200;
/** So many are told of each part; of sources as many. */
const TOLD = 8;

/** Somebody else's words on one line, without what reads as a mark of ours. */
export const said = (text: string): string => clipLine(withoutMarks(text), MOST);

/** “shop-api 1.4.2 deployed by olivia, 3 min before it began”; of a neighbour, which one. */
const formatChange = (change: RelatedChange): string =>
  said(`${describeChange(change)}, ${describeWhen(change)}${neighbour(change)}`);

export const formatToldChange = ({ title, change }: ToldChange): string =>
  change === null ? said(title) : formatChange(change);

/** What touched something else than what the alert is about says so. */
const neighbour = ({ touches, through }: RelatedChange): string =>
  touches === 'it' ? '' : ` (of ${through}, beside it)`;

/** Its address, where it is one that people may follow. */
export function urlOf({ change }: Pick<ToldChange, 'change'>): string | null {
  const url = change?.url ?? null;
  return url !== null && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : null;
}

/** The changes that are told first, by what they are taken for. */
interface LeadChanges {
  readonly title:
    | 'Changed'
    | 'Changed before it, no sign that it matters'
    | 'Suspect'
    | 'Suspects, which one is not known'
    | 'Suspect beside it';
  readonly changes: readonly ToldChange[];
  /** How many more there are of the kind. */
  readonly more: number;
}

/** Two suspects stand side by side, and neither is called the one. */
const SIDE_BY_SIDE = 2;

/**
 * What is said in one line: the change that a read has shown to be the cause, else those that time and place fit. What only touched a
 * neighbour is told where nothing touched the thing itself. Where a cause stands that is none of them, they are no suspects to whoever
 * reads it. Null: there is none.
 */
export function leadChanges(told: ToldChanges, hasCause: boolean): LeadChanges | null {
  const own = told.suspects.filter(({ change }) => change === null || change.touches === 'it');
  const [title, all] =
    told.causes.length > 0
      ? (['Changed', told.causes] as const)
      : hasCause
        ? (['Changed before it, no sign that it matters', own.length > 0 ? own : told.suspects] as const)
        : own.length > 0
          ? ([own.length === 1 ? 'Suspect' : 'Suspects, which one is not known', own] as const)
          : (['Suspect beside it', told.suspects] as const);
  const changes = all.slice(0, SIDE_BY_SIDE);
  return changes.length === 0 ? null : { title, changes, more: all.length - changes.length };
}

/** The same as plain text; null: there is none. */
export function formatLead(told: ToldChanges, hasCause: boolean): string | null {
  const lead = leadChanges(told, hasCause);
  if (lead === null) return null;
  const more = lead.more === 0 ? '' : `; and ${lead.more} more`;
  return `${lead.title}: ${lead.changes.map(formatToldChange).join('; ')}${more}`;
}

const parts = {
  cause: 'Changed, and a read shows that it is what is wrong: ',
  suspect: 'Suspect: ',
  unrelated: 'Not it, a read speaks against it: ',
} as const;

/** All that is on record of it, the weightiest first: each change with its part, then who was asked, and who could not be. */
export function changeLines(told: ToldChanges): readonly ChangeLine[] {
  const { found, at, causes, suspects, unrelated } = told;
  const judged = [causes, suspects, unrelated].flatMap((those) => [
    ...those.slice(0, TOLD).map(({ part, ...each }): ChangeLine => [parts[part], changeText(each)]),
    ...moreOf(those.length),
  ]);
  return [
    ...(causes.length + suspects.length > 0 ? [] : [[noneKnown(told)]]),
    ...judged,
    ...found.afterwards
      .slice(0, TOLD)
      .map((change): ChangeLine => ['After it began: ', changeText({ title: change.title, change })]),
    ...moreOf(found.afterwards.length),
    ...(found.others > 0 ? [[`${count(found.others, 'more change')}, of other things.`]] : []),
    ...found.looked.slice(0, TOLD).map((source): ChangeLine => ['Asked: ', ...sourceOf(source)]),
    ...found.couldNotLook
      .slice(0, TOLD)
      .map((source): ChangeLine => [`Could not look: ${nameOf(source)}${whyOf(source)}`]),
    ['Looked at ', { at }, ', for changes from ', { at: found.from }, ' to ', { at: found.to }, '.'],
  ];
}

const moreOf = (all: number): readonly ChangeLine[] => (all > TOLD ? [[`and ${all - TOLD} more`]] : []);

function changeText(told: Pick<ToldChange, 'title' | 'change'>): ChangePiece {
  const text = formatToldChange({ ...told, part: 'suspect' });
  const url = urlOf(told);
  return url === null ? text : { url, text };
}

/** Never that nothing changed: only that nobody who was asked told of it, or that nobody was. */
export function noneKnown({ found }: ToldChanges): string {
  if (found.answer === 'could_not_look') {
    const [first] = found.couldNotLook;
    const why = first === undefined ? ': nobody tells me of changes of it' : whyOf(first);
    return `What was changed before it cannot be told${why}.`;
  }
  return 'No change before it is known.';
}

/** “my own looks at shop-db”, “GitHub, of shop-api”. */
export const nameOf = ({ source, of }: ChangeSourceSeen): string =>
  source === OWN_LOOK
    ? `my own looks at ${clipLine(of, 60)}`
    : `${clipLine(titleOfSource(source), 60)}, of ${clipLine(of, 60)}`;

const whyOf = ({ why }: ChangeSourceSeen): string =>
  why === undefined ? '' : `: ${clipLine(why, MOST).replace(/\.$/, '')}`;

/** With the time for which it can speak. */
function sourceOf(source: ChangeSourceSeen): ChangeLine {
  const { from, to } = source;
  return [
    nameOf(source),
    ...(from === null ? [] : [', from ', { at: from }]),
    ...(to === null ? [] : [' to ', { at: to }]),
  ];
}
