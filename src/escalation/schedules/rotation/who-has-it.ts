import { Temporal } from 'temporal-polyfill';
import type { RotationConfig } from '../../escalation-config.ts';

/**
 * Whose turn it is, as `people` names them; null: the first turn has not begun. Turns are counted by the clock on the wall of the
 * rotation's zone, so the handover stays at its hour when clocks change; where that hour is left out or comes twice, it is the
 * moment that RFC 5545 names ("compatible": as much later as the clock jumps, and the first of two).
 */
export function whoHasIt(rotation: RotationConfig, at: Date): string | null {
  return turnsOf(rotation).who(at.getTime());
}

/** When somebody else has it for the first time after `at`, and who that is (null: nobody); null: never, within a whole round. */
export function nextTurn(
  rotation: RotationConfig,
  at: Date,
): { readonly at: Date; readonly person: string | null } | null {
  const { who, beginOf, turnAt, changes } = turnsOf(rotation);
  const now = at.getTime();
  const turn = turnAt(now) ?? -1;
  const handovers = rotation.people.map((_, n) => beginOf(turn + 1 + n));
  const moment = [...handovers, ...changes]
    .filter((each) => each > now)
    .toSorted((a, b) => a - b)
    .find((each) => who(each) !== who(now));
  return moment === undefined ? null : { at: new Date(moment), person: who(moment) };
}

function turnsOf({ people, overrides, timezone, ...turns }: RotationConfig) {
  const msOf = (local: Temporal.PlainDateTime): number => local.toZonedDateTime(timezone).epochMilliseconds;
  const readMs = (local: string): number => msOf(Temporal.PlainDateTime.from(local));
  const first = Temporal.PlainDateTime.from(`${turns.starts}T${turns.handover.slice(-5)}`);
  const hours = Number.parseInt(turns.length, 10) * (turns.length.endsWith('d') ? 24 : 1);
  const beginOf = (turn: number): number => msOf(first.add({ hours: hours * turn }));
  const turnAt = (now: number): number | null => {
    if (now < beginOf(0)) return null;
    const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDateTime();
    let turn = Math.max(0, Math.floor(first.until(local, { largestUnit: 'hours' }).total('hours') / hours));
    // The wall's clock is an hour off near a change.
    while (turn > 0 && beginOf(turn) > now) turn -= 1;
    while (beginOf(turn + 1) <= now) turn += 1;
    return turn;
  };
  const who = (now: number): string | null => {
    // Of several the last counts: it was added to correct the others.
    const override = overrides.findLast(({ from, to }) => readMs(from) <= now && now < readMs(to));
    if (override) return override.person;
    const turn = turnAt(now);
    return turn === null ? null : (people[turn % people.length] ?? null);
  };
  return { who, beginOf, turnAt, changes: overrides.flatMap(({ from, to }) => [readMs(from), readMs(to)]) };
}
