import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import { compareWithUsual, type ReadNumber, type UsualValue, type UsualValues } from '../core/usual.ts';
import { type KeptSamples, keptSamples, lastSystem, newestSample } from './sample-rows.ts';
import type { ReadUsual } from './take-samples.ts';

export interface UsualDeps {
  readonly sql: Sql;
  /** As they are configured now, by name. */
  readonly targets: ReadonlyMap<string, unknown>;
  readonly read: ReadUsual;
  readonly now?: () => Date;
}

/** Compares what an incident's own target is like now with what is usual there. */
export function createUsualValues(deps: UsualDeps) {
  return {
    async valuesOf(id: IncidentId, signal: AbortSignal): Promise<UsualValues | Refusal> {
      const [incident] = await deps.sql<{
        target: string | null;
      }>`SELECT target FROM incident WHERE id = ${id}`;
      const target = incident?.target ?? null;
      if (target === null || !deps.targets.has(target))
        return refuse(
          'NO_TARGET',
          'The incident is about no configured target, so nothing is known to be usual.',
        );
      return valuesOf(deps, target, signal);
    },
  };
}

async function valuesOf(
  { sql, read, now = () => new Date() }: UsualDeps,
  target: string,
  signal: AbortSignal,
): Promise<UsualValues | Refusal> {
  const found = await read(target, signal);
  if (found === null) return refuse('NOT_KEPT', `Of systems like ${target} no usual values are kept.`);
  const { system, reading } = found;
  const kept = await keptSamples(sql, target, system);
  const at = now();
  const values = reading.numbers.map((one) => compared(one, one.now, kept, at));
  return { target, at: at.toISOString(), values, unread: reading.unread, leftOut: kept.leftOut };
}

/** A number that an earlier read has told of a target, and when that was. */
export interface SeenNumber {
  readonly number: Omit<ReadNumber, 'now'>;
  readonly value: number;
  readonly at: Date;
}

/** The same for numbers that other reads have told already: without a look at the target. */
export async function compareSeen(
  sql: Sql,
  target: string,
  seen: readonly SeenNumber[],
): Promise<readonly UsualValue[]> {
  const system = seen.length === 0 ? null : await lastSystem(sql, target);
  if (system === null) return [];
  const kept = await keptSamples(sql, target, system);
  return seen.map(({ number, value, at }) => compared(number, value, kept, at));
}

/** A number as it was told last, by a read or by a sample of Sentry's own, beside what is usual. */
export interface LastValue extends UsualValue {
  /** When that was. */
  readonly at: Date;
}

/**
 * Each of these numbers as it is known without a look at the target: by the newest of these reads, else by the newest sample, which is not
 * compared with itself. Empty: there is no sample.
 */
export async function compareLast(
  sql: Sql,
  target: string,
  numbers: readonly Omit<ReadNumber, 'now'>[],
  seen: readonly SeenNumber[],
): Promise<readonly LastValue[]> {
  const newest = await newestSample(sql, target);
  if (newest === null) return [];
  const kept = await keptSamples(sql, target, newest.system);
  const before = { ...kept, samples: kept.samples.filter(({ at }) => at !== newest.at) };
  return numbers.flatMap((number) => {
    const read = seen
      .filter((one) => one.number.name === number.name)
      .toSorted((a, b) => b.at.getTime() - a.at.getTime())[0];
    const sampled = newest.numbers[number.name];
    if (read !== undefined) return [{ ...compared(number, read.value, kept, read.at), at: read.at }];
    const at = new Date(newest.at);
    return sampled === undefined ? [] : [{ ...compared(number, sampled, before, at), at }];
  });
}

function compared(
  number: Omit<ReadNumber, 'now'>,
  value: number | null,
  { samples }: KeptSamples,
  at: Date,
): UsualValue {
  const own = samples.flatMap(({ at: when, numbers }) => {
    const known = numbers[number.name];
    return known === undefined ? [] : [{ at: when, value: known }];
  });
  return compareWithUsual(number, value, own, at);
}
