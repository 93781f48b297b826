import { z } from 'zod';
import { count } from '../../core/count.ts';
import { refuse } from '../../core/errors.ts';
import { asToolCallId } from '../../core/ids.ts';
import { defineEvidenceTool } from '../define.ts';
import { fitting, numbered } from './lines.ts';

/** Lines of a stored output of this incident. Data: `{ sources, from, to, of }`. */
export const evidenceRead = defineEvidenceTool({
  name: 'evidence_read',
  description:
    'Lines of an earlier output of this incident that was shown cut. Does not ask the live system again.',
  input: z.strictObject({
    id: z.string().max(64).describe('its tool_call_id'),
    from_line: z.int().min(1).default(1),
    lines: z.int().min(1).max(300).default(80),
  }),
  timeoutMs: 5_000,
  async run({ incidentId, evidence }, { id, from_line: from, lines }) {
    const call = await evidence.toolCall(asToolCallId(id));
    if (call === null || call.incidentId !== incidentId)
      return refuse('UNKNOWN_EVIDENCE', `This incident has no tool call ${id}.`);
    const all = call.output.split('\n');
    if (from > all.length) return refuse('PAST_END', `${id} has ${count(all.length, 'line')}.`);
    const shown = fitting(
      all.slice(from - 1, from - 1 + lines).map((line, index) => numbered(line, from + index)),
    );
    const to = from + shown.length - 1;
    const rest = to < all.length ? `; ${all.length - to} more from line ${to + 1}` : '';
    return {
      text: [`${call.tool} ${id}, lines ${from} to ${to} of ${all.length}${rest}`, ...shown].join('\n'),
      data: { sources: [id], from, to, of: all.length },
    };
  },
});
