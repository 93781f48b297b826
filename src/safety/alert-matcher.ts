import { RE2JS, RE2JSException } from 're2js';
import { type Severity, severities } from '../core/alert.ts';
import { messageOf, type Refusal, refuse } from '../core/errors.ts';
import { type Condition, formatConditions, readConditions } from '../core/matcher.ts';

/** What a matcher can be about. */
export interface AlertFacts {
  readonly alertname: string;
  /** Sentry's own word for it, see `severities`. */
  readonly severity: Severity;
  /** The configured target; '' where it is none. */
  readonly target: string;
  readonly source: string;
  readonly title: string;
  /** A label of one of the names above is not asked for. */
  readonly labels: Readonly<Record<string, unknown>>;
}

/** Conditions that all have to hold. */
export interface AlertMatcher {
  /** As it is written out. */
  readonly text: string;
  readonly matches: (facts: AlertFacts) => boolean;
  /** Those that its conditions on `severity` leave; null: it has none. */
  readonly severities: readonly Severity[] | null;
  /** Nothing but a name that it does not say keeps an alert from it. */
  readonly isEverything: boolean;
}

const OWN = ['alertname', 'severity', 'target', 'source', 'title'] as const;
const MAX_PATTERN = 200;
/** Instructions of the compiled pattern: the time per character grows with them. */
const MAX_PROGRAM = 1_000;
/** What is longer is not looked through. */
const MAX_VALUE = 4_000;
/** Stands where `redact` has hidden something: nobody knows what was there. */
export const HIDDEN = '[redacted:';

type Test = (value: string) => boolean;

/** A critical waits, or gets less, only for who says `severity`: what was meant for others must not keep somebody asleep. */
export const mayQuieten = (matcher: AlertMatcher, facts: AlertFacts): boolean =>
  matcher.matches(facts) && (facts.severity !== 'critical' || matcher.severities !== null);

/** A matcher that a text begins with; `end`: where it ends there. */
export type ReadMatcher =
  | { readonly ok: true; readonly matcher: AlertMatcher; readonly end: number }
  | Refusal;

/**
 * Reads a matcher (see `readConditions`). A label that an alert lacks is empty, as in Alertmanager; patterns fit the whole value and are
 * tried in linear time. A value of which something is hidden, or that is longer than 4,000 characters, fits no condition.
 */
export function readMatcher(text: string): ReadMatcher {
  const read = readConditions(text);
  if (!read.ok) return read;
  const tests: { readonly name: string; readonly test: Test }[] = [];
  for (const condition of read.conditions) {
    const test = testOf(condition);
    if (typeof test !== 'function') return test;
    tests.push({ name: condition.name, test });
  }
  const matches = (facts: AlertFacts): boolean =>
    tests.every(({ name, test }) => {
      const value = valueOf(facts, name);
      return value.length <= MAX_VALUE && !value.includes(HIDDEN) && test(value);
    });
  const bySeverity = tests.filter(({ name }) => name === 'severity');
  const matcher = {
    text: formatConditions(read.conditions),
    matches,
    severities:
      bySeverity.length === 0
        ? null
        : severities.filter((each) => bySeverity.every(({ test }) => test(each))),
    isEverything: severities.every((severity) => matches(someAlert(severity, tests))),
  };
  return { ok: true, matcher, end: read.end };
}

/** The same of a text that is nothing else. */
export function wholeMatcher(text: string): { readonly ok: true; readonly matcher: AlertMatcher } | Refusal {
  const read = readMatcher(text);
  if (!read.ok) return read;
  const rest = text.slice(read.end).trim();
  return rest === ''
    ? read
    : refuse(
        'MATCHER',
        `The matcher ends before “${rest.slice(0, 30)}”: conditions are separated by commas, and values with spaces stand in quotes.`,
      );
}

function testOf({ name, op, value }: Condition): Test | Refusal {
  if (op === '=' || op === '!=') {
    if (name === 'severity' && !(severities as readonly string[]).includes(value))
      return refuse('MATCHER', `severity is one of ${severities.join(', ')}, not “${value.slice(0, 40)}”.`);
    return (given) => (given === value) === (op === '=');
  }
  if (value.length > MAX_PATTERN)
    return refuse('MATCHER', `${name}: a pattern has at most ${MAX_PATTERN} characters.`);
  try {
    const pattern = RE2JS.compile(value, RE2JS.DOTALL);
    if (pattern.programSize() > MAX_PROGRAM)
      return refuse('MATCHER', `${name}: the pattern repeats too much.`);
    return (given) => pattern.matcher(given).matches() === (op === '=~');
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const why = messageOf(error).replace('error parsing regexp: ', '');
    return refuse('MATCHER', `${name}: the pattern “${value}” cannot be used: ${why} (RE2 syntax).`);
  }
}

function valueOf(facts: AlertFacts, name: string): string {
  const own = OWN.find((each) => each === name);
  if (own !== undefined) return facts[own];
  const value = Object.hasOwn(facts.labels, name) ? facts.labels[name] : '';
  return typeof value === 'string' ? value : String(value ?? '');
}

/** An alert that nobody has named. */
function someAlert(severity: Severity, tests: readonly { readonly name: string }[]): AlertFacts {
  const word = 'qzxw7';
  return {
    alertname: word,
    severity,
    target: word,
    source: word,
    title: word,
    labels: Object.fromEntries(tests.map(({ name }) => [name, word])),
  };
}
