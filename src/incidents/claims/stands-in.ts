import { namesIn, quotedIn } from '../../core/claims/names.ts';
import {
  type Moment,
  type Quantity,
  type QuantityKind,
  readQuantities,
  unitOf,
} from '../../core/claims/quantities.ts';
import { isGeneric, wordsOf } from '../../core/claims/word-forms.ts';
import type { Incident } from '../../core/incident.ts';
import { jsonOf } from '../../core/json-of.ts';
import type { Json, ToolCall } from '../../core/tool-call.ts';

/** Everything that the outputs of some calls show, prepared for looking things up. */
export interface Shown {
  /** All of it as one searchable text. */
  readonly text: string;
  readonly quantities: readonly Quantity[];
  /** Numbers in columns and behind names, in outputs that write no percentage as one: these may be. */
  readonly bare: ReadonlySet<number>;
  /** Numbers of structured data under keys that are no identifiers. */
  readonly measured: readonly Measured[];
  /** Lengths of lists: what can be counted. */
  readonly counts: ReadonlySet<number>;
  readonly moments: readonly Moment[];
  /** `4 of 25`, `12/100`, in per cent. */
  readonly shares: readonly number[];
  /** Also of what was asked for: "the log says so" speaks of what read the log. */
  readonly words: ReadonlySet<string>;
  /** Words joined by hyphens, by their first part: names of one family. */
  readonly families: ReadonlySet<string>;
  /** What the alert and the calls' own arguments name: names, not numbers, may come from there. */
  readonly known: string;
}

interface Measured {
  /** As it stands in the data. */
  readonly shown: number;
  /** In the base unit of its kind. */
  readonly value: number;
  /** What its key says it is (`longest_wait_seconds`); null: nothing. */
  readonly kind: QuantityKind | null;
  /** What other keys of the same data are said to be: who names a unit somewhere names it wherever it is one. */
  readonly named: ReadonlySet<QuantityKind | null>;
}

export function shownBy(calls: readonly ToolCall[], incident: Incident): Shown {
  const quantities: Quantity[] = [];
  const moments: Moment[] = [];
  const bare = new Set<number>();
  const measured: Measured[] = [];
  const counts = new Set<number>([calls.length]);
  const shares: number[] = [];
  const texts: string[] = [];
  for (const call of calls) {
    const data = call.result ?? parsed(call.output);
    const told = `${call.output}\n${data === null ? '' : keyed(data)}`;
    texts.push(told);
    const read = readQuantities(told);
    quantities.push(...read.quantities);
    moments.push(...read.moments, ...momentsOf(call.finishedAt));
    const numbers: Omit<Measured, 'named'>[] = [];
    walk(data, '', numbers, counts);
    const named = new Set(numbers.map(({ kind }) => kind));
    measured.push(...numbers.map((number) => ({ ...number, named })));
    if (![...numbers, ...read.quantities].some(({ kind }) => kind === 'percent'))
      for (const number of bareIn(call.output)) bare.add(number);
    // Rows of a table can be counted, too.
    counts.add(call.output.split('\n').filter((line) => line.includes(' | ')).length - 1);
    for (const [, a = '', b = ''] of call.output.matchAll(
      /(\d+(?:\.\d+)?)\s*(?:of|\/|out of)\s*(\d+(?:\.\d+)?)/g,
    ))
      if (Number(b) > 0) shares.push((100 * Number(a)) / Number(b));
  }
  moments.push(...momentsOf(incident.openedAt));
  const text = searchable(texts.join('\n'));
  return {
    text,
    quantities,
    bare,
    measured,
    counts,
    moments,
    shares,
    words: new Set([
      ...wordsOf(text),
      ...calls.flatMap(({ tool, input }) => wordsOf(`${tool} ${JSON.stringify(input)}`)),
    ]),
    families: new Set([...text.matchAll(/([\p{L}\p{N}]{3,})-[\p{L}\p{N}]/gu)].map(([, first = '']) => first)),
    known: searchable(
      [
        incident.title,
        incident.alertName,
        incident.target,
        incident.domain,
        incident.incidentType,
        ...Object.entries({ ...incident.labels, ...incident.annotations }).flat(),
        ...calls.flatMap(({ tool, target, input }) => [tool, target, JSON.stringify(input)]),
      ].join('\n'),
    ),
  };
}

