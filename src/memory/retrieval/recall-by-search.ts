import type { Incident } from '../../domain/incident.ts';
import type { RunbookHit } from '../../domain/memory.ts';
import { bestPassage } from './best-passage.ts';
import type { Retrieval } from './retrieval.ts';

/** The seed's number of runbooks. */
const K = 5;

/**
 * The runbooks of the incident's domain that fit best, each with the section that fits best. Found by words also while
 * the vector database is away.
 */
export async function recallBySearch(
  retrieval: Retrieval,
  incident: Incident,
  incidentType: string | null,
  meaningWithinMs: number,
): Promise<readonly RunbookHit[]> {
  const { hits } = await retrieval.search({
    text: searchText(incident, incidentType),
    spaces: [{ kind: 'runbook', scope: incident.domain }],
    k: K,
    meaningWithinMs,
    withText: true,
  });
  return hits.map((hit) => {
    const { heading, text } = bestPassage(hit);
    const score = Math.round(hit.score * 1000) / 1000;
    return { runbookId: hit.key, title: hit.title, heading: heading || hit.title, text, score };
  });
}

/** The kind and the title are the seed's query; what the alert says of itself tells siblings apart. */
export function searchText(incident: Incident, incidentType: string | null): string {
  const { title, alertName, annotations } = incident;
  return [
    incidentType?.replaceAll('_', ' '),
    title,
    alertName === title ? null : alertName,
    annotations['summary'],
    annotations['description'],
  ]
    .filter(Boolean)
    .join('\n');
}
