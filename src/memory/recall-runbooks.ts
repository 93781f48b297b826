import type { Incident } from '../domain/incident.ts';
import type { RunbookHit } from '../domain/memory.ts';
import { type FindDeps, findMemories } from './context/find-memories.ts';
import { runbooksStore } from './documents/document.ts';
import { entitiesOf } from './ranking/entities-of.ts';
import { type MemoryCandidate, RANKING, type RankedMemory } from './ranking/rank-memories.ts';
import { searchText } from './retrieval/search-text.ts';
import { documentSpace } from './retrieval/sources/sync-documents.ts';
import type { SystemFacts } from './systems/system-facts.ts';

/** The seed's number of runbooks. */
const K = 5;

/**
 * The runbooks of the incident's domain that fit best, from files and promoted ones, each with the section that fits
 * best. Found by words also while the vector database is away. What helped before, or did not, moves a runbook among
 * those that fit about as well, and so does the system it was learnt on; how new its text is does not.
 */
export async function recallRunbooks(
  deps: FindDeps,
  incident: Incident,
  incidentType: string | null,
  meaningWithinMs: number,
  system: SystemFacts | null = null,
): Promise<readonly RunbookHit[]> {
  const text = searchText(incident, incidentType);
  const { found } = await findMemories(deps, {
    reader: { kind: 'agent', incidentId: incident.id, userId: null },
    spaces: [{ kind: 'runbook', scope: incident.domain }, documentSpace(runbooksStore, null)],
    texts: [text],
    entities: entitiesOf(text, incident.labels),
    domain: incident.domain,
    limit: 2 * K,
    meaningWithinMs,
    system,
  });
  const best = new Map<string, RunbookHit>();
  // Equal ones in a fixed order: the same incident is met by the same runbook.
  const id = ({ memory }: (typeof found)[number]): string => memory.runbookId ?? '';
  for (const one of found.toSorted((a, b) => scoreOf(b) - scoreOf(a) || (id(a) < id(b) ? -1 : 1))) {
    const { runbookId, title, heading, content } = one.memory;
    if (runbookId === null || best.has(runbookId)) continue;
    const score = Math.round(scoreOf(one) * 1000) / 1000;
    best.set(runbookId, { runbookId, title, heading: heading || title, text: content, score });
  }
  return [...best.values()].slice(0, K);
}

function scoreOf({ parts, memory }: RankedMemory<MemoryCandidate>): number {
  const fits = (RANKING.text * parts.text + RANKING.trust * parts.trust) / (RANKING.text + RANKING.trust);
  return fits * (memory.systemFactor ?? 1);
}
