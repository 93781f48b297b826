import { z } from 'zod';
import { notFound } from '../../memory/documents/documents.ts';
import { defineMemoryTool } from '../define.ts';
import { dataOf, documentFields, lineOf, readerOf, refOf } from './inputs.ts';

export const memoryRead = defineMemoryTool({
  name: 'memory_read',
  description:
    'Reads one memory document whole, by id or by store and path, with the SHA-256 that memory_patch wants.',
  kind: 'memory_read',
  input: z.strictObject(documentFields),
  timeoutMs: 5_000,
  async run(context, input) {
    const ref = refOf(context, input);
    if ('ok' in ref) return ref;
    const document = await context.memory.documents.read(readerOf(context), ref);
    if (!document) return notFound();
    return {
      text: `${lineOf(document)}\n\n${document.content}`,
      data: { ...dataOf(document), content: document.content },
    };
  },
});
