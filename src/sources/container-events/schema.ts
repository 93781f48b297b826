import { z } from 'zod';

const text = z.string({ error: 'expected a string' }).min(1, 'expected some text');

/** What became of a container, as a watched engine tells it. */
export const ContainerEvent = z.object(
  {
    /** The target in `sentry.yaml`. */
    target: text,
    runtime: text,
    container: text,
    /** The whole id: a container made anew is another one. */
    container_id: text,
    image: z.string({ error: 'expected a string' }).nullish(),
    /** The compose service. */
    service: z.string({ error: 'expected a string' }).nullish(),
    event: z.enum(['died', 'out_of_memory', 'unhealthy', 'healthy'], {
      error: 'expected one of died, out_of_memory, unhealthy, healthy',
    }),
    exit_code: z.int({ error: 'expected a whole number' }).nullish(),
    at: text.refine((value) => !Number.isNaN(Date.parse(value)), {
      error: 'expected a time like 2026-01-31T12:00:00Z',
    }),
  },
  { error: 'expected the JSON object of a container event' },
);
export type ContainerEvent = z.infer<typeof ContainerEvent>;
