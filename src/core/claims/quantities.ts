/** What kind of number it is; sizes are in bytes, times in seconds, percentages in per cent. */
export type QuantityKind = 'plain' | 'time' | 'size' | 'percent';

export interface Quantity {
  readonly kind: QuantityKind;
  /** In the kind's base unit. */
  readonly value: number;
  /** Half a unit of the last digit that was written, in the base unit: what rounding may have taken. */
  readonly slack: number;
  /** The number as written, before its unit. */
  readonly shown: number;
  /** `about`: an approximation; `min`, `max`: a bound ("more than"). */
  readonly sense: 'exact' | 'about' | 'min' | 'max';
  /** Written as a word ("three"). */
  readonly inWords: boolean;
  readonly text: string;
  /** Where it stands, and where what it says ends. */
  readonly from: number;
  readonly to: number;
}

/** A moment as it stands in a text: `05:08`, `2026-11-22T03:17:47Z`. */
export interface Moment {
  readonly text: string;
  /** Hours and minutes as written, of 24 hours: what a reader compares. Hours alone where no more is said (`3 am`). */
  readonly clock: string;
  /** ms since 1970; null without a date. */
  readonly at: number | null;
}

export interface Read {
  /** With thousands separators taken out: what all positions refer to. */
  readonly text: string;
  readonly quantities: readonly Quantity[];
  readonly moments: readonly Moment[];
  /** The text with all of these blanked out. */
  readonly rest: string;
}

const TIME: Readonly<Record<string, number>> = {
  ms: 1e-3,
  msec: 1e-3,
  msecs: 1e-3,
  millisecond: 1e-3,
  milliseconds: 1e-3,
  s: 1,
  sec: 1,
  secs: 1,
  second: 1,
  seconds: 1,
  m: 60,
  min: 60,
  mins: 60,
  minute: 60,
  minutes: 60,
  h: 3_600,
  hr: 3_600,
  hrs: 3_600,
  hour: 3_600,
  hours: 3_600,
  d: 86_400,
  day: 86_400,
  days: 86_400,
  week: 604_800,
  weeks: 604_800,
  month: 2_629_800,
  months: 2_629_800,
  year: 31_557_600,
  years: 31_557_600,
};
const SIZE: Readonly<Record<string, number>> = {
  b: 1,
  byte: 1,
  bytes: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  ki: 1_024,
  kib: 1_024,
  mi: 1_024 ** 2,
  mib: 1_024 ** 2,
  gi: 1_024 ** 3,
  gib: 1_024 ** 3,
  ti: 1_024 ** 4,
  tib: 1_024 ** 4,
  kilobytes: 1e3,
  megabytes: 1e6,
  gigabytes: 1e9,
  terabytes: 1e12,
};
const PERCENT: Readonly<Record<string, number>> = { '%': 1, percent: 1, pct: 1, 'per cent': 1 };
const SCALE: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, million: 1e6, billion: 1e9 };

/** Keys of data that name a unit, as whole words: `min` is a minimum there, `d` anything. */
const KEY_UNIT =
  /^(?:m?s|msecs?|secs?|(?:milli)?seconds?|minutes?|hours?|days?|bytes|[kmgt]i?b|percent|pct)$/;

/** The kind that a word of a key stands for, and how many of its base unit one is; a ratio is a percentage. */
export function unitOf(word: string): { readonly kind: QuantityKind; readonly size: number } | undefined {
  if (/^(?:ratio|fraction)$/.test(word)) return { kind: 'percent', size: 100 };
  if (!KEY_UNIT.test(word)) return undefined;
  if (word in TIME) return { kind: 'time', size: TIME[word] as number };
  return word in SIZE ? { kind: 'size', size: SIZE[word] as number } : { kind: 'percent', size: 1 };
}

/** Counts that say only how large they are, at least. */
const VAGUE: Readonly<Record<string, number>> = {
  dozens: 24,
  scores: 40,
  hundreds: 200,
  thousands: 2e3,
  millions: 2e6,
  billions: 2e9,
};

const WORDS: Readonly<Record<string, number>> = {
  single: 1,
  two: 2,
  both: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  dozen: 12,
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  sixteen: 16,
  seventeen: 17,
  eighteen: 18,
  nineteen: 19,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  hundred: 100,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  ...VAGUE,
};

