import { TypeError as CelTypeError, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { messageOf } from '../core/errors.ts';
import type { Json } from '../core/tool-call.ts';
import { crossJoins } from './cross-joins.ts';
import { callsOf, LINEAR_MATCHES, linearMatches, linearPattern, replaceMatches } from './linear-matches.ts';
import { logEnd } from './log/log-end.ts';
import { repeatedLine } from './log/repeated-line.ts';
import { shortened } from './log/shortened.ts';

/** What an expression may name: step results, `let` values, `result`, `incident`. */
export type Variables = Readonly<Record<string, Json>>;

export type Evaluated =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly reason: string };

export interface ExpressionFault {
  readonly message: string;
  /** Characters from the expression's start. */
  readonly offset: number;
}

/**
 * Evaluates a CEL expression (https://cel.dev) over plain JSON. Never throws: an expression that cannot be evaluated
 * (a missing key, an index beyond the end, a number compared with null) is a value that says why, so that nobody takes
 * it for `false`.
 *
 * Beyond the language: numbers mix (`result.n / 2`), and the functions that docs/runbooks.md describes.
 */
export function evaluate(expression: string, variables: Variables): Evaluated {
  try {
    return { ok: true, value: toJson(compiled(expression)(variables)) };
  } catch (error) {
    return { ok: false, reason: `${summaryOf(error)} in \`${expression.trim()}\`` };
  }
}

/** Whether a value may bear this name: the language has words and types of its own (`list`, `in`). */
export function isFree(name: string): boolean {
  try {
    listed.clone().registerVariable(name, 'dyn');
    return true;
  } catch {
    return false;
  }
}

