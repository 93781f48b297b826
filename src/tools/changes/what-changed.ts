import { z } from 'zod';
import type { Json } from '../../core/tool-call.ts';
import { defineChangesTool } from '../define.ts';
import { formatWhatChanged } from './format-what-changed.ts';

/** What was changed around this incident. Data: `WhatChanged`. */
export const whatChanged = defineChangesTool({
  name: 'what_changed',
  description:
    'What was changed on this incident’s system, its service and neighbours, from 2 h before it began until now: deployments, settings, migrations, each with a ref (c1), or who would have told of one. A suspect, never a cause by its time.',
  input: z.strictObject({
    since: z
      .union([z.int().min(1).max(43_200), z.string().max(40)])
      .optional()
      .describe('ISO 8601, or minutes before it began'),
    name: z.string().min(1).max(200).optional().describe('one system or service alone'),
  }),
  timeoutMs: 5_000,
  async run({ incidentId, changes, signal }, { since, name }) {
    const found = await changes.whatChanged(incidentId, {
      ...(since === undefined
        ? {}
        : { since: typeof since === 'string' && /^\d+$/.test(since) ? Number(since) : since }),
      ...(name === undefined ? {} : { name }),
      signal,
    });
    return 'ok' in found ? found : { text: formatWhatChanged(found), data: found as unknown as Json };
  },
});
