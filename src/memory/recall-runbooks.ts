import type { Incident } from '../core/incident.ts';
import type { RunbookHit } from '../core/memory.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import { fittingRunbooks, hitOf } from '../runbooks/runbook-files.ts';
import { searchText } from '../search/search-text.ts';
import { type FindDeps, findMemories } from './context/find-memories.ts';
import { runbooksStore } from './documents/document.ts';
import { entitiesOf } from './ranking/entities-of.ts';
import { type MemoryCandidate, RANKING, type RankedMemory } from './ranking/rank-memories.ts';
import { documentSpace } from './sync/sync-documents.ts';
import type { SystemFacts } from './systems/system-facts.ts';

/** The seed's number of runbooks. */
export const RECALLED_RUNBOOKS = 5;

/**
 * The runbooks of the incident's domain that fit best, from files and promoted ones, each with the section that fits
 * best. Found by words also while the vector database is away. What helped before, or did not, moves a runbook among
 * those that fit about as well, and so does the system it was learnt on; how new its text is does not. Those whose own
 * matchers name the alert come first.
 */
export async function recallRunbooks(
  deps: FindDeps & { readonly runbooks: () => readonly Runbook[] },
  incident: Incident,
  incidentType: string | null,
  meaningWithinMs: number,
  system: SystemFacts | null = null,
): Promise<readonly RunbookHit[]> {
  const text = searchText(incident, incidentType);
  const { found } = await findMemories(deps, {
    reader: { kind: 'agent', incidentId: incident.id, userId: null },
    here: incident.id,
    spaces: [{ kind: 'runbook', scope: incident.domain }, documentSpace(runbooksStore, null)],
    texts: [text],
    entities: entitiesOf(text, incident.labels),
    domain: incident.domain,
    limit: 2 * RECALLED_RUNBOOKS,
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
  return fittingFirst([...best.values()], fittingRunbooks(deps.runbooks(), incident, incidentType)).slice(
    0,
    RECALLED_RUNBOOKS,
  );
}

/** What the alert names comes before what is only similar to it, found by the search or not. */
function fittingFirst(
  found: readonly RunbookHit[],
  fitting: ReturnType<typeof fittingRunbooks>,
): readonly RunbookHit[] {
  const best = found[0]?.score ?? 1;
  const named = fitting
    .filter(({ fit }) => fit !== 'text')
    .map(({ runbook }) => found.find(({ runbookId }) => runbookId === runbook.id) ?? hitOf(runbook, best));
  return [...named, ...found.filter(({ runbookId }) => !named.some((one) => one.runbookId === runbookId))];
}

function scoreOf({ parts, memory }: RankedMemory<MemoryCandidate>): number {
  const fits = (RANKING.text * parts.text + RANKING.trust * parts.trust) / (RANKING.text + RANKING.trust);
  return fits * (memory.systemFactor ?? 1);
}
