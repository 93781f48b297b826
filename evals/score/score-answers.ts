import type { Scenario } from '../replay/scenario.ts';
import type { Answer } from './answer.ts';
import { type EvalSummary, summarise } from './run-evals.ts';
import { type Score, scoreAnswer } from './score.ts';

export interface ScoredAnswer extends Score {
  readonly id: string;
  /** False: nothing was answered, which counts as an abstention. */
  readonly answered: boolean;
}

export interface ScoredAnswers {
  readonly summary: EvalSummary;
  readonly incidents: readonly ScoredAnswer[];
  /** Answers to scenarios that are not there. */
  readonly unknownIds: readonly string[];
}

/** Scores answers given from outside with the scorer that `evals run` uses. Of two answers to one scenario the last counts. */
export function scoreAnswers(scenarios: readonly Scenario[], answers: readonly Answer[]): ScoredAnswers {
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  const incidents = scenarios.map(({ id, expected }) => {
    const answer = byId.get(id);
    return { id, answered: answer !== undefined, ...scoreAnswer(expected, answer ?? noAnswer(id)) };
  });
  const known = new Set(scenarios.map(({ id }) => id));
  return {
    summary: summarise(incidents.map((one) => ({ ...one, costUsd: 0, wallMs: 0 }))),
    incidents,
    unknownIds: [...byId.keys()].filter((id) => !known.has(id)),
  };
}

const noAnswer = (id: string): Answer => ({
  id,
  verdict: 'cannot_tell',
  rootCause: '',
  category: null,
  confidence: 0,
  evidence: [],
  chain: [],
  ruledOut: [],
  unknown: [],
  remedy: null,
});
