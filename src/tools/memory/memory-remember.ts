import { z } from 'zod';
import { DomainName } from '../../core/incident.ts';
import { conversationStore, docTypes, userStore } from '../../memory/documents/document.ts';
import { DocumentPath, EntitiesInput } from '../../memory/documents/new-document.ts';
import { defineMemoryTool } from '../define.ts';
import { dataOf, incidentIn, sourceFields, sourcesOf, writerOf } from './inputs.ts';

export const memoryRemember = defineMemoryTool({
  name: 'memory_remember',
  description:
    'Creates or updates a memory document: a draft in this conversation, or a preference that a person of this incident has stated, in their own store. No secrets, no raw logs, no momentary state.',
  kind: 'memory_write',
  toolset: 'memory',
  input: z.strictObject({
    path: DocumentPath.describe('What it is found under, e.g. "runbooks/orders-lock".'),
    title: z.string().min(1).max(200),
    content: z.string().min(1).max(10_000).describe('Markdown.'),
    doc_type: z.enum(docTypes).default('note'),
    user: z
      .string()
      .regex(/^[UW][A-Z0-9]{2,20}$/)
      .optional()
      .describe('The person whose preference it is; only with doc_type user_preference.'),
    domain: DomainName.optional(),
    entities: EntitiesInput.optional(),
    ...sourceFields,
  }),
  timeoutMs: 5_000,
  async run(context, { path, title, content, doc_type, user, domain, entities, tool_call_ids }) {
    const store = user === undefined ? conversationStore : userStore(user);
    const written = await context.memory.documents.write(writerOf(context), {
      place: { store, incidentId: incidentIn(store, context.incidentId) },
      document: {
        path,
        title,
        content,
        docType: doc_type,
        domain: domain ?? null,
        ...(entities === undefined ? {} : { entities }),
      },
      sources: sourcesOf(context, tool_call_ids),
    });
    if (!written.ok) return written;
    const { version, sha256 } = written.document;
    return {
      text: `${written.kind}: ${store}/${path}, version ${version}, sha256 ${sha256}`,
      data: dataOf(written.document),
    };
  },
});
