import { z } from 'zod';
import { keyFields, servedFrom } from '../../fields.ts';

/** In `sentry.yaml`. */
export const pagerDutyEntry = z.strictObject({
  type: z.literal('pagerduty'),
  ...keyFields,
  ...servedFrom(['us', 'eu']),
});

/** What its key has to be. */
export const integrationKey = z
  .string()
  .regex(
    /^[A-Za-z0-9]{32}$/,
    'is no integration key (32 letters and digits). PagerDuty → Services → the service → Integrations → Events API v2',
  );
