import { z } from 'zod';
import { count } from '../../core/count.ts';
import { refuse } from '../../core/errors.ts';
import { isEvidenceToolName, type ToolCall } from '../../core/tool-call.ts';
import { defineEvidenceTool } from '../define.ts';
import { fitting, numbered } from './lines.ts';

const MAX_HITS = 60;

/** Lines with a text in them, in this incident's stored outputs. Data: `{ sources, hits }`. */
export const evidenceGrep = defineEvidenceTool({
  name: 'evidence_grep',
  description:
    'Lines that contain a text (not a pattern, any case) in the stored outputs of this incident, or in one of them, with their numbers.',
  input: z.strictObject({
    text: z.string().min(2).max(200),
    id: z.string().max(64).nullable().default(null).describe('one tool_call_id; null for all'),
    around: z.int().min(0).max(5).default(0).describe('lines before and after'),
  }),
  timeoutMs: 5_000,
  async run({ incidentId, evidence }, { text, id, around }) {
    const calls = (await evidence.load(incidentId))?.toolCalls ?? [];
    const searched = calls.filter(
      (call) => call.state === 'ok' && !isEvidenceToolName(call.tool) && (id === null || call.id === id),
    );
    if (id !== null && searched.length === 0)
      return refuse('UNKNOWN_EVIDENCE', `This incident has no successful tool call ${id}.`);
    const found = searched
      .map((call) => ({ call, ...hitsIn(call, text, around) }))
      .filter(({ hits }) => hits > 0);
    const hits = found.reduce((sum, each) => sum + each.hits, 0);
    const lines = found.flatMap(({ call, shown }) => [`${call.tool} ${call.id}`, ...shown]);
    const fit = fitting(lines);
    const cut =
      fit.length < lines.length
        ? `; ${count(lines.length - fit.length, 'line')} not shown, narrow the text`
        : '';
    return {
      text: [
        `${count(hits, 'line')} in ${found.length} of ${count(searched.length, 'output')} contain “${text}”${cut}`,
        ...fit,
      ].join('\n'),
      data: { sources: found.map(({ call }) => call.id), hits },
    };
  },
});

function hitsIn(
  call: ToolCall,
  text: string,
  around: number,
): { readonly hits: number; readonly shown: string[] } {
  const wanted = text.toLowerCase();
  const lines = call.output.split('\n');
  const hits = lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index] : []));
  const shown = new Set(
    hits
      .slice(0, MAX_HITS)
      .flatMap((hit) => Array.from({ length: 2 * around + 1 }, (_, n) => hit - around + n)),
  );
  return {
    hits: hits.length,
    shown: [...shown]
      .filter((at) => at >= 0 && at < lines.length)
      .map((at) => numbered(lines[at] ?? '', at + 1)),
  };
}
