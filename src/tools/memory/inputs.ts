import { z } from 'zod';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Reader } from '../../memory/documents/access.ts';
import { conversationStore, type MemoryDocument, type SourceRef } from '../../memory/documents/document.ts';
import type { DocumentRef } from '../../memory/documents/documents.ts';
import type { Writer } from '../../memory/documents/write-document.ts';
import { type SystemFacts, systemLine } from '../../memory/systems/system-facts.ts';
import type { MemoryToolContext } from '../define.ts';

/** A document by its id, or by store and path. */
export const documentFields = {
  id: z
    .string()
    .regex(/^doc_[0-9a-f]{32}$/)
    .optional()
    .describe('The document’s id.'),
  store: z.string().min(1).max(80).optional().describe('Its store; this conversation’s when left out.'),
  path: z.string().min(1).max(400).optional().describe('Its path in that store.'),
};

export const sourceFields = {
  tool_call_ids: z
    .array(z.string().regex(/^tc_[0-9a-z]{1,40}$/))
    .max(50)
    .default([])
    .describe('The tool calls of this incident that show it.'),
};

/** The incident is the caller's own, whatever the model would like. */
export function refOf(
  context: MemoryToolContext,
  input: {
    readonly id?: string | undefined;
    readonly store?: string | undefined;
    readonly path?: string | undefined;
  },
): DocumentRef | Refusal {
  if (input.id !== undefined) return { id: input.id };
  if (input.path === undefined) return refuse('BAD_INPUT', 'Give the id, or the path (and its store).');
  const store = input.store ?? conversationStore;
  return { store, incidentId: incidentIn(store, context.incidentId), path: input.path };
}

/** Only a conversation's documents belong to an incident. */
export function incidentIn(store: string, incidentId: IncidentId): IncidentId | null {
  return store === conversationStore ? incidentId : null;
}

/**
 * What an agent reads in an incident: workspace stores and this conversation. No person's own store: what a role reads
 * stands in the incident's record, which everybody in the thread can open.
 */
export function readerOf({ incidentId }: MemoryToolContext): Reader {
  return { kind: 'agent', incidentId, userId: null };
}

export function writerOf({ incidentId, role }: MemoryToolContext): Writer {
  return { kind: 'agent', role, incidentId };
}

export function sourcesOf(
  { incidentId, toolCallId }: MemoryToolContext,
  cited: readonly string[],
): readonly SourceRef[] {
  return [
    ...cited.map((ref) => ({ kind: 'tool_call', ref }) as SourceRef),
    { kind: 'run', ref: toolCallId },
    { kind: 'incident', ref: incidentId },
  ];
}

/** One line a document. */
export function lineOf(document: MemoryDocument): string {
  const { id, store, path, title, docType, trust, version, sha256, system } = document;
  return `${store}/${path} "${title}" (${docType}, ${trust}, version ${version}, ${id}, sha256 ${sha256}${learntOn(system)})`;
}

/** Appended to what a memory says of itself; empty where it is not known. */
export function learntOn(system: SystemFacts | null): string {
  return system === null ? '' : `, learnt on ${systemLine(system, true)}`;
}

export function dataOf({
  id,
  store,
  path,
  title,
  docType,
  trust,
  version,
  sha256,
  system,
  updatedAt,
}: MemoryDocument) {
  return { id, store, path, title, doc_type: docType, trust, version, sha256, system, updated_at: updatedAt };
}
