import { describeChange, describeWhen } from '../../core/describe-changes.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { type ToldChange, type ToldChanges, toldChanges } from '../../core/told-changes.ts';
import { runOf } from './answer-actions.ts';
import { causeOf } from './answer-cause.ts';
import { type Around, ended, type Line, lasted } from './answer-lines.ts';
import type { ChangesAsked } from './changes-asked.ts';
import { lastDiagnosis } from './format-cause.ts';
import { formatToldChange, nameOf, noneKnown, said } from './format-changes.ts';

export const ALL_CHANGES: ChangesAsked = { asks: 'what', kinds: null, noun: 'change' };

const MOST = 2;

/**
 * What was changed around an incident, by its record: which changes there were and what part the diagnosis gives each, that nothing is
 * known of by those who were asked, or that nobody could tell.
 */
export function changesOf(record: IncidentRecord, asked: ChangesAsked, around: Around): readonly Line[] {
  const told = toldChanges(record.events);
  if (told === null) return [['Nobody has looked yet for what was changed around it.']];
  const lines = asked.asks === 'blame' ? blamed(record, told, asked) : which(told, asked);
  const age: Line = [' Looked at ', { at: told.at }, ` (${lasted(told.at, around.now.toISOString())} ago).`];
  const [first = [], ...rest] = lines;
  // “what was changed” may mean what was done about it.
  const own =
    asked.asks === 'what' && asked.kinds === null && hasRun(record) ? runOf(record).slice(0, 1) : [];
  return [[...first, ...age], ...rest.slice(0, MOST - own.length), ...own];
}

const hasRun = ({ actions }: IncidentRecord): boolean => actions.some(({ startedAt }) => startedAt !== null);

function which(told: ToldChanges, asked: ChangesAsked): readonly Line[] {
  const before = ofKind([...told.causes, ...told.suspects, ...told.unrelated], asked);
  const after = ofKind(afterwards(told), asked);
  const [first, ...others] = before;
  if (first !== undefined)
    return [line(first), ...others.slice(0, MOST).map(line), ...after.map(line)].slice(0, 1 + MOST);
  const none = noneOf(told, asked);
  return after.length > 0 ? [none, ...after.map(line)] : [none, ...otherKinds(told, asked)];
}

const ofKind = (those: readonly ToldChange[], { kinds }: ChangesAsked): readonly ToldChange[] =>
  kinds === null ? those : those.filter(({ change }) => change !== null && kinds.includes(change.kind));

const afterwards = ({ found }: ToldChanges): readonly ToldChange[] =>
  found.afterwards.map((change) => ({ part: 'unrelated', title: change.title, change }));

const parts = {
  cause: 'It caused it, by the diagnosis: ',
  suspect: 'A suspect: ',
  unrelated: 'Not it, a read speaks against it: ',
} as const;

/** With who did it, or that nobody says so, and when by the clock. */
function line(told: ToldChange): Line {
  const { change, part } = told;
  if (change === null) return [parts[part], ended(formatToldChange(told))];
  const who = change.by === null ? ', nobody said who' : '';
  const text = said(`${describeChange(change)}${who}`);
  const beside = change.touches === 'it' ? '' : ` (of ${said(change.through)}, beside it)`;
  const head = change.when === 'after' ? '' : parts[part];
  return change.when === 'around'
    ? [`${head}${text}, ${describeWhen(change)}${beside}.`]
    : [`${head}${text}, at `, { at: change.at }, `, ${describeWhen(change)}${beside}.`];
}

/** What is missing for more than a suspicion. */
const whyNoMore = ({ change }: ToldChange): string =>
  change?.when === 'around'
    ? 'Whether it came before it began is not certain.'
    : 'No read shows that it is more than that.';

/** Nothing of the kind that is known, and who would have told; or why nobody can. */
function noneOf(told: ToldChanges, { kinds, noun }: ChangesAsked): Line {
  const { found } = told;
  if (found.answer === 'could_not_look') return [noneKnown(told)];
  const who = found.looked.slice(0, 3).map(nameOf).join(', ');
  const asked = who === '' ? '' : ` Asked: ${who}, from `;
  // No longer than somebody was there to tell.
  const from = found.since ?? found.from;
  const head = `No ${kinds === null ? 'change' : noun} before it is known.`;
  return asked === '' ? [head] : [`${head}${asked}`, { at: from }, ' to ', { at: found.to }, '.'];
}

/** What was changed instead of what is asked for. */
const otherKinds = (told: ToldChanges, { kinds }: ChangesAsked): readonly Line[] =>
  kinds === null ? [] : [...told.causes, ...told.suspects].slice(0, MOST).map(line);

/** What the diagnosis says of it, and never more. */
function blamed(record: IncidentRecord, told: ToldChanges, asked: ChangesAsked): readonly Line[] {
  const cause = ofKind(told.causes, asked);
  const suspects = ofKind(told.suspects, asked);
  const unrelated = ofKind(told.unrelated, asked);
  const after = ofKind(afterwards(told), asked);
  const known: Line = lastDiagnosis(record) === undefined ? ['No cause is known yet.'] : causeOf(record);
  const [first] = cause.length > 0 ? cause : suspects;
  if (cause[0] !== undefined) return [[`By the diagnosis, yes: ${ended(formatToldChange(cause[0]))}`], known];
  if (first !== undefined)
    return [
      [
        `That is not known: ${formatToldChange(first)}, is a suspect by its time and place. ${whyNoMore(first)}`,
      ],
      ...suspects.slice(1, 2).map((each): Line => [`So is this: ${ended(formatToldChange(each))}`]),
      known,
    ];
  if (unrelated[0] !== undefined)
    return [[`A read speaks against it: ${ended(formatToldChange(unrelated[0]))}`], known];
  if (after[0] !== undefined) return [[`No, it was later: ${ended(formatToldChange(after[0]))}`], known];
  return [noneOf(told, asked), known];
}
