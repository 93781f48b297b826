import { z } from 'zod';
import type { Json } from '../../core/tool-call.ts';
import { defineChangesTool } from '../define.ts';
import { formatWhatChanged } from './format-what-changed.ts';

/** What was changed around this incident. Data: `WhatChanged`. */
export const whatChanged = defineChangesTool({
  name: 'what_changed',
  description: 'What was changed around that time.',
  input: z.strictObject({
    since: z.string().max(40).optional().describe('ISO or minutes before'),
    name: z.string().min(1).max(200).optional(),
  }),
  timeoutMs: 3_000,
  async run({ incidentId, changes, signal }, { since, name }) {
    const found = await changes.whatChanged(incidentId, {
      ...(since === undefined ? {} : { since: /^\d{1,6}$/.test(since) ? Number(since) : since }),
      ...(name === undefined ? {} : { name }),
      signal,
    });
    return 'ok' in found ? found : { text: formatWhatChanged(found), data: found as unknown as Json };
  },
});
