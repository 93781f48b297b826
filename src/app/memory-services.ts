import type { Incident } from '../core/incident.ts';
import { createChromaStore } from '../infra/chroma/client.ts';
import { createDocuments } from '../memory/documents/documents.ts';
import { createWorkspaceRunbooks } from '../memory/promotion/workspace-runbooks.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import { runbookVersion } from '../runbooks/runbook-version.ts';
import { runbooksFor } from '../runbooks/runbooks-for.ts';
import { redact } from '../safety/screen/redact.ts';
import { createBotMemory } from './bot-memory.ts';
import { openEmbedding } from './embedding.ts';
import type { Foundations } from './foundations.ts';
import type { Guards } from './guards.ts';

export type MemoryServices = Awaited<ReturnType<typeof createMemoryServices>>;

/** What is remembered, and found again: documents, past incidents, the runbooks of the files and those promoted since. */
export async function createMemoryServices(on: Foundations, { audit }: Guards) {
  const { config, sql, log, records, registry, domains, runbookFiles } = on;
  const { chromaHost } = on.parts;
  const { enabled } = config.memory;
  const promoted = createWorkspaceRunbooks({ sql, tools: registry, domains, files: () => runbookFiles, log });
  const allRunbooks = (): readonly Runbook[] => [...on.runbooks, ...promoted.current()];
  /** Those that can be followed for this incident. */
  const knownRunbooks = ({ target }: Pick<Incident, 'target'>): readonly Runbook[] =>
    runbooksFor(allRunbooks(), on.targets.get(target ?? '')?.kind, registry);
  const documents = createDocuments({ sql, events: records, audit, enabled, domains });
  const vectors = createChromaStore({ host: chromaHost, log });
  const embedding = await openEmbedding({
    sql,
    chromaHost,
    vectors,
    choice: config.memory.embedding,
    domains,
    enabled,
    log,
  });
  const memory = createBotMemory({
    sql,
    records,
    audit,
    vectors,
    embedder: embedding.embedder,
    documents,
    audiences: on.slackWorkspace.audiences,
    runbooks: allRunbooks,
    domains,
    settings: config.memory,
    redact,
    log,
  });
  return {
    promoted,
    knownRunbooks,
    /** All, for people who look them up. */
    knownToPeople: allRunbooks,
    runbookVersion: (id: string) => runbookVersion(allRunbooks(), id),
    documents,
    embedding,
    memory,
    /** What a draft is held against on its way into the workspace. */
    proposing: {
      sql,
      events: records,
      audit,
      enabled,
      documents,
      runbooks: {
        tools: registry,
        domains,
        get sources() {
          return [...runbookFiles, ...promoted.sources()];
        },
      },
    },
  };
}
