import { type Planner, play, type Stage } from './play.ts';
import type { RecoveryCase } from './recovery-case.ts';
import { type RecoveryScore, scoreRecovery } from './score-recovery.ts';

export interface RecoveryResult extends RecoveryScore {
  readonly id: string;
  readonly title: string;
  readonly planner: string;
  /** Changes that ran, in order. */
  readonly ran: readonly string[];
  readonly costUsd: number;
  readonly wallMs: number;
}

export interface RecoverySummary {
  /** Plays: cases times planners. */
  readonly plays: number;
  /** Mean, 0–1. */
  readonly score: number;
  readonly falseFixed: number;
  readonly right: number;
  readonly cautious: number;
  readonly wrong: number;
  readonly wrongProposals: number;
  readonly refusedRight: number;
  readonly costUsd: number;
  readonly wallMs: number;
}

export interface RecoveryRun {
  readonly summary: RecoverySummary;
  readonly byPlanner: Readonly<Record<string, RecoverySummary>>;
  readonly plays: readonly RecoveryResult[];
}

/** Plays each case with each planner, one after the other, and scores how it ended. */
export async function runRecovery(
  stage: Stage,
  cases: readonly RecoveryCase[],
  planners: readonly Planner[],
  signal: AbortSignal,
): Promise<RecoveryRun> {
  const plays: RecoveryResult[] = [];
  for (const planner of planners)
    for (const one of cases) {
      signal.throwIfAborted();
      plays.push(await playOne(one, planner, stage));
    }
  const byPlanner = planners.map(({ name }) => {
    const own = plays.filter(({ planner }) => planner === name);
    return [name, summariseRecovery(own)] as const;
  });
  return { summary: summariseRecovery(plays), byPlanner: Object.fromEntries(byPlanner), plays };
}

async function playOne(one: RecoveryCase, planner: Planner, stage: Stage): Promise<RecoveryResult> {
  const begun = performance.now();
  const played = await play(one, planner, stage);
  return {
    id: one.id,
    title: one.title,
    planner: planner.name,
    ...scoreRecovery(one, played),
    ran: played.system.ran,
    costUsd: played.record.incident.costUsd,
    wallMs: Math.round(performance.now() - begun),
  };
}

export function summariseRecovery(plays: readonly RecoveryResult[]): RecoverySummary {
  const sum = (of: (play: RecoveryResult) => number): number =>
    plays.reduce((total, play) => total + of(play), 0);
  const count = (outcome: RecoveryResult['outcome']): number =>
    plays.filter((play) => play.outcome === outcome).length;
  return {
    plays: plays.length,
    score: Math.round((1_000 * sum(({ score }) => score)) / Math.max(1, plays.length)) / 1_000,
    falseFixed: plays.filter(({ falseFixed }) => falseFixed).length,
    right: count('right'),
    cautious: count('cautious'),
    wrong: count('wrong'),
    wrongProposals: sum(({ wrongProposals }) => wrongProposals.length),
    refusedRight: sum(({ refusedRight }) => refusedRight.length),
    costUsd: Math.round(1e6 * sum(({ costUsd }) => costUsd)) / 1e6,
    wallMs: sum(({ wallMs }) => wallMs),
  };
}
