import { z } from 'zod';
import { severities } from '../../core/alert.ts';

const text = z.string({ error: 'expected a string' }).min(1, 'expected some text');
const time = text.refine((value) => !Number.isNaN(Date.parse(value)), {
  error: 'expected a time like 2026-01-31T12:00:00Z',
});

/** Lines of a watched log that say the same, as they were read together. */
export const LogLines = z.object(
  {
    /** The target in `sentry.yaml`. */
    target: text,
    log: text,
    pattern: text,
    severity: z.enum(severities, { error: `expected one of ${severities.join(', ')}` }),
    /** What all of them have in common. */
    shape: z.string({ error: 'expected a string' }),
    /** One of them, whole. */
    line: z.string({ error: 'expected a string' }),
    lines: z.int({ error: 'expected a whole number' }).min(1, 'expected at least one'),
    /** When the first and the last of them were read. */
    from: time,
    to: time,
    /** Of what was read together; no other reading has it. */
    reading: text,
  },
  { error: 'expected the JSON object of lines of a log' },
);
export type LogLines = z.infer<typeof LogLines>;
