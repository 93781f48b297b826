import { z } from 'zod';
import { defineMemoryTool } from '../define.ts';
import { dataOf, documentFields, readerOf, refOf, sourceFields, sourcesOf, writerOf } from './inputs.ts';

export const memoryPatch = defineMemoryTool({
  name: 'memory_patch',
  description:
    'Replaces the content of a memory document that nobody has changed since you read it. Refused with the current hash when somebody has: read it again then.',
  kind: 'memory_write',
  toolset: 'memory',
  input: z.strictObject({
    ...documentFields,
    base_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('The sha256 of what you have read.'),
    content: z.string().min(1).max(10_000).describe('The whole new content.'),
    ...sourceFields,
  }),
  timeoutMs: 5_000,
  async run(context, { base_sha256, content, tool_call_ids, ...named }) {
    const ref = refOf(context, named);
    if ('ok' in ref) return ref;
    const written = await context.memory.documents.patch(writerOf(context), readerOf(context), {
      ref,
      baseSha256: base_sha256,
      content,
      sources: sourcesOf(context, tool_call_ids),
    });
    if (!written.ok) return written;
    const { path, version, sha256 } = written.document;
    return {
      text: `${written.kind}: ${path}, version ${version}, sha256 ${sha256}`,
      data: dataOf(written.document),
    };
  },
});
