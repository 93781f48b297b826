import { z } from 'zod';
import { secretName, servedFrom } from '../../fields.ts';

/** In `sentry.yaml`. `jsm`: Jira Service Management, which took Opsgenie over with this API. */
export const opsgenieEntry = z.strictObject({
  type: z.literal('opsgenie'),
  key: secretName,
  ...servedFrom(['us', 'eu', 'jsm']),
});
