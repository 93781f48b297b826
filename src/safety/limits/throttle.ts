import { type Refusal, refuse } from '../../core/errors.ts';
import type { Sql } from '../../core/sql.ts';

/** At most `calls` in any `seconds`. */
export interface Limit {
  readonly calls: number;
  readonly seconds: number;
}

/** Each over all processes; one that is not here limits nothing. */
export interface ThrottleLimits {
  /** Of one role's identity. */
  readonly role?: Limit;
  readonly tool?: Limit;
  readonly target?: Limit;
  /** Of one incident; the validator, which watches, is not counted. */
  readonly incident?: Limit;
}

export interface ThrottledCall {
  readonly role: string;
  readonly tool: string;
  /** Null for tools that have none. */
  readonly target: string | null;
  /** Null where the incident's limit does not apply. */
  readonly incidentId: string | null;
}

/** How many calls of tools there may be; sliding windows in PostgreSQL, so that more processes do not mean more calls. */
export interface Throttle {
  readonly limits: ThrottleLimits;
  /** Undefined, and the call is counted everywhere; or a refusal that says when to try again, and it is counted nowhere. */
  take(call: ThrottledCall): Promise<Refusal | undefined>;
}

export function createThrottle(sql: Sql, limits: ThrottleLimits): Throttle {
  return {
    limits,
    async take({ role, tool, target, incidentId }) {
      const names = { role, tool, target, incident: incidentId };
      const counted = kinds.flatMap((kind) => {
        const limit = limits[kind];
        const name = names[kind];
        return limit && name !== null ? [{ key: `${kind}:${name}`, limit }] : [];
      });
      if (counted.length === 0) return undefined;
      const [row] = await sql<{ full_key: string | null; retry_ms: number }>`
        SELECT full_key, retry_ms
          FROM throttle_take(${sql.array(counted.map(({ key }) => key))}::text[],
                             ${sql.array(counted.map(({ limit }) => limit.calls))}::int[],
                             ${sql.array(counted.map(({ limit }) => limit.seconds))}::int[])`;
      if (!row?.full_key) return undefined;
      const full = counted.find(({ key }) => key === row.full_key);
      const seconds = Math.max(1, Math.ceil(row.retry_ms / 1000));
      return refuse(
        'TOO_MANY_CALLS',
        `${row.full_key} has used its ${full?.limit.calls} calls in ${spell(full?.limit.seconds ?? 0)}. Try again in ${spell(seconds)}.`,
      );
    },
  };
}

const kinds = ['role', 'tool', 'target', 'incident'] as const;
const units = { s: 1, m: 60, h: 3_600 } as const;

/** `incident=300/1h,target=6000/10m`, or a text that says what is wrong with it. */
export function readLimits(text: string): ThrottleLimits | string {
  const limits: Partial<Record<(typeof kinds)[number], Limit>> = {};
  for (const part of text.split(',').map((piece) => piece.trim())) {
    if (part === '') continue;
    const [, kind, calls, count, unit] =
      /^(role|tool|target|incident)=(\d{1,9})\/(\d{0,6})([smh])$/.exec(part) ?? [];
    const seconds = Number(count || 1) * units[unit as keyof typeof units];
    if (!kind || !(Number(calls) >= 1) || !(seconds >= 1 && seconds <= 86_400))
      return `"${part.slice(0, 40)}" is no limit: expected role|tool|target|incident=<calls>/<time>, as incident=300/1h, at most 24h`;
    limits[kind as keyof typeof limits] = { calls: Number(calls), seconds };
  }
  return limits;
}

function spell(seconds: number): string {
  if (seconds >= 3_600 && seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds >= 60 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