/** In a column, or behind a name: "3 sessions" and "blocks 3" are counts. */
function bareIn(output: string): readonly number[] {
  const { text, quantities } = readQuantities(output);
  return quantities.flatMap(({ kind, shown, from, to }) =>
    kind === 'plain' && /(?:^|[|:=,\t"])\s*$/.test(text.slice(0, from)) && !/^\s\p{L}/u.test(text.slice(to))
      ? [shown]
      : [],
  );
}

/** What of a text does not stand in what was shown, as it was written; empty: all of it does. */
export function missingFrom(text: string, shown: Shown): readonly string[] {
  const { quoted, rest: unquoted } = quotedIn(text);
  const { text: plain, quantities, moments, rest } = readQuantities(withoutNumbering(unquoted));
  const missing = [
    ...oddities(plain).filter((odd) => !shown.text.includes(searchable(odd))),
    ...quantities.filter((quantity) => !standsAsNumber(quantity, plain, shown)).map((one) => one.text),
    ...moments
      .filter(
        ({ clock }) =>
          !shown.moments.some((moment) => moment.clock === clock || moment.clock.startsWith(`${clock}:`)) &&
          !(clock.includes(':') && shown.text.includes(clock)),
      )
      .map((moment) => moment.text),
    ...[...quoted, ...namesIn(rest, shown.families)].filter((name) => !standsAsName(name, shown)),
  ];
  return [...new Set(missing)];
}

/** `(1) … (2) …` and `1. …` count what is said, not what there is. */
function withoutNumbering(text: string): string {
  let next = 1;
  return text.replace(/\((\d{1,2})\)|^\s*\d{1,2}\.\s/gm, (found, number: string | undefined) => {
    if (number !== undefined && Number(number) !== next) return found;
    if (number !== undefined) next += 1;
    return ' ';
  });
}

/**
 * Whether nothing of a text is to be found in what was shown: no word, no name and no number that means one thing only.
 * One of few words may use others. `own`: words that say nothing, such as the target's name.
 */
export function sharesNothing(text: string, shown: Shown, own: ReadonlySet<string>): boolean {
  const { quantities, rest } = readQuantities(text);
  const isPointed =
    quotedIn(text).quoted.length > 0 || quantities.some(({ shown: number }) => String(number).length >= 3);
  // What is not there shares no words with what is.
  if (/\b(?:no|not|none|nobody|nothing|never|without)\b/i.test(text)) return false;
  if (isPointed || namesIn(rest, shown.families).some((name) => !own.has(name))) return false;
  const said = [...new Set(wordsOf(text))].filter((word) => !isGeneric(word) && !own.has(word));
  return said.length >= 2 && !said.some((word) => shown.words.has(word) || isPart(word, shown.words));
}

/** `deadlocked` and `deadlocks` are about the same. */
function isPart(word: string, words: ReadonlySet<string>): boolean {
  if (word.length < 5) return false;
  const stem = word.slice(0, Math.max(4, word.length - 3));
  for (const other of words) if (other.startsWith(stem)) return true;
  return false;
}

/**
 * What cannot be held against anything, so that it has to stand as it is. Numbers below zero, `000` or `4.000` with a
 * separator that may be of either kind, endless, none at all; words of letters that only look like others.
 */
function oddities(text: string): readonly string[] {
  const words = (text.match(/\p{L}{3,}/gu) ?? []).filter(
    (word) => /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word),
  );
  return [...(text.match(ODD_NUMBER) ?? []), ...words];
}
const ODD_NUMBER =
  /(?<![\p{L}\p{N}\p{Pd}.,:)\]])[-\u2212]\d+(?:\.\d+)?(?![\p{L}\p{N}:-])|(?<![\p{L}\p{N}_.:])0\d+(?![\p{L}\p{N}_.:])|(?<![\p{L}\p{N}_.,])[1-9]\d{0,2}(?:\.\d{3})+(?![\p{L}\p{N}_.:%]|\s?m?s\b)|\d\s?[\^⁄]\s?\d+|∞|\bNaN\b/gu;

