import { z } from 'zod';
import type { Json } from '../../core/tool-call.ts';
import { defineUsualTool } from '../define.ts';
import { formatUsual } from './format-usual.ts';

/** What the incident's target is like now, beside what is usual there. Data: `UsualValues`. */
export const usualValues = defineUsualTool({
  name: 'usual_values',
  description:
    'A few numbers of the target now against what is usual at this hour. What is unusual is a lead, not a cause.',
  input: z.strictObject({ number: z.string().min(1).max(60).optional() }),
  timeoutMs: 30_000,
  async run({ incidentId, usual, signal }, { number }) {
    const found = await usual.valuesOf(incidentId, { ...(number === undefined ? {} : { number }), signal });
    return 'ok' in found ? found : { text: formatUsual(found), data: found as unknown as Json };
  },
});
