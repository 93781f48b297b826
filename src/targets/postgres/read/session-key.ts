import { z } from 'zod';

/** A session by name: the pid alone may belong to somebody else by now. */
export const sessionKey = z.strictObject({
  pid: z.number().int().min(1).max(2_147_483_647),
  /** As the read tools print it, with microseconds: `2026-11-21T10:00:00.123456Z`. */
  backend_start: z
    .string()
    .regex(
      /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}(:?\d{2})?)$/,
      'a time with zone and microseconds as the read tools print it, e.g. 2026-11-21T10:00:00.123456Z',
    ),
});
export type SessionKey = z.infer<typeof sessionKey>;
