import { z } from 'zod';

/** Hours of days of the week, by the clock of a time zone. */
export interface Hours {
  /** 0 is Sunday. */
  readonly days: readonly number[];
  /** Minutes since midnight; `to` is not in it any more. When it is before `from`, the night is meant. */
  readonly from: number;
  readonly to: number;
  /** IANA name. */
  readonly timezone: string;
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const clock = (form: RegExp) =>
  z
    .string()
    .regex(form, 'a time as "08:30", in quotes')
    .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

/** `{ days: [mon, tue], from: "08:00", to: "18:00", timezone: Europe/Vienna }`, as files have it. */
export const HoursFields = z
  .strictObject({
    days: z
      .array(z.enum(weekdays).transform((day) => weekdays.indexOf(day)))
      .min(1)
      .default([0, 1, 2, 3, 4, 5, 6]),
    from: clock(/^([01]\d|2[0-3]):[0-5]\d$/),
    to: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/),
    timezone: z.string().refine(isZone, 'an IANA time zone, as Europe/Vienna'),
  })
  .refine(({ from, to }) => from !== to, 'from and to are the same');

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    // What it throws is the answer.
    return false;
  }
}

/** Whether a moment is within the hours, by the clock of their time zone. */
export function isWithin({ days, from, to, timezone }: Hours, at: Date): boolean {
  const { day, minute } = localTime(timezone, at);
  if (from < to) return days.includes(day) && minute >= from && minute < to;
  // Over midnight: the small hours belong to the day before.
  return minute >= from ? days.includes(day) : minute < to && days.includes((day + 6) % 7);
}

/** When the hours begin and end that a moment is within; a change of the clocks in between is counted. */
export function spanOfHours(
  { from, to, timezone }: Hours,
  at: Date,
): { readonly from: Date; readonly to: Date } {
  const { minute } = localTime(timezone, at);
  const now = Math.floor(at.getTime() / 60_000);
  return {
    from: atMinute(timezone, now - ((minute - from + DAY) % DAY), from),
    to: atMinute(timezone, now + ((to - minute + DAY) % DAY || DAY), to),
  };
}

/** About so many minutes since 1970, when the clock of the zone says so many minutes since midnight. */
function atMinute(timezone: string, about: number, minute: number): Date {
  const off = (minute - localTime(timezone, new Date(about * 60_000)).minute + DAY) % DAY;
  return new Date((about + (off > DAY / 2 ? off - DAY : off)) * 60_000);
}

const DAY = 24 * 60;

/** The day (0 is Sunday), and minutes since midnight. */
function localTime(timezone: string, at: Date): { readonly day: number; readonly minute: number } {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
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
export function formatHours({ days, from, to, timezone }: Hours): string {
  const time = (minutes: number): string =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  const names = days.length === 7 ? 'every day' : days.map((day) => weekdays[day]).join(', ');
  return `${names} from ${time(from)} to ${time(to)} (${timezone})`;
}