function standsAsNumber(quantity: Quantity, text: string, shown: Shown): boolean {
  const { kind, value, inWords, sense } = quantity;
  if (inWords && sense === 'min' && kind === 'plain') return isAsMany(quantity, text, shown);
  if (shown.quantities.some((other) => agrees(quantity, other))) return true;
  switch (kind) {
    case 'plain':
      return (
        (Number.isInteger(value) && hasNumber(shown.text, value)) ||
        shown.counts.has(value) ||
        shown.measured.some((number) => carries(number, quantity)) ||
        (inWords && !isCounted(quantity, text, shown))
      );
    case 'time':
      return (
        shown.measured.some((number) => carries(number, quantity)) ||
        isBetweenMoments(quantity, shown.moments)
      );
    case 'size':
      return shown.measured.some((number) => carries(number, quantity));
    case 'percent':
      return (
        (sense === 'exact' && shown.bare.has(quantity.shown)) ||
        shown.shares.some((share) => isNear(quantity, share)) ||
        shown.measured.some((number) => carries(number, quantity))
      );
  }
}

/** A number of the data as what is said. Without a unit it may be of any that the same data does not name elsewhere. */
function carries({ shown, value, kind, named }: Measured, said: Quantity): boolean {
  if (said.kind === 'plain') return isNear(said, shown);
  if (kind === null ? named.has(said.kind) : kind !== said.kind) return false;
  const number = kind === null ? shown : value;
  switch (said.kind) {
    case 'time':
      return isNear(said, number) || (kind === null && isNear(said, number / 1_000));
    case 'size':
      return KILOS.some((off) => isNear(said, number / off));
    case 'percent':
      return (
        isNear(said, number) || (kind === null && number > 0 && number < 1 && isNear(said, 100 * number))
      );
  }
}

/** 1,000 and 1,024 are both called a kilobyte; so much is between them, up to a terabyte. */
const KILOS = [1, 1.024, 1.024 ** 2, 1.024 ** 3, 1.024 ** 4] as const;

/** A quantity of an output as the same one: same kind, or one without a unit. */
function agrees(said: Quantity, other: Quantity): boolean {
  if (said.kind === other.kind && isNear(said, other.value)) return true;
  if (said.kind === 'size' && other.kind === 'size')
    return KILOS.some((off) => isNear(said, other.value * off) || isNear(said, other.value / off));
  return said.kind === 'plain' && Math.abs(said.value - other.shown) < 1e-9;
}

/** Rounding, and what "about" allows. Whole numbers without a unit are identifiers as often as not: those are exact. */
function isNear({ kind, value, slack, sense }: Quantity, number: number): boolean {
  if (sense === 'min' && kind !== 'plain') return number >= value * 0.95;
  if (sense === 'max' && kind !== 'plain') return number <= value * 1.05 && number >= 0;
  const isExact = kind === 'plain' && sense === 'exact';
  const off = Math.abs(number - value);
  if (isExact) return off < 1e-9 || (!Number.isInteger(number) && off <= slack);
  if (kind === 'percent') return off <= Math.max(slack, 1) + 1e-9;
  const wide = sense === 'exact' ? 0.05 : 0.15;
  return off <= Math.max(slack, wide * Math.abs(value)) + 1e-9;
}

function hasNumber(text: string, value: number): boolean {
  return new RegExp(`(?<![\\d.])${value}(?![\\d]|\\.\\d)`).test(text);
}

/** Whether the outputs count what this number counts: then their number is the one to say. */
const isCounted = (quantity: Quantity, text: string, shown: Shown): boolean =>
  countsOf(quantity, text, shown).length > 0;

