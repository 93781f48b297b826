import type { Change } from './change.ts';
import type { ToolCallId } from './ids.ts';

/** The source of a change that Sentry saw by itself, from one look at a system to the next. */
export const OWN_LOOK = 'own-look';

/**
 * A change, and how it stands to a problem.
 * - `it`: it touched the very thing that the alert is about, or all of its system.
 * - `neighbour`: it touched a system that the incident may read beside its own, or another thing of the same system.
 */
export interface RelatedChange extends Change {
  /** By which it is named in this answer: `c1`. */
  readonly ref: string;
  readonly touches: 'it' | 'neighbour';
  /** The name it was found by. */
  readonly through: string;
  /**
   * `before`: it took effect before the problem began. `around`: it is only known to have taken effect between two looks, of
   * which one was before and one after. `after`: it cannot have caused it.
   */
  readonly when: 'before' | 'around' | 'after';
  /** How long before the problem it took effect; negative after it. */
  readonly beforeMs: number;
}

/** Somebody who tells of changes, and how far its word reaches. */
export interface ChangeSourceSeen {
  /** The name of a source, or `own-look`. */
  readonly source: string;
  /** The system or service that it is asked about. */
  readonly of: string;
  /** ISO 8601: from when to when it would have told; null: it told nothing, for `why`. */
  readonly from: string | null;
  readonly to: string | null;
  readonly why?: string;
}

/** What was changed around a problem. A change is a suspect, and never a cause by its time alone. */
export interface WhatChanged {
  /**
   * - `changed`: there are suspects.
   * - `nothing`: at least one source of changes of this very system was there to tell, and told of none.
   * - `could_not_look`: nobody was.
   */
  readonly answer: 'changed' | 'nothing' | 'could_not_look';
  /** The window that was looked at, ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** When the problem began, by which before and after are told. */
  readonly beganAt: string;
  /** Touched it and not `after`; newest first. Those of *it* first. */
  readonly suspects: readonly RelatedChange[];
  /** Of it or its neighbours, after it began. */
  readonly afterwards: readonly RelatedChange[];
  /** How many more there were in the window, of other things, or beyond what is told here. */
  readonly others: number;
  /** How many more touched *it* before it began than are told here: one of them may be the cause. Left out: none. */
  readonly cut?: number;
  /** Since when somebody who tells of this very system was there; left out: nobody was for long enough. */
  readonly since?: string;
  readonly looked: readonly ChangeSourceSeen[];
  readonly couldNotLook: readonly ChangeSourceSeen[];
}

/** The same as the record keeps it: the call that shows it. */
export interface ChangesLooked {
  readonly toolCallId: ToolCallId;
  readonly found: WhatChanged;
}

/** What a diagnosis says of a change that was found. */
export interface JudgedChange {
  /** `c1` of the call `what_changed` that is cited. */
  readonly ref: string;
  readonly title: string;
  /**
   * `cause`: a read of the live system shows that what it changed is what is wrong. `suspect`: time and place fit, and
   * nothing shows more. `unrelated`: a read speaks against it.
   */
  readonly part: 'cause' | 'suspect' | 'unrelated';
  /** The call that told of it, then those that show its part. */
  readonly toolCallIds: readonly ToolCallId[];
}

/** Of which systems and code an incident may be told, as its record and the configuration have it and never as a caller says. */
export interface ChangesScope {
  /** The incident's system; null: it has none that is configured. */
  readonly target: string | null;
  /** Systems that its incidents may read beside it. */
  readonly neighbours: readonly string[];
  /** What else its system and the services of its alert are called. Lower case. */
  readonly names: readonly string[];
  /** What other configured systems are called: of theirs nothing is told for a label's sake. Lower case. */
  readonly others?: readonly string[];
}

export interface AskedChanges {
  /** ISO 8601, or so many minutes before the problem began: from then on. Left out: from 2 h before it. */
  readonly since?: string | number | undefined;
  /** A system or service of the scope, to be asked about alone. */
  readonly name?: string | undefined;
  readonly signal: AbortSignal;
}
