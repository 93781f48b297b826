import type { Answer } from '../score/answer.ts';
import type { Measured } from '../score/estimate.ts';
import {
  type EvalOptions,
  type EvalResult,
  type EvalSummary,
  runEvals,
  summarise,
} from '../score/run-evals.ts';
import { type Score, scoreAnswer as scoreByOurs } from '../score/score.ts';
import { SUITE_CATEGORIES, suiteCategory } from './category.ts';
import type { Suite, SuiteScenario } from './read-suite.ts';
import { type AnswerScore, scoreAnswer as scoreByTheirs } from './score-answer.ts';

/**
 * An incident of a suite. Both rules score what was said, since the suite knows no check by code: `score`, `outcome`, `falseCause` and
 * `notes` are ours. `published` is our score of what stood after the check, which a thread would have shown.
 */
export interface SuiteResult extends EvalResult {
  readonly theirs: AnswerScore & { readonly category: string };
  readonly published: Pick<Score, 'score' | 'outcome'>;
}

export interface SuiteRun {
  readonly summary: EvalSummary & {
    /** How many runs pass by the suite's rules. */
    readonly passed: number;
    /** Mean of `published`, 0–1. */
    readonly published: number;
  };
  readonly incidents: readonly SuiteResult[];
  readonly refused: Suite['refused'];
  readonly unread: Suite['unread'];
}

/** Investigates each scenario of a suite as `runEvals` does, and scores what is said by both rules. */
export async function runSuite(suite: Suite, options: Omit<EvalOptions, 'scenarios'>): Promise<SuiteRun> {
  const { refused, unread, scenarios } = suite;
  const byId = new Map(scenarios.map((one) => [one.scenario.id, one]));
  const answers = new Set([...SUITE_CATEGORIES, ...scenarios.flatMap(({ key }) => rightCategories(key))]);
  const run = await runEvals({ ...options, scenarios: scenarios.map(({ scenario }) => scenario) });
  const incidents = run.incidents.flatMap((one): SuiteResult[] => {
    const asked = byId.get(one.id);
    return asked === undefined ? [] : [scored(asked, one, answers)];
  });
  return {
    summary: {
      ...summarise(incidents),
      passed: incidents.filter(({ theirs }) => theirs.score === 1).length,
      published: summarise(incidents.map((one) => ({ ...one, ...one.published }))).score,
    },
    incidents,
    refused,
    unread,
  };
}

/** Passed by the suite's rules; the score is ours. */
export const suiteMeasure = ({ id, theirs, score, costUsd, wallMs }: SuiteResult): Measured => ({
  id,
  passed: theirs.score === 1,
  score,
  costUsd,
  wallMs,
});

function scored(
  { scenario, key }: SuiteScenario,
  one: EvalResult,
  answers: ReadonlySet<string>,
): SuiteResult {
  const { said, read, rounds } = one;
  const right = rightCategories(key);
  const known = new Set([...answers, ...key.forbiddenCategories]);
  const category = suiteCategory(said, known);
  // Who names another kind of cause, or none that the suite knows, is wrong by ours too, whatever else was said.
  const ours = (answer: Answer): Score => {
    const named = suiteCategory(answer, known);
    const forbidden = [...scenario.expected.forbidden_categories, ...(right.includes(named) ? [] : [named])];
    return scoreByOurs(
      { ...scenario.expected, forbidden_categories: forbidden },
      { ...answer, category: named },
    );
  };
  const { score, outcome } = ours(one.answer);
  return {
    ...one,
    ...ours(said),
    published: { score, outcome },
    theirs: {
      ...scoreByTheirs(key, {
        category,
        cause: said.rootCause,
        claims: said.evidence.map(({ claim }) => claim),
        chain: said.chain,
        others: said.ruledOut,
        read,
        rounds,
      }),
      category,
    },
  };
}

const rightCategories = ({ category, equivalents }: SuiteScenario['key']): readonly string[] => [
  category,
  ...equivalents,
];
