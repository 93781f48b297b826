import { z } from 'zod';
import type { Json } from '../../core/tool-call.ts';
import { defineUsualTool } from '../define.ts';
import { formatUsual } from './format-usual.ts';

/** What the incident's target is like now, beside what is usual there. Data: `UsualValues`. */
export const usualValues = defineUsualTool({
  name: 'usual_values',
  description: 'The target’s numbers now against usual.',
  input: z.strictObject({}),
  timeoutMs: 30_000,
  async run({ incidentId, usual, signal }) {
    const found = await usual.valuesOf(incidentId, signal);
    return 'ok' in found ? found : { text: formatUsual(found), data: found as unknown as Json };
  },
});
