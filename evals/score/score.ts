import { type Expected, expectedVerdict } from '../replay/scenario.ts';
import type { Answer } from './answer.ts';
import { asserts, says } from './asserts.ts';

export type Outcome = 'correct' | 'partial' | 'abstained' | 'wrong';

export interface Score {
  /** 0–1. */
  readonly score: number;
  readonly outcome: Outcome;
  /** A cause was claimed that is not the cause: the worst there is. */
  readonly falseCause: boolean;
  /** In words, for the table: what was missing or must not have been said. */
  readonly notes: readonly string[];
}

/**
 * "I cannot tell" where there was something to find: better than any wrong answer, worse than a half right one
 * (`PARTIAL_MAX` × the least share that counts as half right).
 */
export const ABSTAINED = 0.25;
/** What a wrong answer is worth that does not believe itself; a confident one is worth nothing. */
const WRONG_MAX = 0.2;
const PARTIAL_MAX = 0.6;
/** Shares of the required words. */
const CORRECT_FROM = 2 / 3;
const PARTIAL_FROM = 1 / 2;
const WEIGHTS = { words: 0.7, evidence: 0.2, noRedHerring: 0.1 } as const;
/** A cause is said in a few sentences; who lists everything that may be has not found it. */
const CAUSE_CHARACTERS = 1_500;

/** Scores one answer by words alone: the same answer always gets the same score. docs/evals.md explains the numbers. */
export function scoreAnswer(expected: Expected, answer: Answer): Score {
  const wanted = expectedVerdict(expected);
  if (wanted !== answer.verdict)
    return answer.verdict === 'cannot_tell'
      ? { score: ABSTAINED, outcome: 'abstained', falseCause: false, notes: [`expected ${wanted}`] }
      : wrong(answer, [`expected ${wanted}, said ${answer.verdict}`]);
  switch (wanted) {
    case 'healthy':
      return withEvidence(expected, answer, 1, []);
    case 'cannot_tell':
      return scoreCannotTell(expected, answer);
    case 'cause_found':
      return scoreCause(expected, answer);
  }
}

function scoreCause(expected: Expected, answer: Answer): Score {
  const cause = answer.rootCause.slice(0, CAUSE_CHARACTERS);
  const forbidden = [
    ...expected.forbidden_keywords.filter((word) => asserts(cause, word)),
    ...expected.forbidden_categories.filter((category) => isCategory(answer.category, category)),
  ];
  if (forbidden.length > 0) return wrong(answer, [`must not say: ${forbidden.join(', ')}`]);
  const told = [cause, ...answer.evidence.slice(0, 20).map(({ claim }) => claim)].join('. ');
  const { share, missing } = coverage(requiredWords(expected), told);
  const notes = missing.map((group) => `missing: ${group.join(' / ')}`);
  if (share >= CORRECT_FROM) return withEvidence(expected, answer, share, notes);
  if (share >= PARTIAL_FROM)
    return { score: round(PARTIAL_MAX * share), outcome: 'partial', falseCause: false, notes };
  return wrong(answer, notes);
}

/** What could not be read has to be named, so that somebody can grant it. */
function scoreCannotTell(expected: Expected, answer: Answer): Score {
  const told = [answer.rootCause, ...answer.unknown, answer.remedy ?? ''].join('. ');
  const { share, missing } = coverage(requiredWords(expected), told);
  const notes = missing.map((group) => `does not name: ${group.join(' / ')}`);
  return withEvidence(expected, answer, share, notes);
}

function withEvidence(expected: Expected, answer: Answer, words: number, notes: readonly string[]): Score {
  const shown = answer.evidence.map(({ claim, quote }) => `${claim}\n${quote ?? ''}`).join('\n');
  const needed = coverage(expected.needed_evidence, shown);
  const herrings = expected.red_herrings.filter((word) => asserts(shown, word));
  const score =
    WEIGHTS.words * words +
    WEIGHTS.evidence * needed.share +
    WEIGHTS.noRedHerring * (herrings.length === 0 ? 1 : 0);
  return {
    score: round(score),
    outcome: 'correct',
    falseCause: false,
    notes: [
      ...notes,
      ...needed.missing.map((group) => `evidence missing: ${group.join(' / ')}`),
      ...herrings.map((word) => `red herring as evidence: ${word}`),
    ],
  };
}

function wrong(answer: Answer, notes: readonly string[]): Score {
  return {
    score: round(WRONG_MAX * (1 - answer.confidence)),
    outcome: 'wrong',
    falseCause: answer.verdict === 'cause_found',
    notes,
  };
}

/** Words that not even the expected cause says, in any wording, are no test of an answer. */
function requiredWords(expected: Expected): readonly (readonly string[])[] {
  const all = [...expected.keywords.map((word) => [word]), ...expected.keyword_groups];
  const sayable = all.filter((group) => group.some((word) => says(expected.root_cause, word)));
  return sayable.length > 0 ? sayable : all;
}

function coverage(
  groups: readonly (readonly string[])[],
  text: string,
): { readonly share: number; readonly missing: readonly (readonly string[])[] } {
  const missing = groups.filter((group) => !group.some((word) => says(text, word)));
  return { share: groups.length === 0 ? 1 : 1 - missing.length / groups.length, missing };
}

function isCategory(given: string | null, category: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return given !== null && plain(given) === plain(category);
}

const round = (score: number): number => Math.round(score * 1_000) / 1_000;
