import type { Json } from './tool-call.ts';

/**
 * A number that a read tool states about the system, and when it is healthy. Declared in code beside the tool: nobody but the
 * tool says how it is read, and a runbook or a model only names it and may set the bound.
 */
export interface Measure {
  /** Snake case, unique within the tool: `longest_lock_wait`. */
  readonly name: string;
  /** For people, the subject of a sentence: "longest wait for a lock". */
  readonly label: string;
  /**
   * How it is when it is well, as a sentence without its full stop; `{bound}` stands for `at most 5 s`, or `no sessions`. Left
   * out: a yes or no, whose label is that sentence.
   */
  readonly well?: string;
  /** How it is, and was, when it is not well, as a sentence. Of a yes or no `measureAt` demands it: “not so: …” misleads. */
  readonly unwell?: { readonly is: string; readonly was: string };
  /** `s`, `%`, `sessions`; empty for a yes or no, read as 1 or 0. */
  readonly unit: string;
  /**
   * `steady`: a counter, `same`: a number that only names what is there (which process runs). Both must stay as they are
   * while they are watched; they say nothing by themselves, so they are never a symptom.
   */
  readonly healthy: 'at_most' | 'at_least' | 'steady' | 'same';
  /** The healthy bound where nobody sets another one; unused for `steady` and `same`. */
  readonly bound: number;
  /** It comes and goes by nature: a repair has to hold for longer than it was seen to stay away by itself. */
  readonly intermittent?: true;
  /**
   * It is about one thing that an action may end (a session): gone is healthy, whatever became of the problem. A runbook may
   * name it beside others; it is never chosen for a model's diagnosis.
   */
  readonly ofOneThing?: true;
  /**
   * Metrics of monitoring systems for the same thing in the same unit, all of their series within this bound when it is: a rule
   * about one of them is a rule about this measure.
   */
  readonly metrics?: readonly string[];
  /** Out of the tool's data; null: the data does not tell. */
  value(data: Json): number | null;
  /**
   * Whether there may be a worse value than that which the tool has seen: part of it was hidden, cut off or not read. Such
   * a value may be beyond the bound, and it is never healthy. Left out: the tool sees all of it or fails.
   */
  isPartial?(data: Json, bound: number): boolean;
}

/** A measure with the bound it is judged by; the measure's own when left out. */
export interface MeasureBound {
  readonly name: string;
  readonly bound?: number;
}

/** What a measure read: null when it could not be told. */
export interface MeasureReading {
  /** With `isHealthy` null, the least that it is. */
  readonly value: number | null;
  readonly isHealthy: boolean | null;
}

/** What a read on record says of one measure. */
export interface Measured extends MeasureReading {
  readonly measure: Measure;
}

/** Whether it is judged by what was read before, and not by a bound. */
export function staysAsItIs({ healthy }: Pick<Measure, 'healthy'>): boolean {
  return healthy === 'steady' || healthy === 'same';
}

/** Judges a value by its bound. What has to stay as it is is judged by the looks together, see `judgeRecovery`. */
export function readMeasure(measure: Measure, bound: number, data: Json): MeasureReading {
  const value = measure.value(data);
  // A counter that nobody keeps says nothing against it.
  if (staysAsItIs(measure)) return { value, isHealthy: true };
  if (value === null || !Number.isFinite(value)) return { value: null, isHealthy: null };
  const isFloor = measure.healthy === 'at_least';
  if (isFloor ? value < bound : value > bound) return { value, isHealthy: false };
  if (measure.isPartial?.(data, bound) !== true) return { value, isHealthy: true };
  // What was not seen may be below a floor: of such a value not even the least is known.
  return { value: isFloor ? null : value, isHealthy: null };
}

