import type { Incident } from '../domain/incident.ts';
import type { RunbookHit } from '../domain/memory.ts';
import { runbooksOf } from './collections.ts';
import type { Embedder, VectorHit, VectorStore } from './ports.ts';
import { queryText } from './recall-incidents.ts';
import { inverseFrequencies, wordsOf } from './words.ts';

/** The seed's number of runbooks. */
const K = 5;
/** Several chunks of one runbook may be near; words reorder what meaning found. */
const CHUNKS = 40;

/**
 * The runbooks of the incident's domain that fit best, by their best chunk. Found by meaning, ordered by meaning and by
 * rare words in common, because the name of an alert or an error is worth more than a similar sentence.
 */
export async function recallRunbooks(
  deps: { readonly vectors: VectorStore; readonly embedder: Embedder },
  incident: Incident,
  incidentType: string | null,
  timeoutMs: number,
): Promise<readonly RunbookHit[]> {
  const query = queryText(incident, incidentType);
  const [embedding] = await deps.embedder.embed([query]);
  if (!embedding) return [];
  const hits = await deps.vectors
    .collection(runbooksOf(incident.domain), deps.embedder.fingerprint)
    .query(embedding, CHUNKS, timeoutMs);
  const words = wordsOf([query, incident.annotations['summary'] ?? ''].join(' '));
  return bestOfEach(hits, words);
}

function bestOfEach(hits: readonly VectorHit[], query: ReadonlySet<string>): readonly RunbookHit[] {
  const chunkWords = hits.map(({ document }) => wordsOf(document));
  const weight = inverseFrequencies(chunkWords);
  const whole = [...query].reduce((sum, word) => sum + weight(word), 0) || 1;
  const best = new Map<string, RunbookHit>();
  hits.forEach((hit, i) => {
    const shared = [...query].filter((word) => chunkWords[i]?.has(word));
    const byWords = shared.reduce((sum, word) => sum + weight(word), 0) / whole;
    const score = (1 - hit.distance / 2 + byWords) / 2;
    const runbookId = String(hit.metadata['runbook_id'] ?? hit.id);
    if ((best.get(runbookId)?.score ?? -1) >= score) return;
    best.set(runbookId, {
      runbookId,
      title: String(hit.metadata['title'] ?? ''),
      heading: String(hit.metadata['heading'] ?? ''),
      text: hit.document,
      score: Math.round(score * 1000) / 1000,
    });
  });
  return [...best.values()].sort((a, b) => b.score - a.score).slice(0, K);
}
