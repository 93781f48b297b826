import type { Domain } from '../../domain/incident.ts';
import type { Sql } from '../../domain/sql.ts';
import { incidentsOf, runbooksOf } from '../collections.ts';
import type { Reader } from '../documents/access.ts';
import { type DocType, type Entities, noEntities, runbooksStore, type Trust } from '../documents/document.ts';
import type { DocumentRef, Documents } from '../documents/documents.ts';
import { pathOf } from '../promotion/check-runbook.ts';
import { type MemoryCandidate, type RankedMemory, rankMemories } from '../ranking/rank-memories.ts';
import { systemFactor } from '../ranking/system-factor.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import type { SearchAnswer, SearchHit, Space } from '../retrieval/types.ts';
import { readFacts, type SystemFacts } from '../systems/system-facts.ts';
import { outcomesOf } from './outcomes.ts';
import { passageFor } from './passage-for.ts';
import { runbookIdOf } from './runbook-id.ts';

/** The seed's: so many times more are fetched than are wanted, because the order changes with trust and the rest. */
const OVERFETCH = 3;

/** A memory of any kind that was found, with what its rank is made of. */
export interface FoundMemory extends MemoryCandidate {
  readonly kind: Space['kind'];
  /** Of the document, the runbook or the incident. */
  readonly id: string;
  /** Of a runbook, or of a document that is one; null for others. */
  readonly runbookId: string | null;
  readonly store: string;
  readonly path: string;
  readonly title: string;
  /** Headings above the passage, joined by ` › `; may be empty. */
  readonly heading: string;
  /** Prose: whole, or the section that fits best. */
  readonly content: string;
  /** 0 for what has no versions. */
  readonly version: number;
  /** What it was learnt on; null where that is not known. */
  readonly system: SystemFacts | null;
}

export interface MemoryQuery {
  readonly reader: Reader;
  readonly spaces: readonly Space[];
  /** Asked each by itself: what fits one of them is found, however much the others say. */
  readonly texts: readonly string[];
  /** What it is about; documents that are about the same come first. */
  readonly entities: Entities;
  /** Documents of another domain are left out; null: any. */
  readonly domain: Domain | null;
  readonly limit: number;
  readonly meaningWithinMs: number;
  /** What fits worse is left out: text relevance, 0 to 1, and its share of the best hit's for the same text. */
  readonly least?: { readonly text: number; readonly share: number };
  readonly without?: readonly string[];
  /** What the target runs now: what was learnt on another system counts less. */
  readonly system?: SystemFacts | null;
}

export interface FindDeps {
  readonly sql: Sql;
  readonly retrieval: Pick<Retrieval, 'search'>;
  readonly documents: Pick<Documents, 'read'>;
}

/**
 * Search, then the seed's re-ranking. Documents are read again as they are now, through the rule of who may read what: an
 * index that is behind shows nobody what they may not see, nor what was retired or forgotten.
 */
export async function findMemories(
  deps: FindDeps,
  query: MemoryQuery,
): Promise<{
  readonly found: readonly RankedMemory<FoundMemory>[];
  readonly meaning: SearchAnswer['meaning'];
}> {
  const { hits, meaning } = await searchAll(deps, query);
  const memories = bestOfEach(await Promise.all(hits.map((hit) => memoryOf(deps, query, hit))));
  const outcomes = await outcomesOf(
    deps.sql,
    memories.map((one) => one.runbookId ?? one.id),
  );
  const candidates = memories.map((one) => {
    const record = outcomes.get(one.runbookId ?? one.id);
    return record ? { ...one, outcomes: record } : one;
  });
  return { found: rankMemories(candidates, query.entities, new Date()).slice(0, query.limit), meaning };
}

/** A promoted runbook is found as what the playbook follows and as a document: it is one memory, as well as it fits best. */
function bestOfEach(found: readonly (FoundMemory | null)[]): readonly FoundMemory[] {
  const best = new Map<string, FoundMemory>();
  for (const one of found) {
    if (one === null) continue;
    const before = best.get(one.id);
    const runbookId = one.runbookId ?? before?.runbookId ?? null;
    best.set(one.id, { ...(before && before.text >= one.text ? before : one), runbookId });
  }
  return [...best.values()];
}

