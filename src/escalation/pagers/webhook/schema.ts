import { z } from 'zod';
import { keyFields, serviceUrl } from '../../fields.ts';

/** In `sentry.yaml`. Its key: what its calls are signed with. */
export const webhookEntry = z.strictObject({
  type: z.literal('webhook'),
  ...keyFields,
  url: serviceUrl,
});

/** What its key has to be. */
export const signingKey = z
  .string()
  .min(16, 'is too short: at least 16 characters; openssl rand -hex 24 makes one');
