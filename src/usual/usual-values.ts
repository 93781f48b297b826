import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import { compareWithUsual, type ReadNumber, type UsualValue, type UsualValues } from '../core/usual.ts';
import { type KeptSamples, keptSamples, lastSystem } from './sample-rows.ts';
import type { ReadUsual } from './take-samples.ts';

export interface UsualDeps {
  readonly sql: Sql;
  /** As they are configured now, by name. */
  readonly targets: ReadonlyMap<string, unknown>;
  readonly read: ReadUsual;
  readonly now?: () => Date;
}

export interface AskedUsual {
  /** The one number that is wanted, by its name. */
  readonly number?: string;
  readonly signal: AbortSignal;
}

/** Compares what an incident's own target is like now with what is usual there. */
export function createUsualValues(deps: UsualDeps) {
  return {
    async valuesOf(id: IncidentId, asked: AskedUsual): Promise<UsualValues | Refusal> {
      const [incident] = await deps.sql<{
        target: string | null;
      }>`SELECT target FROM incident WHERE id = ${id}`;
      const target = incident?.target ?? null;
      if (target === null || !deps.targets.has(target))
        return refuse(
          'NO_TARGET',
          'The incident is about no configured target, so nothing is known to be usual.',
        );
      return valuesOf(deps, target, asked);
    },
  };
}

async function valuesOf(
  { sql, read, now = () => new Date() }: UsualDeps,
  target: string,
  { number, signal }: AskedUsual,
): Promise<UsualValues | Refusal> {
  const found = await read(target, signal, number);
  if (found === null) return refuse('NOT_KEPT', `Of systems like ${target} no usual values are kept.`);
  const { system, reading } = found;
  if (reading.numbers.length === 0)
    return refuse('BAD_INPUT', `number: no “${number}” is kept of ${target}; leave it out to see which are`);
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
