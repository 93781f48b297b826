import { Temporal } from 'temporal-polyfill';
import type { RotationConfig } from '../../escalation-config.ts';

/**
 * Whose turn it is, as `people` names them; null: the first turn has not begun. Turns are counted by the clock on the wall of the
 * rotation's zone, so the handover stays at its hour when clocks change; where that hour is left out or comes twice, it is the
 * moment that RFC 5545 names ("compatible": as much later as the clock jumps, and the first of two).
 */
export function whoHasIt({ people, overrides, timezone, ...turns }: RotationConfig, at: Date): string | null {
  const now = at.getTime();
  const msOf = (local: Temporal.PlainDateTime): number => local.toZonedDateTime(timezone).epochMilliseconds;
  const readMs = (local: string): number => msOf(Temporal.PlainDateTime.from(local));
  // Of several the last counts: it was added to correct the others.
  const override = overrides.findLast(({ from, to }) => readMs(from) <= now && now < readMs(to));
  if (override) return override.person;

  const first = Temporal.PlainDateTime.from(`${turns.starts}T${turns.handover.slice(-5)}`);
  const hours = Number.parseInt(turns.length, 10) * (turns.length.endsWith('d') ? 24 : 1);
  const beginOf = (turn: number): number => msOf(first.add({ hours: hours * turn }));
  if (now < beginOf(0)) return null;
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDateTime();
  let turn = Math.max(0, Math.floor(first.until(local, { largestUnit: 'hours' }).total('hours') / hours));
  // The wall's clock is an hour off near a change.
  while (turn > 0 && beginOf(turn) > now) turn -= 1;
  while (beginOf(turn + 1) <= now) turn += 1;
  return people[turn % people.length] ?? null;
}