/** `longest wait for a lock: 24 s (healthy at most 5 s)`. */
export function formatMeasure(measure: Measure, bound: number, value: number | null): string {
  const { label, unit, healthy } = measure;
  const said = value === null ? 'not known' : formatValue(measure, value);
  if (isYesOrNo(measure)) return `${label}: ${said}`;
  // Which one it is says nothing to people, and one reading does not tell whether it stays.
  if (healthy === 'same') return `${label}: ${value === null ? 'not known' : 'known'}`;
  if (staysAsItIs(measure)) return `${label}: ${said}`;
  const limit = `${healthy === 'at_most' ? 'at most' : 'at least'} ${withUnit(bound, unit)}`;
  return `${label}: ${said} (healthy: ${limit})`;
}

/** What must hold, as a sentence without its full stop: `the longest wait for a lock is at most 5 s`. */
export function formatBound(measure: Measure, bound: number): string {
  const { label, unit, healthy, well } = measure;
  if (well !== undefined) return well.replace('{bound}', boundOf(measure, bound));
  if (isYesOrNo(measure)) return label;
  if (healthy === 'same') return `${label}: stays the same while it is watched`;
  if (healthy === 'steady') return `${label}: grows no more`;
  return `${label}: ${healthy === 'at_most' ? 'at most' : 'at least'} ${withUnit(bound, unit)}`;
}

/** `at most 5 s`, `at least 14 days`; of things that are counted `no sessions`. */
function boundOf({ healthy, unit }: Measure, bound: number): string {
  // `s`, `%`, `B/s` are no things that there can be none of.
  if (healthy === 'at_most' && bound === 0 && /^[a-z]{3,}$/.test(unit)) return `no ${unit}`;
  return `${healthy === 'at_least' ? 'at least' : 'at most'} ${withUnit(bound, unit)}`;
}

/** `24 s`; of a yes or no that. */
export const formatValue = (measure: Measure, value: number): string =>
  isYesOrNo(measure) ? (value >= 1 ? 'yes' : 'no') : withUnit(value, measure.unit);

/**
 * `4 sessions waiting for a lock`, where the label says what is counted; else `longest wait for a lock: 24 s`. Of a yes or no a
 * sentence: `the rollout is not complete`, or how it was.
 */
export function formatSeen(measure: Measure, value: number, tense: 'is' | 'was' = 'is'): string {
  const { label, unit, unwell, bound, healthy } = measure;
  const isWell = healthy === 'at_least' ? value >= bound : value <= bound;
  if (unwell !== undefined && !isWell) return unwell[tense];
  if (isYesOrNo(measure)) return isWell ? label : `not so: ${label}`;
  const said = formatValue(measure, value);
  return unit !== '' && label.startsWith(`${unit} `)
    ? `${said}${label.slice(unit.length)}`
    : `${label}: ${said}`;
}

/** Read as 1 or 0. */
export function isYesOrNo({ unit, healthy, bound }: Measure): boolean {
  return unit === '' && healthy === 'at_least' && bound === 1;
}

function withUnit(value: number, unit: string): string {
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
  const shown = rounded.toLocaleString('en-US');
  return unit === '' ? shown : `${shown} ${unit}`;
}

/** A yes or no says in a sentence when it is not well; see `isYesOrNo`. */
type Unwell<M> = M extends { readonly unit: ''; readonly healthy: 'at_least'; readonly bound: 1 }
  ? Required<Pick<Measure, 'unwell'>>
  : unknown;

/** A measure that reads one number at a path of its tool's data (`root.wait_seconds`); true counts as 1, false as 0. */
export function measureAt<const M extends Omit<Measure, 'value'>>(
  path: string,
  rest: M & Unwell<M>,
): Measure {
  return { ...rest, value: (data) => numberAt(data, path) };
}

/** The number at a dotted path; null where there is none. */
export function numberAt(data: Json, path: string): number | null {
  let found: unknown = data;
  for (const key of path.split('.'))
    found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined;
  if (typeof found === 'boolean') return found ? 1 : 0;
  return typeof found === 'number' ? found : null;
}
