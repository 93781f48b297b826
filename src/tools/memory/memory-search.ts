import { z } from 'zod';
import { defineMemoryTool } from '../define.ts';
import { dataOf, lineOf, readerOf } from './inputs.ts';

const EXCERPT = 300;

export const memorySearch = defineMemoryTool({
  name: 'memory_search',
  description:
    'Searches what the team has written down: reviewed runbooks, conventions, and drafts of this incident. A first hypothesis, never evidence; drafts are marked agent_draft.',
  kind: 'memory_read',
  input: z.strictObject({
    query: z.string().min(1).max(500).describe('Symptoms, names, error words.'),
    limit: z.int().min(1).max(20).default(5),
  }),
  timeoutMs: 5_000,
  async run(context, { query, limit }) {
    const found = await context.memory.documents.search(readerOf(context), query, limit);
    return {
      text:
        found.length === 0
          ? 'Nothing in memory has these words.'
          : found.map((one) => `${lineOf(one)}\n${one.content.slice(0, EXCERPT)}`).join('\n\n'),
      data: found.map(dataOf),
    };
  },
});