/** Finds syntax errors, wrong types and names that are not among `known`, without evaluating. */
export function checkExpression(
  expression: string,
  known: Iterable<string>,
  wanted: 'bool' | 'any',
): ExpressionFault | undefined {
  try {
    const parsed = parse(knowing(known), expression);
    const faults = badPattern(parsed);
    const checked = parsed.check();
    if (!checked.valid) return faultOf(checked.error);
    if (wanted === 'bool' && checked.type !== 'bool' && checked.type !== 'dyn')
      return { message: `this is a ${checked.type}, expected true or false`, offset: 0 };
    return faults;
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): ExpressionFault {
  const isPlaced = error instanceof ParseError || error instanceof CelTypeError;
  return { message: summaryOf(error), offset: (isPlaced ? error.range?.start : undefined) ?? 0 };
}

function parse(environment: Environment, expression: string) {
  const parsed = environment.parse(expression);
  replaceMatches(parsed.ast);
  return parsed;
}

/** A pattern that is no regular expression would only fail when it is used. */
function badPattern({ ast }: ReturnType<typeof parse>): ExpressionFault | undefined {
  for (const { args } of callsOf(ast, LINEAR_MATCHES)) {
    const pattern = args[2][0];
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string') continue;
    try {
      linearPattern(pattern.args);
    } catch (error) {
      return { message: messageOf(error), offset: pattern.start };
    }
  }
  return undefined;
}

const listed = newEnvironment(false);
const checking = new Map<string, Environment>();

/** Runbooks check hundreds of expressions with the same few sets of names, and an environment costs a millisecond. */
function knowing(known: Iterable<string>): Environment {
  const names = [...new Set(known)].toSorted();
  const key = JSON.stringify(names);
  let environment = checking.get(key);
  if (environment === undefined) {
    environment = listed.clone();
    for (const name of names) environment.registerVariable(name, 'dyn');
    // Drafts of runbooks bring names of their own, so the set of them is unbounded.
    if (checking.size >= 1000) checking.clear();
    checking.set(key, environment);
  }
  return environment;
}

const runtime = newEnvironment(true);
const cache = new Map<string, (variables: Variables) => unknown>();

function compiled(expression: string): (variables: Variables) => unknown {
  const known = cache.get(expression);
  if (known !== undefined) return known;
  const parsed = parse(runtime, expression);
  // Rendered expressions carry pids and names, so the set of them is unbounded.
  if (cache.size >= 1000) cache.clear();
  cache.set(expression, parsed);
  return parsed;
}

function newEnvironment(unlistedVariablesAreDyn: boolean): Environment {
  const environment = new Environment({ unlistedVariablesAreDyn, homogeneousAggregateLiterals: false });
  // JSON has one kind of number and it arrives as a double; CEL alone would refuse `result.seconds / 60`.
  const operators = {
    '+': (a: number, b: number) => a + b,
    '-': (a: number, b: number) => a - b,
    '*': (a: number, b: number) => a * b,
    '/': (a: number, b: number) => a / b,
  };
  for (const [sign, apply] of Object.entries(operators)) {
    const mixed = (a: unknown, b: unknown) => apply(Number(a), Number(b));
    environment.registerOperator(`double ${sign} int`, mixed);
    environment.registerOperator(`int ${sign} double`, mixed);
  }
  environment.registerFunction('top(list, string): dyn', top);
  environment.registerFunction('sum(list): double', (list: readonly unknown[]) =>
    list.reduce<number>((total, item) => total + numberOf(item), 0),
  );
  environment.registerFunction('round(dyn): int', (value: unknown) => BigInt(Math.round(numberOf(value))));
  environment.registerFunction('duration_text(dyn): string', (value: unknown) =>
    durationText(numberOf(value)),
  );
  environment.registerFunction(
    'count_text(dyn, string, string): string',
    (value: unknown, one: string, many: string) => `${numberOf(value)} ${numberOf(value) === 1 ? one : many}`,
  );
  environment.registerFunction('bytes_text(dyn): string', (value: unknown) => bytesText(numberOf(value)));
  environment.registerFunction('magnitude(dyn): string', (value: unknown) => magnitude(numberOf(value)));
  environment.registerFunction('short(string, int): string', (text: string, characters: bigint) =>
    shortened(text, Number(characters)),
  );
  environment.registerFunction('log_end(string, bool): dyn', (text: string, looping: boolean) =>
    logEnd(text, looping),
  );
  environment.registerFunction(`string.${LINEAR_MATCHES}(string): bool`, linearMatches);
  environment.registerFunction('mentions(string, string): bool', mentions);
  environment.registerFunction('named(list, string, dyn): list', named);
  environment.registerFunction('about(list, string, dyn): list', about);
  environment.registerFunction('repeated_line(string): dyn', (text: string) => repeatedLine(text));
  environment.registerFunction('cross_joins(list): dyn', (lines: readonly unknown[]) =>
    crossJoins(lines.map(String)),
  );
  return environment;
}

/** The item with the largest number under `key`; an error when the list is empty. */
function top(list: readonly Record<string, unknown>[], key: string): unknown {
  let best: Record<string, unknown> | undefined;
  for (const item of list) if (best === undefined || numberOf(item[key]) > numberOf(best[key])) best = item;
  if (best === undefined) throw new EvaluationError('top() of an empty list');
  return best;
}

type Items = readonly Record<string, unknown>[];
type AlertTexts = Record<'title' | 'annotations' | 'labels', unknown>;

/** Whether the text has this name as a whole word; case does not count. */
function mentions(text: string, name: string): boolean {
  const whole = name.toLowerCase().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return whole !== '' && new RegExp(`(^|[^a-z0-9_-])${whole}($|[^a-z0-9_-])`).test(text.toLowerCase());
}

/** Those whose name under `key` stands in the alert's texts. */
function named(list: Items, key: string, incident: AlertTexts): Items {
  const told = JSON.stringify([incident.title, toJson(incident.annotations), toJson(incident.labels)]);
  return list.filter((item) => mentions(told, String(item[key] ?? '')));
}

/** The same; all of them where none does. */
function about(list: Items, key: string, incident: AlertTexts): Items {
  const found = named(list, key, incident);
  return found.length > 0 ? found : list;
}

function numberOf(value: unknown): number {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN;
  if (Number.isNaN(number))
    throw new EvaluationError(`expected a number, got ${JSON.stringify(value) ?? 'nothing'}`);
  return number;
}

/** `95` → `1 min 35 s`; the two largest units. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ];
  const from = parts.findIndex(([amount]) => amount > 0);
  if (from === -1) return '0 s';
  return parts
    .slice(from, from + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}

function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const amount = bytes / 1024 ** step;
  return `${amount >= 10 || step === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[step]}`;
}

/** `3200000` → `3 million`: for estimates, of which only the size is worth saying. */
function magnitude(value: number): string {
  if (value >= 1e15) return `10^${Math.floor(Math.log10(value))}`;
  const names: readonly (readonly [number, string])[] = [
    [1e12, 'trillion'],
    [1e9, 'billion'],
    [1e6, 'million'],
    [1e3, 'thousand'],
  ];
  const [size, name] = names.find(([least]) => value >= least) ?? [1, ''];
  return `${Math.round(value / size)} ${name}`.trim();
}

/** CEL's integers are bigints and its maps may be Maps; outside of this file everything is JSON. */
function toJson(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Date) return value.toISOString();
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [String(key), toJson(item)]));
}

function summaryOf(error: unknown): string {
  if (error instanceof ParseError || error instanceof EvaluationError || error instanceof CelTypeError)
    return error.summary;
  return messageOf(error);
}
