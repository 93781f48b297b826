import { z } from 'zod';
import { secretName, serviceUrl } from '../../fields.ts';

/** In `sentry.yaml`. `key`: what its calls are signed with. */
export const webhookEntry = z.strictObject({
  type: z.literal('webhook'),
  key: secretName,
  url: serviceUrl,
});

/** What its key has to be. */
export const signingKey = z
  .string()
  .min(16, 'is too short: at least 16 characters; openssl rand -hex 24 makes one');
