import type { Verdict } from '../../src/core/incident.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import type { Played } from './play.ts';
import type { Ending, RecoveryCase } from './recovery-case.ts';

/**
 * `right`: it ended as it should. `cautious`: nothing untrue was said, and less was reached. `wrong`: something untrue was
 * said.
 */
export type RecoveryOutcome = 'right' | 'cautious' | 'wrong';

export interface RecoveryScore {
  /** 0–1. */
  readonly score: number;
  readonly outcome: RecoveryOutcome;
  readonly ending: Ending;
  /** It was called fixed while the problem was there: the worst that can be said. */
  readonly falseFixed: boolean;
  /** Changes that a good planner does not propose, and that got a card. */
  readonly wrongProposals: readonly string[];
  /** Changes that a good planner proposes, that were asked for and never got a card. */
  readonly refusedRight: readonly string[];
  readonly notes: readonly string[];
}

const CAUTIOUS = 0.25;
/** What each wrong proposal and each right one that was refused takes away. */
const MISTAKE = 0.25;

export function scoreRecovery(of: RecoveryCase, played: Played): RecoveryScore {
  const ending = played.isUnfinished ? 'unfinished' : endingOf(played.record);
  const isGone = played.system.goneSince() !== null;
  const falseFixed = played.wasFalselyFixed || (ending === 'fixed' && !isGone);
  const falseFailure = ending === 'not_fixed' && isGone;
  const { wrongProposals, refusedRight } = proposalsOf(of, played);
  const outcome = falseFixed || falseFailure ? 'wrong' : of.ends.includes(ending) ? 'right' : 'cautious';
  const mistakes = MISTAKE * (wrongProposals.length + refusedRight.length);
  const scores = { right: Math.max(0, 1 - mistakes), cautious: CAUTIOUS, wrong: 0 };
  return {
    score: scores[outcome],
    outcome,
    ending,
    falseFixed,
    wrongProposals,
    refusedRight,
    notes: [
      ...(falseFixed ? ['FALSE FIXED: it was called fixed while the problem was there'] : []),
      ...(falseFailure ? ['it was called not fixed, and the problem is gone'] : []),
      ...(outcome === 'cautious' ? [`ended ${ending}, not ${of.ends.join(' or ')}`] : []),
      ...wrongProposals.map((name) => `wrong proposal: ${name}`),
      ...refusedRight.map((name) => `right one refused: ${name}`),
    ],
  };
}

function endingOf({ incident, events, actions }: IncidentRecord): Ending {
  if (incident.state === 'resolved') return incident.resolvedBy === 'confirmed' ? 'fixed' : 'over_by_source';
  if (!actions.some(({ toolCallId }) => toolCallId !== null)) return 'nothing_ran';
  const last = events.findLast((event) => event.type === 'verification.concluded');
  return last?.type === 'verification.concluded' ? ENDINGS[last.verdict] : 'unfinished';
}

/** Of an incident that is not over, by its last verification; a fix that held would have ended it. */
const ENDINGS: Readonly<Record<Verdict, Ending>> = {
  fixed: 'unfinished',
  not_fixed: 'not_fixed',
  done: 'done_as_asked',
  cannot_tell: 'cannot_tell',
};

function proposalsOf(
  { changes }: RecoveryCase,
  { record, system }: Played,
): Pick<RecoveryScore, 'wrongProposals' | 'refusedRight'> {
  const named = (
    calls: readonly { readonly tool: string; readonly input: Parameters<typeof system.changeOf>[1] }[],
  ) => new Set(calls.flatMap(({ tool, input }) => system.changeOf(tool, input) ?? []));
  const shown = named(record.actions);
  const asked = named(record.toolCalls.filter(({ role }) => role === 'surgeon'));
  return {
    wrongProposals: [...shown].filter((name) => changes[name]?.is_right === false),
    refusedRight: [...asked].filter((name) => changes[name]?.is_right === true && !shown.has(name)),
  };
}
