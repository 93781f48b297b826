import { describeChange } from './describe-changes.ts';
import type { IncidentEvent } from './event.ts';
import type { JudgedChange, RelatedChange, WhatChanged } from './what-changed.ts';

/** A change as people are told of it: with the part that the newest diagnosis gives it. */
export interface ToldChange {
  readonly part: JudgedChange['part'];
  readonly title: string;
  /** Null: another call than a round's own look told of it, and only its title is known here. */
  readonly change: RelatedChange | null;
}

/** What an incident's record holds of the changes around it. */
export interface ToldChanges {
  /** The newest look, and when it was made. */
  readonly found: WhatChanged;
  readonly at: string;
  readonly causes: readonly ToldChange[];
  readonly suspects: readonly ToldChange[];
  readonly unrelated: readonly ToldChange[];
}

type Events = readonly IncidentEvent[];
type Looked = Extract<IncidentEvent, { type: 'changes.looked' }>;

/** Null: nobody has looked yet. A change without a word of the diagnosis stays a suspect: time and place are no proof. */
export function toldChanges(events: Events): ToldChanges | null {
  const looks = events.filter((event): event is Looked => event.type === 'changes.looked');
  const newest = looks.at(-1);
  if (newest === undefined) return null;
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  const judged = (last?.type === 'diagnosis.concluded' ? (last.diagnosis.changes ?? []) : []).map(
    (each): ToldChange => ({ part: each.part, title: each.title, change: changeOf(each, looks) }),
  );
  const suspects = newest.found.suspects
    .filter((change) => !judged.some((each) => each.change !== null && isSame(each.change, change)))
    .map((change): ToldChange => ({ part: 'suspect', title: change.title, change }));
  const of = (part: ToldChange['part']) => judged.filter((each) => each.part === part);
  return {
    found: newest.found,
    at: newest.at,
    causes: of('cause'),
    suspects: [...of('suspect'), ...suspects],
    unrelated: of('unrelated'),
  };
}

/** Whether an event is the call of a round's look, which is told of by what it found. */
export function isCallOfLook(event: IncidentEvent, events: Events): boolean {
  return (
    event.type === 'tool.called' &&
    events.some((each) => each.type === 'changes.looked' && each.toolCallId === event.toolCallId)
  );
}

/**
 * A reference is one of the call that is cited beside it, and says nothing in another's: what another call told of is known
 * again by its title, where only one is called so.
 */
function changeOf({ ref, title, toolCallIds }: JudgedChange, looks: readonly Looked[]): RelatedChange | null {
  const look = looks.find(({ toolCallId }) => toolCallIds.includes(toolCallId));
  if (look !== undefined) return changesOf(look).find((change) => change.ref === ref) ?? null;
  const newest = looks.at(-1);
  const called =
    newest === undefined ? [] : changesOf(newest).filter((each) => describeChange(each) === title);
  return (called.length === 1 && called[0]) || null;
}

const changesOf = ({ found }: Looked): readonly RelatedChange[] => [...found.suspects, ...found.afterwards];

const isSame = (one: RelatedChange, other: RelatedChange): boolean =>
  one.source === other.source && one.id === other.id;