/** The numbers by which the outputs count what this one counts. */
function countsOf({ to }: Quantity, text: string, { text: shown }: Shown): readonly number[] {
  const [noun] = wordsOf(text.slice(to, to + 60)).filter((word) => !isGeneric(word));
  if (noun === undefined) return [];
  return [...shown.matchAll(new RegExp(`(\\d+) (?:[a-z]+ )?${noun}`, 'g'))].map(([, count]) => Number(count));
}

/** "Hundreds of sessions": as the outputs count them, or else as anything is measured; an identifier is no measure. */
function isAsMany(quantity: Quantity, text: string, shown: Shown): boolean {
  const counted = countsOf(quantity, text, shown);
  const numbers =
    counted.length > 0 ? counted : [...shown.counts, ...shown.measured.map((number) => number.shown)];
  return numbers.some((number) => number >= quantity.value);
}

/** "For 15 minutes" may be the time between two moments that were shown. */
function isBetweenMoments(quantity: Quantity, moments: readonly Moment[]): boolean {
  // Nearly any bound holds between some two of them.
  if (quantity.sense === 'min' || quantity.sense === 'max') return false;
  const times = [...new Set(moments.flatMap(({ at }) => (at === null ? [] : [at])))].slice(0, 400);
  return times.some((from, index) =>
    times.slice(index + 1).some((to) => isNear(quantity, Math.abs(to - from) / 1_000)),
  );
}

function standsAsName(name: string, { text, known }: Shown): boolean {
  const plain = searchable(name);
  if (text.includes(plain) || known.includes(plain)) return true;
  // `pid-7157` where the output has `pid 7157`.
  if (/-\d+$/.test(plain) && has(text, plain.replaceAll('-', ' '))) return true;
  // `public.orders` where the output has the table under its schema.
  const parts = plain.split('.');
  if (parts.length === 2) return parts.every((part) => part.length >= 3 && has(text, part));
  const words = name.split(/(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.length > 1 && words.every((word) => has(text, word));
}

const has = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'u').test(text);

/** One notation for names: `idle_in_transaction` is `idle in transaction`. */
function searchable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[_\s]+/g, ' ');
}

function momentsOf(iso: string): readonly Moment[] {
  return readQuantities(iso).moments;
}

/** Key and value side by side, as a text has them. */
function keyed(data: Json): string {
  return JSON.stringify(data)
    .replace(/"([^"\\]*)":/g, ' $1 ')
    .replaceAll('"', ' ');
}

const IDENTIFIES = /(?:^|_)(?:pid|id|oid|port|xid|uid|gid)s?$/i;

function walk(value: Json, key: string, measured: Omit<Measured, 'named'>[], counts: Set<number>): void {
  if (typeof value === 'number') {
    if (!IDENTIFIES.test(key)) measured.push({ shown: value, ...measuredAs(key, value) });
  } else if (Array.isArray(value)) {
    counts.add(value.length);
    for (const item of value as readonly Json[]) walk(item, key, measured, counts);
  } else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) walk(item as Json, name, measured, counts);
}

/** By the words of its key; a rate (`bytes_per_second`) is of none of these kinds. */
function measuredAs(key: string, value: number): Pick<Measured, 'kind' | 'value'> {
  const parts = key.split(/[^\p{L}]+|(?<=\p{Ll})(?=\p{Lu})/u).map((part) => part.toLowerCase());
  const units = parts.includes('per') ? [] : parts.flatMap((part) => unitOf(part) ?? []);
  const unit = units.at(-1) ?? (parts.some((part) => COUNTS.has(part)) ? { kind: 'plain', size: 1 } : null);
  return unit === null ? { kind: null, value } : { kind: unit.kind, value: value * unit.size };
}

const COUNTS: ReadonlySet<string> = new Set(['count', 'number', 'num']);

function parsed(output: string): Json {
  return /^\s*[[{]/.test(output) ? ((jsonOf(output) ?? null) as Json) : null;
}
