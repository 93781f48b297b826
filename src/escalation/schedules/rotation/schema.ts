import { z } from 'zod';
import { timezone, weekdays } from '../../../core/hours.ts';

const person = z
  .string()
  .regex(
    /^(?:[UW][A-Z0-9]{2,20}|[^\s@<>]{1,64}@[^\s@<>]{1,200})$/,
    'expected a Slack user id (U…) or an e-mail address',
  );

const day = z.string().refine(isDay, 'expected a day, like 2026-11-02');

/** By the clock of the rotation's zone. */
const moment = z
  .string()
  .refine(
    (text) => /^\S+ ([01]\d|2[0-3]):[0-5]\d$/.test(text) && isDay(text.split(' ')[0] ?? ''),
    'expected a day and a time, like 2026-12-24 09:00',
  )
  .transform((text) => text.replace(' ', 'T'));

/** In `sentry.yaml`. Everything is by the clock of its zone. */
export const rotationEntry = z
  .strictObject({
    type: z.literal('rotation'),
    /** In the order of their turns. */
    people: z.array(person).min(1).max(200),
    /** `mon 09:00`, or `09:00` alone: when one hands over to the next. */
    handover: z
      .string()
      .regex(
        new RegExp(`^(?:(?:${weekdays.join('|')}) )?(?:[01]\\d|2[0-3]):[0-5]\\d$`),
        'expected a time, with its day where it has one, like "09:00" or mon 09:00',
      ),
    /** `7d`, `12h`: how long one has it. */
    length: z.string().regex(/^[1-9]\d{0,2}[dh]$/, 'expected days or hours, like 7d or 12h'),
    timezone,
    /** The day of the first handover. */
    starts: day,
    overrides: z
      .array(
        z
          .strictObject({ person, from: moment, to: moment })
          .refine(({ from, to }) => from < to, 'it ends before it begins'),
      )
      .max(1_000)
      .default([]),
  })
  .superRefine(({ handover, length, starts }, context) => {
    const weekday = handover.includes(' ') ? handover.slice(0, 3) : null;
    if (weekday === null) return;
    if (!length.endsWith('d') || Number.parseInt(length, 10) % 7 !== 0)
      context.addIssue({
        code: 'custom',
        path: ['handover'],
        message: `it is not always a ${weekday} after ${length}: leave the day out, or let the length be weeks (7d)`,
      });
    else if (weekdays[new Date(`${starts}T00:00:00Z`).getUTCDay()] !== weekday)
      context.addIssue({
        code: 'custom',
        path: ['starts'],
        message: `${starts} is a ${weekdays[new Date(`${starts}T00:00:00Z`).getUTCDay()]}, and the handover is on ${weekday}`,
      });
  });

/** JavaScript takes 2026-02-30 for the second of March. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
