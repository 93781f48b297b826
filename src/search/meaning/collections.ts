import type { Domain } from '../../core/incident.ts';
import { incidentsOf, runbooksOf } from '../collections.ts';
import type { VectorHit } from '../ports.ts';
import type { Space } from '../types.ts';

/** Documents of all stores share one: there may be a store an incident, and a query reads one collection at a time. */
const DOCUMENTS = 'documents';

export function collectionOf({ kind, scope }: Space): string {
  if (kind === 'document') return DOCUMENTS;
  // What stands in a name is checked where domains come from; a collection of its own for any other word.
  return kind === 'runbook' ? runbooksOf(scope as Domain) : incidentsOf(scope as Domain);
}

/** `<key>#<n>`; in the shared collection with the store before it. */
export function chunkId(space: Space, key: string, n: number): string {
  return space.kind === 'document' ? `${space.scope}/${key}#${n}` : `${key}#${n}`;
}

/** Whose chunk a hit is: by its metadata, else by its id. Null when it belongs to another space. */
export function keyOfHit(space: Space, hit: VectorHit): string | null {
  const scope = hit.metadata['scope'];
  if (space.kind === 'document' && scope !== space.scope) return null;
  const named = hit.metadata['key'] ?? hit.metadata['runbook_id'] ?? hit.metadata['incident_id'];
  return named === undefined ? hit.id.replace(/#\d+$/, '') : String(named);
}
