import { z } from 'zod';
import { notFound } from '../../memory/documents/documents.ts';
import { defineMemoryTool } from '../define.ts';
import { documentFields, learntOn, readerOf, refOf } from './inputs.ts';

const SHOWN = 50;

export const memoryHistory = defineMemoryTool({
  name: 'memory_history',
  description:
    'Lists the versions of a memory document, newest first: who wrote each, when, from which tool calls.',
  kind: 'memory_read',
  input: z.strictObject(documentFields),
  timeoutMs: 5_000,
  async run(context, input) {
    const ref = refOf(context, input);
    if ('ok' in ref) return ref;
    const versions = await context.memory.documents.history(readerOf(context), ref);
    if (versions.length === 0) return notFound();
    const shown = versions
      .slice(0, SHOWN)
      .map(({ number, at, writer, author, trust, sha256, system, sources }) => ({
        number,
        at,
        writer,
        author,
        trust,
        sha256,
        system,
        sources: sources.map(({ kind, ref: name }) => `${kind} ${name}`),
      }));
    const lines = shown.map(
      (one) =>
        `${one.number}  ${one.at}  by ${one.author} (${one.trust})  sha256 ${one.sha256}${learntOn(one.system)}  ${one.sources.join(', ')}`,
    );
    return { text: lines.join('\n').trimEnd(), data: shown };
  },
});
