import { describeCommit } from '../../core/change.ts';
import { clip } from '../../core/clip.ts';
import { describeAnswer, describeChange, describeWhen } from '../../core/describe-changes.ts';
import type { ChangeSourceSeen, RelatedChange, WhatChanged } from '../../core/what-changed.ts';
import type { Investigation } from '../ports.ts';

/** About 600 tokens, of which half is for the suspects. */
const MAX_CHARS = 2_400;
const MOST_SUSPECTS = 6;
const MOST_AFTERWARDS = 3;
const MOST_SOURCES = 4;
const MOST_COMMITS = 3;
const MAX_LINE = 300;

/** What was changed around it, for a first turn: by which call, and what of it can be told. Nothing where nobody can ask. */
export function changesData({ changes }: Investigation): object {
  if (changes === undefined) return {};
  if (changes === null) return { changes: 'Could not be asked: call what_changed.' };
  const { toolCallId, found } = changes;
  let told = tellChanges(found, MOST_SUSPECTS);
  for (let most = MOST_SUSPECTS - 1; most > 0 && JSON.stringify(told).length > MAX_CHARS; most--)
    told = tellChanges(found, most);
  return { changes: { tool_call_id: toolCallId, ...told } };
}

function tellChanges(found: WhatChanged, most: number): object {
  const { answer, from, to, beganAt, suspects, afterwards, others, looked, couldNotLook } = found;
  const more = Math.max(0, suspects.length - most) + Math.max(0, afterwards.length - MOST_AFTERWARDS);
  return {
    answer: answer === 'changed' ? 'changed' : clip(describeAnswer(found), MAX_LINE),
    window: `${from} to ${to}, it began ${beganAt}`,
    ...(suspects.length > 0 ? { suspects: suspects.slice(0, most).map(suspectLine) } : {}),
    ...(afterwards.length > 0
      ? { after_it_began: afterwards.slice(0, MOST_AFTERWARDS).map(suspectLine) }
      : {}),
    ...(more + others > 0 ? { not_shown: more + others } : {}),
    ...(looked.length > 0 ? { looked: looked.slice(0, MOST_SOURCES).map(nameOf) } : {}),
    ...(couldNotLook.length > 0
      ? {
          could_not_look: couldNotLook
            .slice(0, MOST_SOURCES)
            .map((seen) => clip(`${nameOf(seen)}: ${seen.why ?? 'not told'}`, MAX_LINE)),
        }
      : {}),
  };
}

/** “c1: shop-api 1.4.2 deployed by olivia, 3 min before it began (of its neighbour orders-db)”. */
function suspectLine(change: RelatedChange): string {
  const { ref, touches, through, commits, state } = change;
  const where = touches === 'it' ? '' : ` (of ${through}, not of what the alert is about)`;
  const underWay = state === 'started' ? ', still under way' : '';
  const brought = commits.slice(-MOST_COMMITS).map(describeCommit).join('; ');
  const rest = commits.length > MOST_COMMITS ? ` and ${commits.length - MOST_COMMITS} older` : '';
  const history = brought === '' ? '' : `; commits: ${brought}${rest}`;
  return clip(
    `${ref}: ${describeChange(change)}, ${describeWhen(change)}${underWay}${where}${history}`,
    MAX_LINE,
  );
}

const nameOf = ({ source, of }: ChangeSourceSeen): string => `${source} (${of})`;
