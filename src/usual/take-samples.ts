import { createHash } from 'node:crypto';
import { anySignal } from '../core/any-signal.ts';
import { clipLine } from '../core/clip.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { UsualReading } from '../core/usual.ts';
import { within } from '../core/within.ts';
import { redact } from '../safety/screen/redact.ts';
import { claimSample, deleteOldSamples, releaseSample, saveSample, withoutSample } from './sample-rows.ts';

const MINUTE_MS = 60_000;
/** Whoever takes samples looks so often for what is due. */
export const LOOK_MINUTES = 5;
const TIMEOUT_MS = 60_000;
const WHY = 300;

/** The few numbers of a target now, and which system that is; null where its kind keeps none. */
export type ReadUsual = (
  target: string,
  signal: AbortSignal,
) => Promise<{ readonly system: string; readonly reading: UsualReading } | null>;

export interface SamplingDeps {
  readonly sql: Sql;
  /** As they are configured now, by name. */
  readonly targets: ReadonlyMap<string, unknown>;
  readonly read: ReadUsual;
  /** Each target is read once in so many minutes. */
  readonly everyMinutes: number;
  readonly log: Log;
  /** The database's clock when left out. */
  readonly now?: () => Promise<Date>;
  /** How long one target may take; a minute when left out. */
  readonly timeoutMs?: number;
}

/**
 * Takes a sample of each target that has none yet of this slot of time, one after the other. Each target has its own minute in a slot, so
 * that not all are read at once; whoever comes later, after a start, takes what was missed.
 */
export async function takeSamples(deps: SamplingDeps, signal: AbortSignal): Promise<void> {
  const { sql, targets, everyMinutes, log, now = () => clockOf(sql) } = deps;
  const at = await now();
  const everyMs = everyMinutes * MINUTE_MS;
  const slot = Math.floor(at.getTime() / everyMs) * everyMs;
  const due = [...targets.keys()].filter((name) => at.getTime() - slot >= offsetOf(name, everyMinutes));
  const slotAt = new Date(slot).toISOString();
  for (const target of await withoutSample(sql, due, slotAt)) {
    if (signal.aborted) return;
    try {
      if (await claimSample(sql, target, slotAt)) await sample(deps, target, slotAt, signal);
    } catch (error) {
      log.warn({ target, error: messageOf(error) }, 'usual values could not be kept');
    }
  }
  await deleteOldSamples(sql);
}

/** Always the same for a target, and early enough for it to be taken within the slot. */
export function offsetOf(target: string, everyMinutes: number): number {
  const room = Math.max(1, everyMinutes - 2 * LOOK_MINUTES);
  return (createHash('sha256').update(target).digest().readUInt32BE() % room) * MINUTE_MS;
}

/** Also a try that read nothing is a row: it says why, and is not made again in this slot. */
async function sample(deps: SamplingDeps, target: string, slot: string, signal: AbortSignal): Promise<void> {
  const { sql, log } = deps;
  try {
    const read = await readInTime(deps, target, signal);
    if (read === null) return await releaseSample(sql, target, slot);
    const { system, reading } = read;
    const numbers = Object.fromEntries(
      reading.numbers.flatMap(({ name, now }) => (now !== null && Number.isFinite(now) ? [[name, now]] : [])),
    );
    const why = reading.unread.length === 0 ? null : bounded(reading.unread.join('; '));
    const isRead = Object.keys(numbers).length > 0;
    await saveSample(sql, { target, slot, system: isRead ? system : null, numbers, why });
  } catch (error) {
    if (signal.aborted) return;
    const why = bounded(messageOf(error));
    log.debug({ target, error: why }, 'usual values could not be read');
    await saveSample(sql, { target, slot, system: null, numbers: {}, why });
  }
}

async function readInTime(
  { read, timeoutMs = TIMEOUT_MS }: SamplingDeps,
  target: string,
  signal: AbortSignal,
) {
  const late = new AbortController();
  try {
    return await within(timeoutMs, read(target, anySignal([signal, late.signal])));
  } finally {
    late.abort();
  }
}

async function clockOf(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: string }>`SELECT clock_timestamp() AS now`;
  if (!row) throw new Error('the database has no clock');
  return new Date(row.now);
}

const bounded = (text: string): string => clipLine(redact(text), WHY);
