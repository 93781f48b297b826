import { count } from './count.ts';
import type { Json } from './tool-call.ts';

/** One of the few numbers that Sentry keeps of a target, so that now can be compared with what is usual there. */
export interface UsualNumber {
  /** Snake case, unique within its kind: `connections`. */
  readonly name: string;
  /** For people: “longest transaction”; where it begins with the unit it is said after the number: “412 connections”. */
  readonly label: string;
  /** `s`, `%`, `MB`, `connections`. */
  readonly unit: string;
  /** A smaller difference from what is usual is nothing to tell of, however steady the number was. In its unit. */
  readonly least: number;
  /** Less of it than usual is nothing to tell of: what is only counted up begins anew with a restart. */
  readonly onlyHigher?: true;
  /** Out of the data of the read that it is declared with; null: the data does not tell. */
  value(data: Json): number | null;
}

/** A number as one look found it; null: it could not be told. */
export interface ReadNumber extends Omit<UsualNumber, 'value'> {
  readonly now: number | null;
}

/** What one look at a target found. */
export interface UsualReading {
  readonly numbers: readonly ReadNumber[];
  /** What could not be read, each with why. */
  readonly unread: readonly string[];
}

/** What a number was at one time (ISO 8601), by a look of Sentry's own. */
export interface UsualSample {
  readonly at: string;
  readonly value: number;
}

/** Where most values of a number lay: a tenth of them was lower than `low`, and a tenth higher than `high`. */
export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
  readonly samples: number;
  /** Of how many days they are, each so many times 24 h before now. */
  readonly days: number;
}

/** A number now, beside what is usual. It is a lead, never a cause, and what is within the usual is not for that reason healthy. */
export interface UsualValue extends Pick<UsualNumber, 'name' | 'label' | 'unit'> {
  /** Null: it could not be read. */
  readonly now: number | null;
  /** What was usual at this hour of the day and those beside it (UTC); null: too few samples. */
  readonly hour: Spread | null;
  /** The same at any hour. */
  readonly all: Spread | null;
  /** How many samples there are of it at all. */
  readonly samples: number;
  /** Null: there is no number, or no usual yet. */
  readonly unusual: 'higher' | 'lower' | 'no' | null;
}

/** All that is known of a target. */
export interface UsualValues {
  readonly target: string;
  /** When it was read, ISO 8601. */
  readonly at: string;
  readonly values: readonly UsualValue[];
  /** What could not be read now, each with why. */
  readonly unread: readonly string[];
  /** How many samples do not count, as an incident of the target was open when they were taken. */
  readonly leftOut: number;
}

/** With fewer, a tenth of them is less than one, and the lowest and the highest would be the range. Four days of three hours have 12. */
const LEAST_OF_HOUR = 10;
const LEAST_DAYS_OF_HOUR = 4;
/** Fewer, or of a shorter time, are of a part of the day only, and another hour would be unusual for being another one. */
const LEAST_OF_ALL = 24;
const LEAST_SPAN_OF_ALL_MS = 22 * 60 * 60_000;
const DAY_HOURS = 24;
const DAY_MS = DAY_HOURS * 60 * 60_000;

/**
 * Compares a number with its samples: with those of this hour of the day (UTC) and the hours beside it where there are enough, else with
 * all. Unusual is what lies beyond the range by more than half its width, as about one in a hundred does of what only varies, and by
 * more than the number's `least`.
 */
export function compareWithUsual(
  number: Omit<UsualNumber, 'value'>,
  value: number | null,
  samples: readonly UsualSample[],
  at: Date,
): UsualValue {
  const { name, label, unit } = number;
  const known = samples.filter((sample) => Number.isFinite(sample.value));
  const near = known.filter((sample) => isNearHour(new Date(sample.at), at));
  const ofHour = near.length >= LEAST_OF_HOUR ? spreadOf(near, at) : null;
  const hour = ofHour !== null && ofHour.days >= LEAST_DAYS_OF_HOUR ? ofHour : null;
  const all =
    known.length >= LEAST_OF_ALL && spanOf(known) >= LEAST_SPAN_OF_ALL_MS ? spreadOf(known, at) : null;
  const now = value !== null && Number.isFinite(value) ? value : null;
  const usual = hour ?? all;
  const unusual = now === null || usual === null ? null : judge(now, usual, number);
  return { name, label, unit, now, hour, all, samples: known.length, unusual };
}

function judge(
  now: number,
  { low, high }: Spread,
  { least, onlyHigher }: Pick<UsualNumber, 'least' | 'onlyHigher'>,
): 'higher' | 'lower' | 'no' {
  const margin = Math.max(least, high / 2 - low / 2);
  if (now - high > margin) return 'higher';
  return low - now > margin && !onlyHigher ? 'lower' : 'no';
}

function isNearHour(one: Date, other: Date): boolean {
  const apart = Math.abs(one.getUTCHours() - other.getUTCHours());
  return Math.min(apart, DAY_HOURS - apart) <= 1;
}

function spanOf(samples: readonly UsualSample[]): number {
  const times = samples.map(({ at }) => Date.parse(at));
  return Math.max(...times) - Math.min(...times);
}

function spreadOf(samples: readonly UsualSample[], at: Date): Spread {
  const sorted = samples.map(({ value }) => value).toSorted((a, b) => a - b);
  const days = new Set(samples.map((one) => Math.round((at.getTime() - Date.parse(one.at)) / DAY_MS))).size;
  return {
    low: quantile(sorted, 0.1),
    median: quantile(sorted, 0.5),
    high: quantile(sorted, 0.9),
    samples: sorted.length,
    days,
  };
}

/** Between two of them where it falls between; of values in ascending order, at least one. */
function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const [below = 0, above = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  // A part of each, so that the difference of two huge values is never taken.
  const part = place - Math.floor(place);
  return below === above ? below : below * (1 - part) + above * part;
}

/** Whether it is known of any of them what is usual; whether it could be read now is another question. */
export const isUsualKnown = (values: readonly UsualValue[]): boolean =>
  values.some(({ hour, all }) => hour !== null || all !== null);

/** “1 number could not be read.”; null where all could. */
export function describeUnread(values: readonly UsualValue[]): string | null {
  const unread = values.filter(({ now }) => now === null).length;
  return unread === 0 ? null : `${count(unread, 'number')} could not be read.`;
}

/** “412 connections, usually 80 to 120 at this hour (7 days)”; null where there is no number, or no usual. */
export function describeUsual(value: UsualValue): string | null {
  const usual = value.hour ?? value.all;
  if (value.now === null || usual === null) return null;
  const at = value.hour === null ? '' : ' at this hour';
  const days = `${usual.days} ${usual.days === 1 ? 'day' : 'days'}`;
  return `${sayNumber(value, value.now)}, usually ${sayRange(usual)}${at} (${days})`;
}

/** “412 connections”, “longest transaction 95 s”. */
export function sayNumber({ label, unit }: Pick<UsualNumber, 'label' | 'unit'>, value: number): string {
  if (unit !== '' && label.startsWith(unit)) return `${rounded(value)} ${label}`;
  return `${label} ${rounded(value)}${unit === '' ? '' : ` ${unit}`}`;
}

/** “80 to 120”; of one that is always the same that. */
export function sayRange({ low, high }: Spread): string {
  const [from, to] = [rounded(low), rounded(high)];
  return from === to ? from : `${from} to ${to}`;
}

function rounded(value: number): string {
  const shown = Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
  return shown.toLocaleString('en-US');
}