const DATED = /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g;
const TWELVE_HOURS = /(?<![\d:.])(1[0-2]|0?[1-9])(?::([0-5]\d))?\s?([ap])\.?m\b\.?/gi;
const CLOCK = /(?<![\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?![\d:])/g;
/** `9m 20s`, `2 h 5 min`: several parts are one time. */
const COMPOUND =
  /(?<![\w.])\d+(?:\.\d+)?\s?(?:d|days?|h|hours?|hrs?|min|minutes?|m)\s?(?:and\s)?\d+(?:\.\d+)?\s?(?:h|hours?|hrs?|min|minutes?|m|s|sec|seconds?)\b(?:\s?\d+(?:\.\d+)?\s?(?:s|sec|seconds?)\b)?/gi;
const UNIT =
  'milliseconds?|msec|ms|seconds?|secs?|s|minutes?|mins?|min|m|hours?|hrs?|h|days?|d|weeks?|months?|years?|kilobytes|megabytes|gigabytes|terabytes|[kmgt]i?b|[kmgt]i|bytes?|b|%|percent|per cent|pct|thousand|million|billion|k';
/** `an hour`, `half a day`; without a number, in the plural, at least two. */
const BARE_TIME =
  /(?<![\p{L}\p{N}_-])(?:(half\s)?(?:an?|one)\s(hour|minute|day|week|month|year)|(minutes|hours|days|weeks|months|years))(?![\p{L}\p{N}_-])/giu;
/** `half of the connections`, `two thirds of them`. */
const FRACTION =
  /(?<![\p{L}\p{N}_-])(?:half|(?:an?|one)[\s-](?:third|quarter|fifth|tenth)|(two|three|four)[\s-](?:thirds|quarters|fifths|tenths))(?=\s(?:of|the)\s(?!an?\s))/giu;
const PARTS: Readonly<Record<string, number>> = { half: 2, third: 3, quarter: 4, fifth: 5, tenth: 10 };
/** Nobody says *half* of 51 % and means something else, in percentage points. */
const FRACTION_SLACK = 5;
/** `worker-2` is a name. */
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}_.]|\\p{L}-)(\\d+(?:\\.\\d+)?)(?:(?:\\s?-\\s?|\\s?–\\s?|\\sto\\s)(\\d+(?:\\.\\d+)?))?(?:[\\s-]?(${UNIT})(?![\\p{L}\\p{N}_]))?(?![\\p{L}\\p{N}_]|[.:-][\\p{L}\\p{N}])`,
  'giu',
);
const TENS = Object.keys(WORDS).filter((word) => word.endsWith('ty'));
/** `twenty-one`, `fifty five`. */
const WORD_OF_TWO = `(?:${TENS.join('|')})[\\s-](?:one|two|three|four|five|six|seven|eight|nine)`;
const WORD = new RegExp(
  `(?<![\\p{L}\\p{N}_-])(${WORD_OF_TWO}|(?<=\\b(?:only|just|exactly)\\s)one|${Object.keys(WORDS).join('|')})(?:[\\s-](${UNIT})(?![\\p{L}\\p{N}_]))?(?![\\p{L}\\p{N}_-])`,
  'giu',
);

const BARE_PLURALS = { minutes: 1, hours: 1, days: 1, weeks: 1, months: 1, years: 1 };

/** Every number, time, size, percentage and moment of a text, whatever its notation. */
export function readQuantities(text: string): Read {
  const plain = joined(inAsciiDigits(text));
  let rest = plain;
  const moments: Moment[] = [];
  const quantities: Quantity[] = [];
  const blank = (found: string): string => ' '.repeat(found.length);
  rest = rest.replace(DATED, (found) => {
    const at = Date.parse(/Z|[+-]\d{2}:?\d{2}$/.test(found) ? found : `${found.replace(' ', 'T')}Z`);
    moments.push({ text: found, clock: found.slice(11, 16), at: Number.isNaN(at) ? null : at });
    return blank(found);
  });
  rest = rest.replace(TWELVE_HOURS, (found, hour: string, minute: string | undefined, half: string) => {
    const of24 = (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
    const clock = [String(of24).padStart(2, '0'), ...(minute === undefined ? [] : [minute])].join(':');
    moments.push({ text: found, clock, at: null });
    return blank(found);
  });
  rest = rest.replace(CLOCK, (found) => {
    moments.push({ text: found, clock: found.slice(0, found.indexOf(':') + 3).padStart(5, '0'), at: null });
    return blank(found);
  });
  const whole = rest;
  const placed = (text: string, from: number) => ({
    text,
    from,
    to: from + text.length,
    shown: Number.NaN,
    sense: senseBefore(whole, from),
  });
  const add = (
    digits: string,
    unit: string | undefined,
    more: Pick<Quantity, 'inWords' | 'text' | 'from' | 'to'>,
  ): void => {
    const isVague = [VAGUE, BARE_PLURALS].some((words) => more.text.toLowerCase() in words);
    const sense = isVague ? 'min' : senseBefore(whole, more.from);
    quantities.push(quantityOf(digits, unit, { ...more, sense }));
  };
  rest = rest.replace(COMPOUND, (found, ...args) => {
    const from = args.at(-2) as number;
    let seconds = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [, digits = '', unit = ''] of found.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi)) {
      const size = TIME[unit.toLowerCase()] ?? 1;
      // "100m and 50m" are two numbers.
      if (size >= least) return found;
      least = size;
      seconds += Number(digits) * least;
    }
    quantities.push({
      kind: 'time',
      value: seconds,
      slack: least / 2,
      inWords: false,
      ...placed(found, from),
    });
    return blank(found);
  });
  rest = rest.replace(FRACTION, (found, times: string | undefined, from: number) => {
    const part = Object.entries(PARTS).find(([name]) => found.toLowerCase().includes(name))?.[1] ?? 1;
    const percent = (100 * (WORDS[times?.toLowerCase() ?? ''] ?? 1)) / part;
    quantities.push({
      kind: 'percent',
      value: percent,
      slack: FRACTION_SLACK,
      inWords: true,
      ...placed(found, from),
    });
    return blank(found);
  });
  rest = rest.replace(
    NUMBER,
    (found, first: string, second: string | undefined, unit: string | undefined, at: number) => {
      const place = { inWords: false, text: found.trim(), from: at, to: at + found.length };
      add(first, unit, place);
      if (second !== undefined) add(second, unit, place);
      return blank(found);
    },
  );
  rest = rest.replace(WORD, (found, word: string, unit: string | undefined, at: number) => {
    add(String(numberIn(word)), unit, { inWords: true, text: found, from: at, to: at + found.length });
    return blank(found);
  });
  rest = rest.replace(
    BARE_TIME,
    (found, half: string | undefined, one: string | undefined, many: string | undefined, at: number) => {
      const digits = many === undefined ? (half === undefined ? '1' : '0.5') : '2';
      add(digits, one ?? many, { inWords: true, text: found, from: at, to: at + found.length });
      return blank(found);
    },
  );
  return { text: plain, quantities, moments, rest };
}

/** `twenty-one` is the sum of its parts. */
function numberIn(words: string): number {
  return words
    .toLowerCase()
    .split(/[\s-]/)
    .reduce((sum, word) => sum + (word === 'one' ? 1 : (WORDS[word] ?? 0)), 0);
}

/** Digits of every script and form (`４`, `٤`, `⁴`) as those that are read here; a fraction (`½`) as `1⁄2`. */
function inAsciiDigits(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, (char) => {
    if (/\p{No}/u.test(char)) return char.normalize('NFKC');
    return /\p{Nd}/u.test(char) ? String(digitOf(char.codePointAt(0) ?? 0)) : char;
  });
}

/** Unicode has the ten digits of a script one after the other, from zero. */
function digitOf(code: number): number {
  const ascii = String.fromCodePoint(code).normalize('NFKC');
  if (/^\d$/.test(ascii)) return Number(ascii);
  let digit = 0;
  while (digit < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - digit - 1))) digit += 1;
  return digit;
}

/** `4,000`, `4’000`, `4_000` and `4 000` (with a narrow space) are 4000; a list of pids stays a list. The length may shrink. */
function joined(text: string): string {
  return text.replace(/(?<![\d.,])\d{1,3}(?:[,’'_\u00A0\u202F]\d{3})+(?![\d,_])/g, (found) =>
    found.replace(/\D/g, ''),
  );
}

function quantityOf(
  digits: string,
  unit: string | undefined,
  more: Pick<Quantity, 'inWords' | 'text' | 'from' | 'to' | 'sense'>,
): Quantity {
  const shown = Number(digits);
  const name = unit?.toLowerCase().replace(/\s+/g, ' ');
  const half = 0.5 * 10 ** -(digits.split('.')[1]?.length ?? 0);
  const of = (kind: QuantityKind, factor: number): Quantity => ({
    ...more,
    kind,
    shown,
    value: shown * factor,
    slack: half * factor,
  });
  if (name === undefined) return of('plain', 1);
  if (name in TIME) return of('time', TIME[name] as number);
  if (name in SIZE) return of('size', SIZE[name] as number);
  if (name in PERCENT) return of('percent', 1);
  return of('plain', SCALE[name] ?? 1);
}

const ABOUT = /(?:\b(?:about|around|roughly|approximately|nearly|almost|circa|some|close to)|[~≈])\s*$/i;
const MIN =
  /(?:\b(?:more than|over|above|at least|beyond|exceeds?|exceeding|longer than|older than|greater than)|>=?|≥)\s*$/i;
const MAX = /(?:\b(?:less than|under|below|at most|up to|within|fewer than|shorter than)|<=?|≤)\s*$/i;

function senseBefore(text: string, at: number): Quantity['sense'] {
  const before = text.slice(Math.max(0, at - 24), at);
  if (ABOUT.test(before)) return 'about';
  if (MIN.test(before)) return 'min';
  return MAX.test(before) ? 'max' : 'exact';
}
