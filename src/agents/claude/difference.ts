import { clip } from '../../core/clip.ts';
import type { Json } from '../../core/tool-call.ts';

/** What changed between two reads of the same thing. */
export interface Difference {
  /** The outermost changes first, a line each. */
  readonly lines: readonly string[];
  /** Nothing but the time that has passed. */
  readonly unchanged: boolean;
}

export interface Reads {
  readonly before: Json;
  readonly now: Json;
  /** Between the two. */
  readonly seconds: number;
  /** Paths of what is only ever counted up, with `*` for an item of a list: shown as a rate. */
  readonly counters?: readonly string[];
}

const MAX_LINES = 12;
/** Longer lists are compared by their length alone. */
const MAX_ITEMS = 200;
const MAX_TEXT = 60;
/** What grew by the time that passed, give or take, is an age: it says nothing new. */
const AGE_TOLERANCE_SECONDS = 1.5;

/** A number in `data` by how much it moved, a list by what came and went, everything else by what it was and is. */
export function differenceOf({ before, now, seconds, counters = [] }: Reads): Difference {
  const changes: Change[] = [];
  compare(
    before,
    now,
    { path: '', pattern: '', depth: 0 },
    { seconds, counters: new Set(counters), changes },
  );
  const lines = changes.toSorted((a, b) => a.depth - b.depth).map(({ line }) => line);
  const more = lines.length - MAX_LINES;
  return {
    lines: more > 0 ? [...lines.slice(0, MAX_LINES), `… and ${more} more`] : lines,
    unchanged: lines.length === 0,
  };
}

interface Change {
  readonly depth: number;
  readonly line: string;
}

interface JsonPath {
  readonly path: string;
  /** The path as tools declare it: `*` for whichever item of a list. */
  readonly pattern: string;
  readonly depth: number;
}

interface Comparison {
  readonly seconds: number;
  readonly counters: ReadonlySet<string>;
  readonly changes: Change[];
}

type Fields = Readonly<Record<string, Json>>;

function compare(before: Json, now: Json, at: JsonPath, to: Comparison): void {
  if (typeof before === 'number' && typeof now === 'number') return compareNumbers(before, now, at, to);
  if (Array.isArray(before) && Array.isArray(now)) return compareLists(before, now, at, to);
  if (isFields(before) && isFields(now)) return compareFields(before, now, at, to);
  if (JSON.stringify(before) !== JSON.stringify(now)) tell(at, to, `${shown(before)} → ${shown(now)}`);
}

function compareNumbers(before: number, now: number, at: JsonPath, to: Comparison): void {
  const by = now - before;
  if (by === 0) return;
  const inTime = `in ${to.seconds} s`;
  if (to.counters.has(at.pattern)) {
    const rate = `${rounded(by / Math.max(0.001, to.seconds))}/s`;
    return tell(at, to, by > 0 ? `+${rounded(by)} ${inTime} (${rate})` : `${now}: it was reset`);
  }
  if (/(?:_|^)(?:seconds|age)$/.test(nameOf(at)) && Math.abs(by - to.seconds) <= AGE_TOLERANCE_SECONDS)
    return;
  tell(at, to, `${by > 0 ? '+' : '−'}${rounded(Math.abs(by))} (${before} → ${now}) ${inTime}`);
}

function compareFields(before: Fields, now: Fields, at: JsonPath, to: Comparison): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const inside = within(at, key, key);
    if (!Object.hasOwn(before, key)) tell(inside, to, `new: ${shown(own(now, key))}`);
    else if (!Object.hasOwn(now, key)) tell(inside, to, 'gone');
    else compare(own(before, key), own(now, key), inside, to);
  }
}

function compareLists(before: readonly Json[], now: readonly Json[], at: JsonPath, to: Comparison): void {
  if (before.length !== now.length) {
    const by = now.length - before.length;
    tell(
      at,
      to,
      `${by > 0 ? '+' : '−'}${Math.abs(by)} (${before.length} → ${now.length}) in ${to.seconds} s`,
    );
  }
  if (Math.max(before.length, now.length) > MAX_ITEMS) return;
  const key = identityOf(before, now);
  const names = (items: readonly Json[]) => new Map(items.map((item) => [nameIn(item, key), item]));
  const [old, current] = [names(before), names(now)];
  const come = [...current.keys()].filter((name) => !old.has(name));
  const gone = [...old.keys()].filter((name) => !current.has(name));
  if (come.length > 0) tell(at, to, `new: ${come.join(', ')}`);
  if (gone.length > 0) tell(at, to, `gone: ${gone.join(', ')}`);
  if (key === undefined) return;
  for (const [name, item] of current) {
    const was = old.get(name);
    if (was === undefined) continue;
    const inside = { ...within(at, '*', ''), path: `${at.path}[${name}]` };
    compare(was, item, inside, to);
  }
}

/**
 * The field that tells a list's items apart: different in all of them, and the same in most of both lists. The first such
 * one, since tools put what names a thing before what is said of it.
 */
function identityOf(before: readonly Json[], now: readonly Json[]): Identity | undefined {
  const all = [...before, ...now];
  if (all.length === 0 || !all.every(isFields)) return undefined;
  let best: { readonly key: Identity; readonly shared: number } | undefined;
  const fields = Object.keys(all[0] ?? {});
  // A table's name needs its schema.
  for (const key of [...fields.map((field) => [field]), fields.slice(0, 2)]) {
    const values = (items: readonly Json[]) => items.map((item) => nameIn(item, key));
    const [old, current] = [new Set(values(before)), new Set(values(now))];
    if (old.size !== before.length || current.size !== now.length) continue;
    if (!all.every((item) => key.every((field) => isName(own(item as Fields, field))))) continue;
    const shared = [...current].filter((value) => old.has(value)).length;
    if (best === undefined || shared > best.shared) best = { key, shared };
  }
  return best?.key;
}

/** What an item is called: `pid 4711`, or all of it where nothing names it. */
function nameIn(item: Json, key: Identity | undefined): string {
  if (key === undefined || !isFields(item)) return shown(item);
  return `${key.at(-1)} ${key.map((field) => shown(own(item, field))).join('.')}`;
}

/** The fields that name an item, together. */
type Identity = readonly string[];

const isName = (value: Json | undefined): boolean => typeof value === 'string' || typeof value === 'number';

function within(at: JsonPath, key: string, shownAs: string): JsonPath {
  const join = (a: string, b: string) => (a === '' ? b : `${a}.${b}`);
  return { path: join(at.path, shownAs), pattern: join(at.pattern, key), depth: at.depth + 1 };
}

function tell({ path, depth }: JsonPath, { changes }: Comparison, what: string): void {
  changes.push({ depth, line: path === '' ? what : `${path}: ${what}` });
}

/** What was found may be called like anything, `constructor` too. */
const own = (fields: Fields, key: string): Json =>
  Object.hasOwn(fields, key) ? (fields[key] ?? null) : null;

const nameOf = ({ pattern }: JsonPath): string => pattern.slice(pattern.lastIndexOf('.') + 1);

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function shown(value: Json): string {
  return clip(typeof value === 'string' ? value : JSON.stringify(value), MAX_TEXT);
}

/** To two decimals, or to two digits where it is less than that. */
function rounded(value: number): number {
  return Math.abs(value) >= 0.1 || value === 0 ? Math.round(value * 100) / 100 : Number(value.toPrecision(2));
}
