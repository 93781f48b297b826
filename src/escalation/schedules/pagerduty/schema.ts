import { z } from 'zod';
import { keyFields, servedFrom } from '../../fields.ts';

/** In `sentry.yaml`. */
export const pagerDutyScheduleEntry = z.strictObject({
  type: z.literal('pagerduty'),
  ...keyFields,
  schedule: z
    .string()
    .regex(
      /^[A-Z0-9]{5,30}$/,
      'expected the id of a schedule, like PI7DH85: the end of its address in PagerDuty',
    ),
  ...servedFrom(['us', 'eu']),
});
