import { z } from 'zod';
import { keyFields, servedFrom } from '../../fields.ts';

/** In `sentry.yaml`. `schedule`: its name or its id. */
export const opsgenieScheduleEntry = z.strictObject({
  type: z.literal('opsgenie'),
  ...keyFields,
  schedule: z.string().min(1).max(200),
  ...servedFrom(['us', 'eu']),
});
