import type { IncidentId } from '../../core/ids.ts';
import { asIncidentId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import type { HeldBack } from '../../core/memory.ts';
import type { Sql } from '../../core/sql.ts';
import { incidentsOf, runbooksOf } from '../../search/collections.ts';
import type { Retrieval } from '../../search/retrieval.ts';
import { type SearchAnswer, type SearchHit, type Space, spaceName } from '../../search/types.ts';
import { type Audiences, heldBackOf, toldOf } from '../audiences.ts';
import type { Reader } from '../documents/access.ts';
import { type DocType, type Entities, noEntities, runbooksStore, type Trust } from '../documents/document.ts';
import type { DocumentRef, Documents } from '../documents/documents.ts';
import { clusterText } from '../past/cluster-text.ts';
import { type Cluster, withoutNearCopies } from '../past/clusters.ts';
import { toldClusters } from '../past/load-clusters.ts';
import { pathOf } from '../promotion/check-runbook.ts';
import { type MemoryCandidate, type RankedMemory, rankMemories } from '../ranking/rank-memories.ts';
import { systemFactor } from '../ranking/system-factor.ts';
import type { SystemFacts } from '../systems/system-facts.ts';
import { documentsAbout, isAboutIt } from './about-it.ts';
import { outcomesOf, outcomesOfCases } from './outcomes.ts';
import { passageFor } from './passage-for.ts';
import { runbookIdOf } from './runbook-id.ts';

/** The seed's: so many times more are fetched than are wanted, because the order changes with trust and the rest. */
const OVERFETCH = 3;
/** Of past incidents, which are found apart from the rest: a hundred of one problem are one memory. */
const PAST = 100;

/** More of one service would leave no room for what fits the alert. */
const PLACES = 2;

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
  /**
   * In whose thread it will stand, or in an answer about it to `asker` alone: that decides which past incidents are told.
   * Null: before an operator at a shell.
   */
  readonly here: IncidentId | null;
  readonly asker?: string;
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
  /** Names of the service and the target: what an admin approved about the very same is found, however badly it fits. */
  readonly always?: readonly string[];
  readonly without?: readonly string[];
  /** What the target runs now: what was learnt on another system counts less. */
  readonly system?: SystemFacts | null;
}

export interface FindDeps {
  readonly sql: Sql;
  readonly retrieval: Pick<Retrieval, 'search'>;
  readonly documents: Pick<Documents, 'read'>;
  readonly audiences: Audiences;
  readonly log: Log;
}

export interface Found {
  readonly found: readonly RankedMemory<FoundMemory>[];
  /** Past incidents that fit and are not told; null: none. */
  readonly heldBack: HeldBack | null;
  readonly meaning: SearchAnswer['meaning'];
  /** Documents about the very service beyond the bound of how many are looked at. */
  readonly leftOut: number;
}

/**
 * Search, then the seed's re-ranking. Documents and incidents are read again as they are now, through the rules of who may
 * read what: an index that is behind, or that somebody else has written to, shows nobody what they may not see, nor what
 * was retired or forgotten.
 */
export async function findMemories(deps: FindDeps, query: MemoryQuery): Promise<Found> {
  const { without = [], always = [] } = query;
  const [{ hits: matching, meaning }, { hits: about, leftOut }] = await Promise.all([
    searchAll(deps, query),
    documentsAbout(deps.sql, query, always),
  ]);
  const unmatched = about.filter(({ key }) => !matching.some(({ hit }) => hit.key === key));
  const hits = [...matching, ...unmatched.map((hit) => ({ hit, of: 0 }))];
  const aboutIt = new Set(
    [...about, ...matching.map(({ hit }) => hit).filter((hit) => isAboutIt(hit, always))].map(
      ({ key }) => key,
    ),
  );
  const ids = hits.filter(isPast).map(({ hit }) => asIncidentId(hit.key));
  const told = await toldOf(deps, query.here, [...new Set(ids)], query.asker);
  const mayTell = (one: TextHit): boolean => !isPast(one) || told.ids.has(asIncidentId(one.hit.key));
  // What is not told is not what others are measured by either; what stands there already is.
  const fits = fitting(
    query,
    hits.filter((one) => mayTell(one) || without.includes(one.hit.key)),
  );
  const fresh = bestHits(
    hits.filter((one) => (fits(one) || aboutIt.has(one.hit.key)) && !without.includes(one.hit.key)),
  );
  const [memories, past] = await Promise.all([
    Promise.all(fresh.filter((one) => !isPast(one)).map(({ hit }) => memoryOf(deps, query, hit))).then(
      bestOfEach,
    ),
    pastOf(
      deps,
      query,
      fresh.filter((one) => isPast(one) && mayTell(one)),
    ),
  ]);
  const outcomes = await outcomesOf(
    deps.sql,
    memories.map((one) => one.runbookId ?? one.id),
  );
  const candidates = memories.map((one) => {
    const record = outcomes.get(one.runbookId ?? one.id);
    return record ? { ...one, outcomes: record } : one;
  });
  const ranked = rankMemories([...candidates, ...past], query.entities, new Date());
  return {
    found: withPlaces(ranked, aboutIt).slice(0, query.limit),
    heldBack: heldBackOf(
      told,
      fresh.filter(isPast).map(({ hit }) => asIncidentId(hit.key)),
    ),
    meaning,
    leftOut,
  };
}

