import { z } from 'zod';
import { defineMemoryTool } from '../define.ts';
import { dataOf, lineOf, readerOf } from './inputs.ts';

export const memoryList = defineMemoryTool({
  name: 'memory_list',
  description:
    'Lists memory documents you may read, by path, in one store or all; `prefix` narrows it to paths that begin so.',
  kind: 'memory_read',
  input: z.strictObject({
    store: z.string().min(1).max(80).optional(),
    prefix: z.string().max(200).optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  timeoutMs: 5_000,
  async run(context, { store, prefix, limit }) {
    const found = await context.memory.documents.list(readerOf(context), {
      limit,
      ...(store === undefined ? {} : { store }),
      ...(prefix === undefined ? {} : { prefix }),
    });
    return {
      text: found.length === 0 ? 'Nothing is there.' : found.map(lineOf).join('\n'),
      data: found.map(dataOf),
    };
  },
});
