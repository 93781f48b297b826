import type { Alert } from '../core/alert.ts';
import type { Sql } from '../core/sql.ts';
import type { Json } from '../core/tool-call.ts';
import type { AcceptIn } from './accept.ts';

/** A process is dead when its heartbeat is this old (`src/infra/dbos/takeover.ts`, which forgets it then). */
const DEAD_AFTER_MS = 6_000;
/** A row may be refused because of who else writes: then the same again is not. */
const TRIES = 3;

/** Which log of which target. */
export interface LogName {
  readonly target: string;
  readonly log: string;
}

/** What a process may read on from. */
export interface Claimed {
  readonly revision: number;
  readonly position: Json | null;
  /** What was wrong with the log, as it was told last. */
  readonly problem: string | null;
}

/** What was read since the position before. */
export interface Reading {
  readonly position: Json;
  readonly lines: number;
  readonly matched: number;
  readonly cut: number;
  /** A second. */
  readonly lineRate: number;
  readonly matchRate: number;
  readonly problem: string | null;
  readonly note: string | null;
  readonly alerts: readonly Alert[];
}

/** Another process reads the log, or somebody stopped it: nothing was stored. */
export class NotOurs extends Error {}

/** The log, if nobody else reads it now and nobody stopped it; null otherwise. */
export async function claim(sql: Sql, { target, log }: LogName, owner: string): Promise<Claimed | null> {
  // Only looked at, as long as it is another's: whoever waits writes nothing.
  const [taken] = await sql`
    SELECT FROM watch_state w WHERE target = ${target} AND log = ${log} AND (stopped_at IS NOT NULL OR owner <> ${owner}
      AND EXISTS (SELECT FROM process p WHERE p.executor_id = w.owner
                    AND p.beat_at > clock_timestamp() - ${DEAD_AFTER_MS} * interval '1 millisecond'))`;
  if (taken) return null;
  const [row] = await sql<{ revision: string; position: Json | null; problem: string | null }>`
    INSERT INTO watch_state AS w (target, log, owner) VALUES (${target}, ${log}, ${owner})
    ON CONFLICT (target, log) DO UPDATE SET owner = excluded.owner, revision = w.revision + 1
     WHERE w.stopped_at IS NULL AND (w.owner IS NULL OR w.owner = excluded.owner
       OR NOT EXISTS (SELECT FROM process p WHERE p.executor_id = w.owner
                        AND p.beat_at > clock_timestamp() - ${DEAD_AFTER_MS} * interval '1 millisecond'))
    RETURNING revision, position, problem`;
  return row ? { ...row, revision: Number(row.revision) } : null;
}

export async function isOurs(sql: Sql, { target, log }: LogName, owner: string): Promise<boolean> {
  const [row] = await sql`
    SELECT FROM watch_state WHERE target = ${target} AND log = ${log} AND owner = ${owner} AND stopped_at IS NULL`;
  return row !== undefined;
}

export async function release(sql: Sql, { target, log }: LogName, owner: string): Promise<void> {
  await sql`UPDATE watch_state SET owner = NULL WHERE target = ${target} AND log = ${log} AND owner = ${owner}`;
}

/**
 * Stores a reading with its alerts, in one transaction, and returns the new revision. Alerts that the database refuses are left
 * out, and told to `onRefused`. Throws NotOurs when the log is another's by now.
 */
export async function store(
  { sql, acceptIn }: { readonly sql: Sql; readonly acceptIn: AcceptIn },
  name: LogName & { readonly owner: string; readonly revision: number },
  reading: Reading,
  onRefused: (alert: Alert, error: unknown) => void,
): Promise<number> {
  const { target, log, owner, revision } = name;
  const { alerts } = reading;
  const storeWith = (good: readonly Alert[], note: string | null): Promise<number> =>
    sql.begin(async (tx) => {
      const [row] = await tx<{ revision: string }>`
        UPDATE watch_state SET revision = revision + 1, position = ${tx.json(reading.position)}, at = clock_timestamp(),
               lines = lines + ${reading.lines}, matched = matched + ${reading.matched}, cut = cut + ${reading.cut},
               line_rate = ${reading.lineRate}, match_rate = ${reading.matchRate}, problem = ${reading.problem},
               note = coalesce(${note}, note),
               noted_at = CASE WHEN ${note}::text IS NULL THEN noted_at ELSE clock_timestamp() END
         WHERE target = ${target} AND log = ${log} AND owner = ${owner} AND revision = ${revision}
        RETURNING revision`;
      if (!row) throw new NotOurs(`${log} of ${target} is read by another process`);
      if (good.length > 0) await acceptIn(tx, good);
      return Number(row.revision);
    });
  for (let attempt = 1; ; attempt += 1)
    try {
      return await storeWith(alerts, reading.note);
    } catch (error) {
      if (error instanceof NotOurs || alerts.length === 0 || !isRefusal(error)) throw error;
      if (attempt === TRIES) break;
    }
  const good: Alert[] = [];
  for (const alert of alerts) {
    const refusal = await refusalOf(sql, acceptIn, alert);
    if (refusal === null) good.push(alert);
    else onRefused(alert, refusal);
  }
  const refused = alerts.length - good.length;
  const note =
    refused === 0 ? reading.note : `${refused} of its alerts could not be stored; the log says why.`;
  return storeWith(good, note);
}

/** PostgreSQL refuses what is in a row: its data, a constraint, what a function raises. All else passes, and is tried again. */
function isRefusal(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?:22|23|P0)/.test(code);
}

/** Tries one alert, and takes it back. Null: it can be stored. */
async function refusalOf(sql: Sql, acceptIn: AcceptIn, alert: Alert): Promise<unknown> {
  const takeBack = new Error('tried');
  try {
    await sql.begin(async (tx) => {
      await acceptIn(tx, [alert]);
      throw takeBack;
    });
  } catch (error) {
    if (error === takeBack) return null;
    if (isRefusal(error)) return error;
    throw error;
  }
  return null;
}
