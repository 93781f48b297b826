import { type Refusal, refuse } from './errors.ts';

/** One condition on an alert, as Alertmanager writes them: `severity=~"warning|info"`. */
export interface Condition {
  /** A label, or `alertname`, `severity`, `target`, `source`, `title`. */
  readonly name: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

const MAX_TEXT = 1_000;
const MAX_CONDITIONS = 20;
const MAX_NAME = 100;
const MAX_VALUE = 300;

/** What may follow a bare name or value: a space, a comma, an operator, the end. */
const BARE = /[^\s,={}!~"“”„]+/y;
const SPACE = /\s*/y;
const OP = /=~|!~|!=|=/y;
/** Phones write quotes of their own. */
const CLOSES: Readonly<Record<string, string>> = { '"': '"', '“': '“”"', '”': '“”"', '„': '“”"' };

/** Where reading has come to. */
interface Place {
  readonly text: string;
  at: number;
}

/** What was read, and where it ends in the text. */
export interface ReadConditions {
  readonly ok: true;
  readonly conditions: readonly Condition[];
  readonly end: number;
}

/**
 * Reads the matcher that a text begins with: conditions separated by commas, with or without braces; a bare `DiskFull` is
 * `alertname="DiskFull"`. Values may be quoted with `\"`, `\\` and `\n` in them. What follows is the caller's. A refusal names the place.
 * https://prometheus.io/docs/alerting/latest/configuration/#matcher
 */
export function readConditions(text: string): ReadConditions | Refusal {
  if (text.length > 4 * MAX_TEXT) return refuse('MATCHER', 'That is too long to be read.');
  const place: Place = { text, at: 0 };
  const conditions: Condition[] = [];
  const isBraced = eat(place, '{');
  for (;;) {
    if (isBraced && eat(place, '}')) break;
    const condition = readCondition(place);
    if ('ok' in condition) return condition;
    conditions.push(condition);
    if (conditions.length > MAX_CONDITIONS)
      return refuse('MATCHER', `At most ${MAX_CONDITIONS} conditions fit in a matcher.`);
    if (eat(place, ',')) continue;
    if (!isBraced) break;
    if (!eat(place, '}')) return wrong(place, 'expected "," or "}"');
    break;
  }
  if (place.at > MAX_TEXT) return refuse('MATCHER', `A matcher has at most ${MAX_TEXT} characters.`);
  return { ok: true, conditions, end: place.at };
}

function readCondition(place: Place): Condition | Refusal {
  skip(place);
  const isQuoted = place.text[place.at] !== undefined && Object.hasOwn(CLOSES, place.text[place.at] ?? '');
  const name = readWord(place, 'the name of a label');
  if (typeof name !== 'string') return name;
  if (name === '' || name.length > MAX_NAME) return wrong(place, `a name has 1 to ${MAX_NAME} characters`);
  const before = place.at;
  skip(place);
  const op = match(place, OP) as Condition['op'] | null;
  if (op === null) {
    place.at = before;
    return isQuoted || !/^\d/.test(name)
      ? { name: 'alertname', op: '=', value: name }
      : wrong({ ...place, at: before - name.length }, 'expected a condition, like alertname="DiskFull"');
  }
  skip(place);
  const value = readWord(place, 'a value');
  if (typeof value !== 'string') return value;
  return value.length > MAX_VALUE
    ? wrong(place, `a value has at most ${MAX_VALUE} characters`)
    : { name, op, value };
}

function readWord(place: Place, what: string): string | Refusal {
  const closes = CLOSES[place.text[place.at] ?? ''];
  if (closes === undefined) return match(place, BARE) ?? wrong(place, `expected ${what}`);
  const from = place.at;
  let word = '';
  for (place.at += 1; place.at < place.text.length; place.at += 1) {
    const char = place.text[place.at] ?? '';
    if (closes.includes(char)) {
      place.at += 1;
      return word;
    }
    if (char === '\\') {
      place.at += 1;
      const escaped = place.text[place.at] ?? '';
      // What is no escape is a pattern's own: `\d`.
      word += escaped === 'n' ? '\n' : '\\"“”„'.includes(escaped) ? escaped : `\\${escaped}`;
    } else word += char;
  }
  return wrong({ ...place, at: from }, 'this quote is not closed');
}

const SHOWN = 30;

function wrong({ text, at }: Place, why: string): Refusal {
  const rest = text.slice(at, at + SHOWN);
  const where = rest === '' ? 'at its end' : `at character ${at + 1}, “${rest}”`;
  return refuse('MATCHER', `The matcher cannot be read ${where}: ${why}.`);
}

function match(place: Place, pattern: RegExp): string | null {
  pattern.lastIndex = place.at;
  const [found] = pattern.exec(place.text) ?? [];
  if (found === undefined) return null;
  place.at += found.length;
  return found;
}

const skip = (place: Place): void => void match(place, SPACE);

/** The mark, where it comes next. What is not eaten leaves the place as it was. */
function eat(place: Place, mark: string): boolean {
  const before = place.at;
  skip(place);
  if (place.text[place.at] === mark) {
    place.at += 1;
    return true;
  }
  place.at = before;
  return false;
}

/** As `readConditions` reads it. */
export function formatConditions(conditions: readonly Condition[]): string {
  return conditions.map(({ name, op, value }) => `${wordOf(name)}${op}${quoted(value)}`).join(', ');
}

const wordOf = (name: string): string => (/^[^\s,={}!~"“”„\\]+$/.test(name) ? name : quoted(name));
const quoted = (value: string): string => `"${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
