import { type Action, neverRan, repairOf, stepsOf, undoOf } from './action.ts';
import { capitalised } from './capitalised.ts';
import type { IncidentRecord } from './incident-record.ts';

/** What people have undone of a plan, or tried to; `says` stands before the name of whoever it was. */
export interface Undone {
  /** `all`: nothing of what ran stands any more. `part`: some of it does. */
  readonly kind: 'all' | 'part' | 'failed' | 'unknown' | 'open';
  /** Whether some of it is known to be undone, whatever became of the rest. */
  readonly anyDone: boolean;
  readonly says: string;
  readonly by: string | null;
  /** When it ended, ISO 8601; null: it has not. */
  readonly at: string | null;
}

/** Null: nobody has undone any of it, or what they asked for came to nothing. */
export function undoneOf(actions: readonly Action[], steps: readonly Action[]): Undone | null {
  const ran = steps.filter(({ state }) => state === 'succeeded');
  const pairs = ran.flatMap((step) => {
    const undo = newestUndo(actions, step);
    return undo ? [{ step: step.step, undo }] : [];
  });
  const last = pairs
    .map(({ undo }) => undo)
    .toSorted((a, b) => latest(a).localeCompare(latest(b)))
    .at(-1);
  if (last === undefined) return null;
  const inState = (...states: readonly Action['state'][]): readonly number[] =>
    pairs.filter(({ undo }) => states.includes(undo.state)).map(({ step }) => step);
  const several = steps.length > 1;
  const its = (numbers: readonly number[]): string =>
    several ? `the undo of ${stepNames(numbers)}` : 'its undo';
  const done = inState('succeeded');
  const [unknown, failed] = [inState('unknown'), inState('failed')];
  const running = inState('approved', 'started', 'queued');
  const told = (kind: Undone['kind'], says: string): Undone => ({
    kind,
    anyDone: done.length > 0,
    says,
    by: last.requestedBy,
    at: kind === 'open' ? null : last.finishedAt,
  });
  const only = `Only ${stepNames(done)} of ${steps.length} ${done.length > 1 ? 'are' : 'is'} undone`;
  const after = (text: string): string => (done.length > 0 ? `${only}: ${text}` : capitalised(text));
  if (unknown.length > 0) return told('unknown', after(`unknown whether ${its(unknown)} ran, asked for by`));
  if (inState('proposed').length > 0) return told('open', after('undo waits for approval, asked for by'));
  if (running.length > 0) return told('open', after('being undone, asked for by'));
  if (failed.length > 0) return told('failed', after(`${its(failed)} failed, asked for by`));
  return done.length < ran.length ? told('part', `${only}, by`) : told('all', 'Undone by');
}

/** `step 2`, `steps 1 and 3`. */
export const stepNames = (numbers: readonly number[]): string => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const last = sorted.at(-1);
  return sorted.length > 1 ? `steps ${sorted.slice(0, -1).join(', ')} and ${last}` : `step ${last}`;
};

/** Whether what fixed it is known to stand no more, or not to be known to stand. */
export const hasFallen = (undone: Undone | null): boolean =>
  undone !== null && (undone.anyDone || undone.kind === 'unknown');

/** How what our own check has seen fixed stands now: `fixed`, `fixed, then undone`. */
export function formatFixed(undone: Undone | null): string {
  if (undone === null) return 'fixed';
  const { kind, anyDone } = undone;
  return `fixed${since[anyDone && kind !== 'all' ? 'part' : kind]}`;
}

const since: Readonly<Record<Undone['kind'], string>> = {
  all: ', then undone',
  part: ', then partly undone',
  unknown: '; unknown whether that was undone',
  failed: '',
  open: '',
};

/** Of what mended the incident last. */
export function undoneRepair({
  incident,
  actions,
}: Pick<IncidentRecord, 'incident' | 'actions'>): Undone | null {
  const repair = repairOf(actions, incident.round);
  return repair ? undoneOf(actions, stepsOf(actions, repair)) : null;
}

/** The same on a line of plain words: `Undone by <@U…>`. */
export const formatUndone = ({ says, by }: Undone, nameOf: (by: string) => string): string =>
  `${says} ${by === null ? 'a person' : nameOf(by)}`;

const latest = ({ finishedAt, proposedAt }: Action): string => finishedAt ?? proposedAt;

/** The newest that ran, may have, or still may, unless that was undone in its turn. */
function newestUndo(actions: readonly Action[], { id }: Action): Action | undefined {
  return actions.findLast(
    (each) =>
      each.undoes === id &&
      !['denied', 'expired', 'void', 'skipped'].includes(each.state) &&
      !neverRan(each) &&
      undoOf(actions, each)?.state !== 'succeeded',
  );
}
