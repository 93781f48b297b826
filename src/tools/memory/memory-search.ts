import { z } from 'zod';
import { count } from '../../core/count.ts';
import { formatHeldBack } from '../../core/seen-before.ts';
import type { FoundMemory } from '../../memory/context/find-memories.ts';
import { defineMemoryTool } from '../define.ts';
import { learntOn, readerOf } from './inputs.ts';

/** Of a document, which can be read whole; and of what cannot. */
const EXCERPT = { document: 300, runbook: 1_000, incident: 1_000 } as const;

export const memorySearch = defineMemoryTool({
  name: 'memory_search',
  description:
    'Searches runbooks, past incidents of this domain and what the team has written down; says who vouches for each and whether it helped before. First hypotheses, never evidence; agent_draft: reviewed by nobody.',
  kind: 'memory_read',
  input: z.strictObject({
    query: z.string().min(1).max(500).describe('Symptoms, names, error words.'),
    limit: z.int().min(1).max(20).default(5),
  }),
  timeoutMs: 5_000,
  async run(context, { query, limit }) {
    const { found, heldBack, missing } = await context.memory.search(
      readerOf(context),
      context.incidentId,
      query,
      limit,
    );
    const parts = found.length === 0 ? ['Nothing in memory fits these words.'] : found.map(formatMemory);
    return {
      text: [
        ...parts,
        ...(heldBack === null ? [] : [formatHeldBack(heldBack)]),
        ...(missing === null ? [] : [missing]),
      ].join('\n\n'),
      data: found.map(dataOf),
    };
  },
});

function formatMemory(memory: FoundMemory): string {
  const { store, path, title, heading, type, trust, kind, content } = memory;
  const name = heading === '' ? title : `${title} › ${heading}`;
  const more = `${originOf(memory)}${learntOn(memory.system)}${recordOf(memory)}`;
  const shown = content.slice(0, EXCERPT[kind]);
  return `${store}/${path} "${name}" (${type}, ${trust}, ${more})\n${shown}${shown.length < content.length ? '…' : ''}`;
}

function originOf({ kind, id, version, updatedAt }: FoundMemory): string {
  switch (kind) {
    case 'document':
      return `version ${version}, ${id}`;
    case 'runbook':
      return 'from a file';
    case 'incident':
      return `of ${updatedAt.toISOString().slice(0, 10)}`;
  }
}

/** What following it, or what was done in it, led to. Empty when nobody knows. */
function recordOf({ outcomes }: FoundMemory): string {
  return outcomes === undefined
    ? ''
    : `, helped ${count(outcomes.worked, 'time')}, did not ${count(outcomes.failed, 'time')}`;
}

function dataOf(memory: FoundMemory) {
  const { kind, id, store, path, title, type, trust, version, system, outcomes } = memory;
  const record = outcomes === undefined ? null : { worked: outcomes.worked, failed: outcomes.failed };
  return {
    kind,
    id,
    store,
    path,
    title,
    doc_type: type,
    trust,
    version,
    system,
    record,
    updated_at: memory.updatedAt.toISOString(),
  };
}
