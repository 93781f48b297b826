import { describeCommit } from '../../core/change.ts';
import { titleOfSource, toldBy } from '../../core/change-source.ts';
import { clipLine } from '../../core/clip.ts';
import { countUpTo } from '../../core/count.ts';
import { describeChange, describeWhen } from '../../core/describe-changes.ts';
import type { ChangeSourceSeen, RelatedChange, WhatChanged } from '../../core/what-changed.ts';

const MOST_COMMITS = 10;
const COMMIT = 120;
const MOST_FILES = 3;

/** For people and models: the answer first, then a line for each change, whoever was asked, and who could not be. Times are UTC. */
export function formatWhatChanged(found: WhatChanged): string {
  const { suspects, afterwards, others, looked, couldNotLook, from, to, beganAt } = found;
  return [
    `${headOf(found)} Looked at ${second(from)} to ${second(to)}; it began ${second(beganAt)}.`,
    ...suspects.map(lineOf),
    ...(afterwards.length > 0 ? ['After it began, so not its cause:', ...afterwards.map(lineOf)] : []),
    ...(others > 0 ? [`${countUpTo(others, 'other change')} in that time, of other things.`] : []),
    ...(looked.length > 0 ? [`Told by: ${looked.map(seenOf).join('; ')}`] : []),
    ...couldNotLook.map(({ source, of, why }) =>
      clipLine(`Could not look: ${titleOfSource(source)} (${of})${why === undefined ? '' : `: ${why}`}`, 300),
    ),
  ].join('\n');
}

function headOf({ answer, suspects }: WhatChanged): string {
  switch (answer) {
    case 'changed':
      return `CHANGED: ${suspects.length} before it began, suspects by their time alone.`;
    case 'nothing':
      return 'NOTHING: who would have told of a change of it told of none.';
    case 'could_not_look':
      return 'COULD NOT LOOK: nobody told Sentry of changes of it, so nothing is known.';
  }
}

function lineOf(change: RelatedChange): string {
  const { ref, touches, kind, state, at, source, through, environment, url, commits } = change;
  return clipLine(
    [
      `${ref} ${describeChange(change)}`,
      describeWhen(change),
      touches === 'it' ? `of ${through} itself` : `of ${through}, beside it`,
      state === 'started' ? `${kind}, under way since ${second(at)}` : `${kind} at ${second(at)}`,
      toldBy(source),
      ...(environment === null ? [] : [environment]),
      ...(url === null ? [] : [url]),
      ...(commits.length > 0 ? [commitsOf(change)] : []),
    ].join(' · '),
    3_000,
  );
}

/** The newest of them; a file tells which part of the code it is of. */
function commitsOf({ commits }: Pick<RelatedChange, 'commits'>): string {
  const shown = commits.slice(-MOST_COMMITS).map((commit) => {
    const files = commit.files.slice(0, MOST_FILES).join(', ');
    return `${clipLine(describeCommit(commit), COMMIT)}${files === '' ? '' : ` (${clipLine(files, COMMIT)})`}`;
  });
  const more = commits.length - shown.length;
  return `${countUpTo(commits.length, 'commit')}: ${more > 0 ? '… ' : ''}${shown.join('; ')}`;
}

const seenOf = ({ source, of, from, to }: ChangeSourceSeen): string =>
  clipLine(`${titleOfSource(source)} (${of}), ${second(from ?? '')} to ${second(to ?? '')}`, 200);

const second = (iso: string): string => iso.replace(/\.\d+Z$/, 'Z');
