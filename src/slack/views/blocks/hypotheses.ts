import type { Diagnosis } from '../../../core/diagnosis.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import { isModels } from '../../../core/model-words.ts';
import { saysTheSame } from '../../../incidents/claims/problems.ts';
import { DIG_HINT } from '../../../incidents/dig-deeper.ts';
import type { Task } from './plan-block.ts';
import { cut, oneLine } from './text.ts';

type Hypothesis = NonNullable<Diagnosis['hypotheses']>[number];
type Standing = 'New' | 'Strengthened' | 'Weakened' | 'Ruled out';

interface Weighed {
  readonly cause: string;
  readonly standing: Standing;
  readonly status: Task['status'];
  readonly whose: 'model' | 'runbook' | 'person';
  /** As the last diagnosis weighed it; null: none has yet. */
  readonly last: Hypothesis | null;
}

/** An explanation as a task; a runbook's that is ruled out is a sentence that says so itself. */
export function hypothesisTask({ cause, standing, status, whose }: Weighed, max: number): Task {
  if (whose === 'runbook' && standing === 'Ruled out') return { title: cut(oneLine(cause), max), status };
  const said = whose === 'person' ? `“${oneLine(cause)}”` : oneLine(cause);
  return { title: cut(`${standing}${whose === 'model' ? ', says Claude' : ''}: ${said}`, max), status };
}

/**
 * The explanations that are on record and how each stands, those that were told of last at the end: what people gave as a
 * hint, what the diagnoses weighed, and the claims that were dropped since.
 */
export function weighedSoFar(events: readonly IncidentEvent[]): readonly Weighed[] {
  const all: Weighed[] = [];
  const put = (cause: string, next: (known: Weighed | undefined) => Weighed): void => {
    const at = all.findIndex((each) => isSame(each.cause, cause));
    const [known] = at < 0 ? [] : all.splice(at, 1);
    all.push(next(known));
  };
  for (const event of events) {
    if (event.type === 'hint.given' && event.text !== DIG_HINT) {
      const { text: cause } = event;
      put(
        cause,
        (known) => known ?? { cause, standing: 'New', status: 'pending', whose: 'person', last: null },
      );
    }
    if (event.type === 'claim.dropped' && all.some(({ cause }) => isSame(cause, event.claim)))
      put(event.claim, (known) => weakened(known as Weighed));
    if (event.type === 'diagnosis.concluded') {
      const whose = isModels(event.diagnosis, events) ? 'model' : 'runbook';
      for (const one of event.diagnosis.hypotheses ?? [])
        put(one.cause, (known) => ({
          cause: one.cause,
          standing: standingOf(one, known),
          status: one.end === 'open' ? 'in_progress' : 'complete',
          whose,
          last: one,
        }));
    }
  }
  return all;
}

const isSame = (one: string, other: string): boolean =>
  oneLine(one).toLowerCase() === oneLine(other).toLowerCase() || saysTheSame(one, other);

const weakened = (known: Weighed): Weighed =>
  known.standing === 'Ruled out' ? known : { ...known, standing: 'Weakened' };

/** By what the diagnosis before said of it; where nothing of that has changed it stands as it stood. */
function standingOf(one: Hypothesis, known: Weighed | undefined): Standing {
  if (one.end === 'ruled_out') return 'Ruled out';
  if (!known?.last) return 'New';
  const by = RANK[one.end] - RANK[known.last.end] || weightOf(one) - weightOf(known.last);
  if (by === 0) return known.standing;
  return by > 0 ? 'Strengthened' : 'Weakened';
}

const RANK = { ruled_out: 0, open: 1, ruled_in: 2 } as const;
const weightOf = ({ forIds, againstIds }: Hypothesis): number => forIds.length - againstIds.length;
