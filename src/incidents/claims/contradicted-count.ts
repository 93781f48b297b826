import { type Quantity, readQuantities } from '../../core/claims/quantities.ts';
import { isGeneric, singular, wordsOf } from '../../core/claims/word-forms.ts';
import type { Json, ToolCall } from '../../core/tool-call.ts';

/** Quantifiers that say *zero*, and *sessions are not blocked*. */
const ZERO =
  /\b(?:no(?: longer| more)?|zero|none|nobody|nothing|never|without any|not (?:a single|one|any)|0|(?:are|were) not(?! (?:a single|one|any))|(?:are|were)n[’']t)\b/gi;
/** What a count is said of ends with the clause, or with the next number. */
const CLAUSE_END = /[.,;:!?()–—]|\b(?:and|but|or|because|while|since|although|where|which|that|who)\b|\d/i;
const CLAUSE_ENDS = new RegExp(CLAUSE_END.source.replace('|\\d', ''), 'gi');
/** After these the count is of fewer than the clause before it said. */
const NARROWED = /^\s*(?:and|that|which|who|where|of)\b/i;
/** Parts of a field's name that say what kind of number it is, not of what. */
const MEASURES = new Set([
  'count',
  'total',
  'number',
  'seconds',
  'second',
  'bytes',
  'byte',
  'longest',
  'max',
  'oldest',
  'largest',
  'age',
  'percent',
]);

interface Field {
  readonly key: string;
  /** What the field counts, in words. */
  readonly of: readonly string[];
  readonly values: readonly number[];
  /** It counts things, as opposed to measuring a time or a size. */
  readonly counts: boolean;
}

/**
 * Where a claim gives a count, or says that there is none, of something that a field of the cited data counts: the field
 * that says otherwise, in words; undefined when none does. By the field's own name, so that a new tool needs no new rule:
 * "no sessions are blocked" is held against `blocked_count`, "nobody waits" against `longest_wait_seconds`.
 */
export function contradictedCount(claim: string, calls: readonly ToolCall[]): string | undefined {
  const text = readQuantities(claim).text;
  for (const call of calls) {
    const fields = fieldsOf(call.result);
    if (fields.length === 0) continue;
    const told = new Set([
      ...wordsOf(call.output.split('\n')[0] ?? ''),
      ...fields.flatMap(({ of }) => of.map(singular)),
    ]);
    const isNarrowed = narrowedBy(text, call);
    const against =
      contradictedZero(text, fields, told, isNarrowed) ??
      contradictedNumber(text, fields, told, isNarrowed, call.result);
    if (against !== undefined) return against;
  }
  return undefined;
}

type IsNarrowed = (from: number, to: number) => boolean;

/** Whether a count is of a part only: its clause begins with something the call names, or goes on with a condition. */
function narrowedBy(text: string, { output, target }: ToolCall): IsNarrowed {
  const named = new Set(output.toLowerCase().match(/[\p{L}\p{N}_]+(?:[-.@][\p{L}\p{N}_]+)+/gu) ?? []);
  if (target !== null) named.delete(target.toLowerCase());
  return (from, to) => {
    const before = text.slice(0, from).split(CLAUSE_ENDS).at(-1)?.toLowerCase() ?? '';
    const rest = text.slice(to);
    const end = CLAUSE_END.exec(rest)?.index ?? rest.length;
    const subjects =
      text
        .slice(0, from)
        .toLowerCase()
        .match(/[\p{L}\p{N}_]+(?:[-.@][\p{L}\p{N}_]+)+/gu) ?? [];
    return (
      /\d/.test(before) ||
      subjects.some((name) => named.has(name)) ||
      NARROWED.test(rest) ||
      NARROWED.test(rest.slice(end))
    );
  };
}

function contradictedZero(
  text: string,
  fields: readonly Field[],
  told: ReadonlySet<string>,
  isNarrowed: IsNarrowed,
): string | undefined {
  for (const found of text.matchAll(ZERO)) {
    if (found[0] === '0' && /[\d.]$/.test(text.slice(0, found.index))) continue;
    if (isNarrowed(found.index, found.index + found[0].length)) continue;
    const said = scopeAfter(text, found.index + found[0].length);
    const named = namedBy(said, fields, told).filter(({ values }) => values.length > 0);
    if (named.length > 0 && named.every(({ values }) => values.every((value) => value > 0)))
      return words(named[0]);
  }
  return undefined;
}

function contradictedNumber(
  text: string,
  fields: readonly Field[],
  told: ReadonlySet<string>,
  isNarrowed: IsNarrowed,
  data: Json,
): string | undefined {
  for (const { kind, value, sense, to, from } of readQuantities(text).quantities) {
    // "7157 blocks 3 sessions": an identifier counts nothing; "2 of the 3": a part may be any number.
    if (kind !== 'plain' || sense === 'about' || !Number.isInteger(value) || isIdentifier(data, value))
      continue;
    const agrees = boundIn(text.slice(0, from), sense, value);
    if (/\b(?:pid|process|session|backend|port|id)\s*$/i.test(text.slice(0, from)) || isNarrowed(from, to))
      continue;
    const named = namedBy(
      scopeAfter(text, to),
      fields.filter(({ counts }) => counts),
      told,
    );
    if (
      named.length > 0 &&
      !named.some(({ values, key }) => values.some(agrees) || anywhere(data, key, agrees))
    )
      return words(named[0]);
  }
  return undefined;
}

/** The words that a count is said of, in order, at most six. */
function scopeAfter(text: string, at: number): readonly string[] {
  const rest = text.slice(at, at + 80);
  const end = CLAUSE_END.exec(rest)?.index ?? rest.length;
  return wordsOf(rest.slice(0, end))
    .filter((word) => !isGeneric(word))
    .slice(0, 6);
}

/** Fields all of whose words are said, where nothing else is said that would narrow them down. */
function namedBy(
  said: readonly string[],
  fields: readonly Field[],
  told: ReadonlySet<string>,
): readonly Field[] {
  if (said.length === 0) return [];
  const last = said.at(-1) as string;
  return fields.filter(
    ({ of }) =>
      of.every((part) => said.some((word) => isSame(word, part))) &&
      of.some((part) => said.slice(-2).some((word) => isSame(word, part))) &&
      said.every(
        (word) =>
          told.has(word) || of.some((part) => isSame(word, part)) || (word === last && isForm(word, of)),
      ),
  );
}

/** `waits`, `waiting` and `waited` are `wait`; who is `blocked` is not who is `blocking`. */
function isSame(word: string, part: string): boolean {
  const field = singular(part);
  if (word === field) return true;
  if (field.endsWith('ed') && !['need', 'speed', 'seed'].includes(field)) return false;
  const base = field.replace(/ing$/, '');
  return base.length >= 4 && [base, `${base}ing`, `${base}ed`].includes(word);
}

const isForm = (word: string, of: readonly string[]): boolean => of.some((part) => isSame(word, part));

/** Numbers of a tool's own data that stand at its top: what it says of the whole. */
function fieldsOf(data: Json): readonly Field[] {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return [];
  return Object.entries(data).flatMap(([key, value]): Field[] => {
    if (typeof value !== 'number') return [];
    const parts = key.toLowerCase().split('_');
    const of = parts.filter((part) => !MEASURES.has(part) && !isGeneric(part));
    const counts =
      Number.isInteger(value) &&
      !parts.some((part) => ['seconds', 'bytes', 'percent', 'max', 'ms'].includes(part));
    return of.length === 0 ? [] : [{ key, of, values: [value], counts }];
  });
}

/** Whether a number of this name agrees deeper in the data: the count of a part. */
function anywhere(data: Json, key: string, agrees: (value: number) => boolean): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return Object.entries(data).some(
    ([name, item]) =>
      (name === key && typeof item === 'number' && agrees(item)) || anywhere(item as Json, key, agrees),
  );
}

/** "More than 3" is not 3, "at least 3" is. Hundreds are no fewer than two of them. */
function boundIn(before: string, sense: Quantity['sense'], said: number): (value: number) => boolean {
  const isInclusive = !/(?:than|over|above|beyond|exceed\w*|under|below|[<>])\s*$/i.test(before);
  if (sense === 'min') return (value) => value > said || (isInclusive && value === said);
  if (sense === 'max') return (value) => value < said || (isInclusive && value === said);
  return (value) => value === said;
}

function isIdentifier(data: Json, value: number): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return Object.entries(data).some(
    ([name, item]) =>
      (/(?:^|_)(?:pid|id|oid|port)s?$/i.test(name) && item === value) || isIdentifier(item as Json, value),
  );
}

function words(field: Field | undefined): string {
  if (field === undefined) return '';
  const [value = 0] = field.values;
  return `${field.key.replaceAll('_', ' ')} ${value}`;
}