/** A hit of several texts counts by the one that it fits best. */
async function searchAll(
  { retrieval }: FindDeps,
  { texts, spaces, limit, meaningWithinMs, without = [], least = { text: 0, share: 0 } }: MemoryQuery,
): Promise<{ readonly hits: readonly SearchHit[]; readonly meaning: SearchAnswer['meaning'] }> {
  const k = limit * OVERFETCH + without.length;
  const answers = await Promise.all(
    texts.map((text) => retrieval.search({ text, spaces, k, meaningWithinMs, withText: true })),
  );
  const best = new Map<string, SearchHit>();
  for (const { hits } of answers) {
    const enough = Math.max(least.text, least.share * (hits[0]?.score ?? 0));
    for (const hit of hits) {
      const before = best.get(hit.key);
      if (hit.score < enough || without.includes(hit.key) || (before && before.score >= hit.score)) continue;
      best.set(hit.key, hit);
    }
  }
  return { hits: [...best.values()], meaning: answers[0]?.meaning ?? 'none' };
}

async function memoryOf(
  deps: FindDeps,
  { reader, domain, system = null, without = [] }: MemoryQuery,
  hit: SearchHit,
): Promise<FoundMemory | null> {
  const { space, key, title } = hit;
  const passage = (markdown: string) => {
    const { heading, text } = passageFor(hit, markdown);
    return { heading, content: text };
  };
  const ref = documentOf(hit);
  if (ref !== null) {
    const document = await deps.documents.read(reader, ref);
    if (!document || document.retiredAt !== null || without.includes(document.id)) return null;
    if (domain !== null && document.domain !== null && document.domain !== domain) return null;
    const { entities, trust, docType, updatedAt, version, path, store, system: then } = document;
    return {
      ...of(hit, trust, docType, updatedAt, entities),
      kind: 'document',
      id: document.id,
      store,
      path,
      title: document.title,
      ...passage(document.content),
      version,
      system: then,
      systemFactor: systemFactor(system, then),
      runbookId: space.kind === 'runbook' ? key : docType === 'runbook' ? runbookIdOf(document) : null,
    };
  }
  if (space.kind === 'incident') {
    const then = learntOn(hit);
    return {
      // Nobody has reviewed it, and the alert's own words are in it.
      ...of(hit, 'agent_draft', 'incident', hit.updatedAt, noEntities),
      system: then,
      systemFactor: systemFactor(system, then),
      store: incidentsOf(space.scope as Domain),
      path: key,
      title,
      heading: '',
      content: hit.text,
      version: 0,
      runbookId: null,
    };
  }
  return {
    ...of(hit, 'system_seeded', 'runbook', hit.updatedAt, noEntities),
    store: runbooksOf(space.scope as Domain),
    path: key,
    title,
    ...passage(hit.text),
    version: 0,
    system: null,
    runbookId: key,
  };
}

/** The document behind a hit: also of a promoted runbook, whose text and trust are the document's. */
function documentOf({ space, key, metadata }: SearchHit): DocumentRef | null {
  if (space.kind === 'document') return { id: key };
  const file = metadata['file'];
  const path = typeof file === 'string' ? pathOf(file) : null;
  return path === null ? null : { store: runbooksStore, incidentId: null, path };
}

function of(hit: SearchHit, trust: Trust, type: DocType, updatedAt: string, entities: Entities) {
  return {
    kind: hit.space.kind,
    id: hit.key,
    text: hit.score,
    trust,
    type,
    updatedAt: new Date(updatedAt),
    entities,
  };
}

function learntOn({ metadata }: SearchHit): SystemFacts | null {
  const facts = metadata['system_fingerprint'];
  return typeof facts === 'string' ? readFacts(JSON.parse(facts)) : null;
}
