import { z } from 'zod';
import { HoursFields } from '../core/hours.ts';
import type { MaintenanceWindow } from '../core/maintenance-window.ts';
import { wholeMatcher } from '../safety/alert-matcher.ts';
import type { ConfigFile } from './config-file.ts';

const moment = z.iso.datetime({
  offset: true,
  error: 'a time with its offset, like "2026-11-28T22:00:00+01:00"',
});

const match = z.string().transform((text, context) => {
  const read = wholeMatcher(text);
  if (!read.ok) context.addIssue(read.reason);
  else if (read.matcher.isEverything) context.addIssue('that would mute every alert: say which ones');
  else return read.matcher.text;
  return z.NEVER;
});

const window = z
  .strictObject({
    match,
    from: moment.optional(),
    to: moment.optional(),
    hours: HoursFields.optional(),
    reason: z.string().max(500).default(''),
  })
  .refine(({ from, to, hours }) => (hours === undefined) === (from !== undefined && to !== undefined), {
    error: 'expected either from and to, or hours',
  })
  .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to), {
    path: ['to'],
    error: 'it ends before it begins',
  });

/** Of `sentry.yaml`. */
export const maintenanceFields = {
  maintenance: z
    .array(window)
    .max(100, 'at most 100 windows')
    .nullish()
    .transform((given) => given ?? []),
};

/** The windows of a file that has been found to be right. */
export function maintenanceOf({ raw }: ConfigFile): readonly MaintenanceWindow[] {
  const { maintenance } = z.object(maintenanceFields).parse(raw ?? {});
  return maintenance.map(({ match: matcher, reason, from = '', to = '', hours }) => ({
    matcher,
    reason,
    when: hours ?? { from, to },
  }));
}
