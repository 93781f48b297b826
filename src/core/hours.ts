import { z } from 'zod';

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** Hours of days of the week. */
export interface Hours {
  /** 0 is Sunday. */
  readonly days: readonly number[];
  /** Minutes since midnight; `to` is not in it any more. When it is before `from`, the night is meant. */
  readonly from: number;
  readonly to: number;
  /** IANA name. */
  readonly timezone: string;
}

const clock = (form: RegExp) =>
  z
    .string()
    .regex(form, 'a time as "08:30", in quotes')
    .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

/** A time of day as people write it, in minutes since midnight. */
export const timeOfDay = clock(/^([01]\d|2[0-3]):[0-5]\d$/);

export const timezone = z.string().refine(isZone, 'an IANA time zone, as Europe/Vienna');

/** `Hours` as people write them. Whoever uses these fields also refines by `hasHours`. */
export const hoursFields = {
  days: z
    .array(z.enum(weekdays))
    .min(1)
    .default([...weekdays])
    .transform((days) => days.map((day) => weekdays.indexOf(day))),
  from: timeOfDay,
  to: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/),
  timezone,
};

export const hasHours = ({ from, to }: Pick<Hours, 'from' | 'to'>): boolean => from !== to;

/** What is said where `hasHours` says no. */
export const noHours = 'from and to are the same';

/** `{ days: [mon, tue], from: "08:00", to: "18:00", timezone: Europe/Vienna }`, as files have it. */
export const HoursFields = z.strictObject(hoursFields).refine(hasHours, noHours);

/** Whether a moment is within the hours, by the clock of their time zone. */
export function isWithin({ days, from, to, timezone: zone }: Hours, at: Date): boolean {
  const { day, minute } = localTime(zone, at);
  if (from < to) return days.includes(day) && minute >= from && minute < to;
  // Over midnight: the small hours belong to the day before.
  return minute >= from ? days.includes(day) : minute < to && days.includes((day + 6) % 7);
}

/** When the hours begin and end that a moment is within; a change of the clocks in between is counted. */
export function spanOfHours(
  { from, to, timezone: zone }: Hours,
  at: Date,
): { readonly from: Date; readonly to: Date } {
  const { minute } = localTime(zone, at);
  const now = Math.floor(at.getTime() / 60_000);
  return {
    from: atMinute(zone, now - ((minute - from + DAY) % DAY), from),
    to: atMinute(zone, now + ((to - minute + DAY) % DAY || DAY), to),
  };
}

/** About so many minutes since 1970, when the clock of the zone says so many minutes since midnight. */
function atMinute(zone: string, about: number, minute: number): Date {
  const off = (minute - localTime(zone, new Date(about * 60_000)).minute + DAY) % DAY;
  return new Date((about + (off > DAY / 2 ? off - DAY : off)) * 60_000);
}

const DAY = 24 * 60;

/** The day (0 is Sunday), and minutes since midnight. */
function localTime(timeZone: string, at: Date): { readonly day: number; readonly minute: number } {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at);
  const read = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return {
    day: (weekdays as readonly string[]).indexOf(read('weekday').toLowerCase()),
    minute: Number(read('hour')) * 60 + Number(read('minute')),
  };
}

/** `Mon, Tue from 08:00 to 18:00 (Europe/Vienna)`. */
export function formatHours({ days, from, to, timezone: zone }: Hours): string {
  const time = (minutes: number): string =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  const names = days.length === 7 ? 'every day' : days.map((day) => weekdays[day]).join(', ');
  return `${names} from ${time(from)} to ${time(to)} (${zone})`;
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    // What it throws is the answer.
    return false;
  }
}
