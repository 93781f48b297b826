import { actionsOfTool, toolOfEvidence } from './evidence.ts';

/** What a suite's answer key asks of an answer. */
export interface AnswerKey {
  readonly category: string;
  /** Categories that are as right. */
  readonly equivalents: readonly string[];
  readonly requiredKeywords: readonly string[];
  readonly forbiddenKeywords: readonly string[];
  readonly forbiddenCategories: readonly string[];
  /** Tools that must have shown something. */
  readonly requiredSources: readonly string[];
  readonly rulingOutKeywords: readonly string[];
  /** The suite's names of what is to be asked, in any order. */
  readonly trajectory: readonly string[];
  readonly maxRounds: number;
  readonly requiredQueries: readonly string[];
  /** The tools whose evidence the scenario has. */
  readonly recorded: readonly string[];
  /** Fields of the key that are not scored here. */
  readonly unscored: readonly string[];
}

/** What an investigator said and did: its category in the suite's words, and every sentence it stands by. */
export interface SuiteAnswer {
  readonly category: string;
  readonly cause: string;
  readonly claims: readonly string[];
  readonly chain: readonly string[];
  /** Said without evidence, what was ruled out among it. */
  readonly others: readonly string[];
  /** The recorded tools that it read. */
  readonly read: readonly string[];
  /** How often it asked for more. */
  readonly rounds: number;
}

/** An answer by the suite's rules: `score` is 1 or 0; `why` names what failed it. What stands apart there stands apart here. */
export interface AnswerScore {
  readonly score: 0 | 1;
  readonly why: string | null;
  /** Whether every red herring was named; null: none is asked for. */
  readonly ruledOut: boolean | null;
  /** Whether all was asked that should be, in no more rounds than it takes; null: not asked for. */
  readonly trajectory: boolean | null;
  /** Whether each query that is asked for was made; null: none is, or none can be seen here. */
  readonly queries: boolean | null;
  /** What of the key cannot be told from recorded reads. */
  readonly notScored: readonly string[];
}

/** What a failover's answer has to tell, in order; a key that demands all of it demands that the events carry the answer. */
const FAILOVER = ['failover initiated', 'failover in progress', 'failover completed', 'instance available'];
const PRIMARY = 'primary evidence source';

/** Scores by the rules of Tracer-Cloud/opensre: words as parts of the text, the category exact, and one rule missed fails the answer. */
export function scoreAnswer(key: AnswerKey, answer: SuiteAnswer): AnswerScore {
  const said = plain([answer.cause, ...answer.claims, ...answer.others, ...answer.chain].join(' '));
  const has = (keyword: string) => said.includes(plain(keyword));
  const why = failureOf(key, answer, has);
  const actions = new Set(answer.read.flatMap(actionsOfTool));
  // Alert rules come with the alert here, and later versions ask for tools whose answers they do not bring.
  const possible = new Set(key.recorded.flatMap(actionsOfTool));
  const asked = key.trajectory.filter((action) => possible.has(action));
  // The suite of RDS names metrics; a recorded read shows them all.
  const queries = key.requiredQueries.filter((query) => [...possible].some((one) => one.includes(query)));
  return {
    score: why === null ? 1 : 0,
    why,
    ruledOut: key.rulingOutKeywords.length === 0 ? null : key.rulingOutKeywords.every(has),
    trajectory:
      asked.length === 0
        ? null
        : asked.every((action) => actions.has(action)) && answer.rounds <= key.maxRounds,
    queries:
      queries.length === 0 ? null : queries.every((query) => [...actions].some((one) => one.includes(query))),
    notScored: [
      ...key.trajectory.filter((action) => !possible.has(action)),
      ...key.requiredQueries.filter((query) => !queries.includes(query)),
      ...key.unscored,
    ],
  };
}

function failureOf(key: AnswerKey, answer: SuiteAnswer, has: (keyword: string) => boolean): string | null {
  const cause = plain(answer.cause);
  if (cause === '' || cause === 'unable to determine root cause') return 'no cause was given';
  if (![key.category, ...key.equivalents].includes(answer.category))
    return `the category is ${answer.category}, not ${key.category}`;
  const missing = key.requiredKeywords.filter((keyword) => !has(keyword));
  if (missing.length > 0) return `not said: ${missing.join(', ')}`;
  if (key.forbiddenCategories.includes(answer.category))
    return `the category ${answer.category} is forbidden`;
  const forbidden = key.forbiddenKeywords.filter(has);
  if (forbidden.length > 0) return `said, but forbidden: ${forbidden.join(', ')}`;
  // What the suite asks for counts as read when anything of its kind was: metrics and insights are one act there.
  const read = new Set(answer.read.flatMap(actionsOfTool));
  const unread = key.requiredSources.filter(
    (source) => !actionsOfTool(toolOfEvidence(source)).some((action) => read.has(action)),
  );
  if (unread.length > 0) return `not read: ${unread.join(', ')}`;
  return failoverFailure(key, answer);
}

/** What was said without evidence does not count here. */
function failoverFailure(key: AnswerKey, { cause, claims, chain }: SuiteAnswer): string | null {
  const required = new Set(key.requiredKeywords.map(plain));
  if (![PRIMARY, ...FAILOVER].every((words) => required.has(words))) return null;
  const text = plain([cause, ...claims, ...chain].join(' '));
  const fromEvents = text.includes('rds') && /event|timeline/.test(text) && text.includes(PRIMARY);
  if (!fromEvents) return 'the RDS events are not what the answer stands on';
  return FAILOVER.every((step) => text.includes(step)) ? null : 'the steps of the failover are not told';
}

// Case and the number of spaces do not count there either.
const plain = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean).join(' ');