/** By rank, but that a few which are about the very service follow the best one: neither limit nor budget ends before them. */
function withPlaces(
  [best, ...others]: readonly RankedMemory<FoundMemory>[],
  aboutIt: ReadonlySet<string>,
): readonly RankedMemory<FoundMemory>[] {
  if (best === undefined) return [];
  const moved = others.filter(({ memory }) => aboutIt.has(memory.id)).slice(0, PLACES);
  return [best, ...moved, ...others.filter((one) => !moved.includes(one))];
}

/** A hit with the text, by its place, that it was found by. */
interface TextHit {
  readonly hit: SearchHit;
  readonly of: number;
}

const isPast = ({ hit }: TextHit): boolean => hit.space.kind === 'incident';

/**
 * A past problem is one memory, however often it came. Where past incidents alone fill what a search looks at, the rest is
 * searched by itself.
 */
async function searchAll(
  { retrieval }: FindDeps,
  { texts, spaces, limit, meaningWithinMs, without = [] }: MemoryQuery,
): Promise<{ readonly hits: readonly TextHit[]; readonly meaning: SearchAnswer['meaning'] }> {
  const k = limit * OVERFETCH + without.length;
  const others = spaces.filter(({ kind }) => kind !== 'incident');
  const apart = others.length > 0 && others.length < spaces.length;
  const answers = await Promise.all(
    texts.map(async (text) => {
      const search = { text, meaningWithinMs };
      const answer = await retrieval.search({ ...search, spaces, k: apart ? k + PAST : k });
      const isFull = apart && answer.hits.length >= PAST;
      const rest = isFull ? (await retrieval.search({ ...search, spaces: others, k })).hits : [];
      return { ...answer, hits: [...answer.hits, ...rest] };
    }),
  );
  return {
    hits: answers.flatMap(({ hits }, of) => hits.map((hit) => ({ hit, of }))),
    meaning: answers[0]?.meaning ?? 'none',
  };
}

/**
 * What fits a text far worse than the best hit for it does is about something else. Past incidents by themselves: that the
 * same alert has come before says nothing against the runbook for it.
 */
function fitting(
  { least = { text: 0, share: 0 } }: MemoryQuery,
  hits: readonly TextHit[],
): (hit: TextHit) => boolean {
  const best = new Map<string, number>();
  const groupOf = (one: TextHit): string => `${one.of} ${isPast(one)}`;
  for (const one of hits) best.set(groupOf(one), Math.max(best.get(groupOf(one)) ?? 0, one.hit.score));
  return (one) => one.hit.score >= Math.max(least.text, least.share * (best.get(groupOf(one)) ?? 0));
}

/** A hit of several texts counts by the one that it fits best. */
function bestHits(hits: readonly TextHit[]): readonly TextHit[] {
  const best = new Map<string, TextHit>();
  for (const one of hits) {
    const key = `${spaceName(one.hit.space)} ${one.hit.key}`;
    const before = best.get(key);
    if (before === undefined || before.hit.score < one.hit.score) best.set(key, one);
  }
  return [...best.values()];
}

/** Past incidents of whom something is told, one memory a problem, from the record. */
async function pastOf(
  deps: FindDeps,
  query: MemoryQuery,
  hits: readonly TextHit[],
): Promise<readonly FoundMemory[]> {
  const { here, without = [], system = null } = query;
  const scores = new Map(hits.map(({ hit }) => [hit.key, hit.score]));
  const domains = [...new Set(hits.map(({ hit }) => hit.space.scope as Domain))];
  const found = await Promise.all(
    domains.map(async (domain) => {
      const ids = hits
        .filter(({ hit }) => hit.space.scope === domain)
        .map(({ hit }) => asIncidentId(hit.key));
      const clusters = await toldClusters(deps, { domain, ids, here, asker: query.asker });
      // Where one problem fills all that a search looks at, others of its kind are found by the record alone.
      const unseen = ids.length >= PAST ? Math.min(...scores.values()) : 0;
      return clusters.flatMap((cluster) => {
        const score = Math.max(...cluster.cases.map(({ id }) => scores.get(id) ?? unseen));
        const isNew = cluster.cases.every(({ id }) => !without.includes(id));
        return score > 0 && isNew ? [{ cluster, score, domain }] : [];
      });
    }),
  );
  const best = found.flat().toSorted((a, b) => b.score - a.score);
  return withoutNearCopies(best, ({ cluster }) => cluster).map(({ cluster, score, domain }) =>
    memoryOfPast(cluster, score, domain, system),
  );
}

function memoryOfPast(
  cluster: Cluster,
  score: number,
  domain: Domain,
  system: SystemFacts | null,
): FoundMemory {
  const { newest, cases } = cluster;
  const outcomes = outcomesOfCases(cases);
  return {
    kind: 'incident',
    id: newest.id,
    text: score,
    // Nobody has reviewed it, and the alert's own words are in it.
    trust: 'agent_draft',
    type: 'incident',
    updatedAt: new Date(newest.updatedAt),
    entities: noEntities,
    ...(outcomes === null ? {} : { outcomes }),
    system: newest.system,
    systemFactor: systemFactor(system, newest.system),
    store: incidentsOf(domain),
    path: newest.id,
    title: newest.title,
    heading: '',
    content: clusterText(cluster),
    version: 0,
    runbookId: null,
  };
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
