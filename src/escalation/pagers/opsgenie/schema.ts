import { z } from 'zod';
import { keyFields, servedFrom } from '../../fields.ts';

/** In `sentry.yaml`. `jsm`: Jira Service Management, which took Opsgenie over with this API. */
export const opsgenieEntry = z.strictObject({
  type: z.literal('opsgenie'),
  ...keyFields,
  ...servedFrom(['us', 'eu', 'jsm']),
});
