import { clip } from '../core/clip.ts';
import { OWN_LOOK, type RelatedChange } from '../core/what-changed.ts';

/** More suspects than a person weighs. */
const MOST_SUSPECTS = 12;
/** What Sentry saw itself keeps so many places, however much is told. */
const OWN_PLACES = 4;
const MOST_COMMITS = 5;
const MOST_FILES = 3;
/** Half an address leads nowhere. */
const MOST_URL = 500;
/** All changes of one answer together, as JSON: it is kept, and given to a model. */
const MOST_CHARS = 32_000;
/** Of one that is too long even without its commits. */
const SHORT = 60;

/** A change that was found, before it has a name in the answer. */
export type FoundChange = Omit<RelatedChange, 'ref'>;

export const isIt = ({ touches }: Pick<RelatedChange, 'touches'>): boolean => touches === 'it';

/**
 * The suspects that are told, of all that there are: those of *it* first, each the newest first. Where there are too many, one of each
 * source, kind and thing comes before the second of any: fifteen flags hide no migration.
 */
export function suspectsShown(newestFirst: readonly FoundChange[]): readonly FoundChange[] {
  const [own, beside] = [newestFirst.filter(isIt), newestFirst.filter((one) => !isIt(one))];
  const chosen = new Set([...inTurn(own), ...inTurn(beside)].slice(0, MOST_SUSPECTS));
  return [...own, ...beside].filter((one) => chosen.has(one));
}

function inTurn(newestFirst: readonly FoundChange[]): readonly FoundChange[] {
  const turns = new Map<string, number>();
  const sorted = newestFirst
    .map((one) => {
      const group = JSON.stringify([one.source, one.kind, one.through]);
      const turn = turns.get(group) ?? 0;
      turns.set(group, turn + 1);
      return { one, turn };
    })
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ one }) => one);
  const seen = sorted.filter(({ source }) => source === OWN_LOOK).slice(0, OWN_PLACES);
  return [...new Set([...seen, ...sorted])];
}

/** As long as an answer may be: each change may be as long as those before it have left. */
export function boundedChanges(changes: readonly FoundChange[]): readonly FoundChange[] {
  let left = MOST_CHARS;
  return changes.map((change, at) => {
    const share = left / (changes.length - at);
    const forms = [bounded, withoutFiles, withoutCommits].map((form) => form(change));
    const form = forms.find((each) => sizeOf(each) <= share) ?? shortest(change);
    left -= sizeOf(form);
    return form;
  });
}

const sizeOf = (change: FoundChange): number => JSON.stringify(change).length;

/** The newest of its commits, and the first of their files. */
const bounded = (change: FoundChange): FoundChange => ({
  ...change,
  url: change.url !== null && change.url.length <= MOST_URL ? change.url : null,
  commits: change.commits
    .slice(-MOST_COMMITS)
    .map((commit) => ({ ...commit, files: commit.files.slice(0, MOST_FILES) })),
});

const withoutFiles = (change: FoundChange): FoundChange => ({
  ...bounded(change),
  commits: bounded(change).commits.map((commit) => ({ ...commit, files: [] })),
});

const withoutCommits = (change: FoundChange): FoundChange => ({ ...bounded(change), commits: [] });

/** Where it is, what it is and when: by its id and where it was found it is known again. */
function shortest(change: FoundChange): FoundChange {
  const short = (text: string | null): string | null => text && clip(text, SHORT);
  const { by, from, to, environment, through } = change;
  return {
    ...change,
    where: [...new Set([...change.where.slice(0, 1), through])].map((name) =>
      name === through ? name : clip(name, SHORT),
    ),
    by: short(by),
    from: short(from),
    to: short(to),
    environment: short(environment),
    url: null,
    commits: [],
  };
}
