import { messageOf } from '../../core/errors.ts';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import type { HeldBack } from '../../core/memory.ts';
import type { Sql } from '../../core/sql.ts';
import { within } from '../../core/within.ts';
import type { SearchAnswer } from '../../search/types.ts';
import type { Audiences } from '../audiences.ts';
import type { Reader } from '../documents/access.ts';
import type { MemoryDocument } from '../documents/document.ts';
import type { Documents } from '../documents/documents.ts';
import { entitiesOf } from '../ranking/entities-of.ts';
import { systemOf } from '../systems/systems.ts';
import { type FindDeps, type FoundMemory, findMemories } from './find-memories.ts';
import { documentSpacesOf, domainSpaces } from './spaces.ts';

/** A person or a role waits for it: words answer at once, meaning may take this long. */
const MEANING_MS = 500;
/** For bringing the index up to date; what is in it already answers when that takes longer. */
const REFRESH_MS = 1_000;
/** Where one fits by far best, what fits so much worse is about something else. */
const LEAST = { text: 0, share: 0.2 };

export interface MemoryAnswer {
  /** Best first. */
  readonly found: readonly FoundMemory[];
  /** That something fits which may not be told here; null: nothing does. */
  readonly heldBack: HeldBack | null;
  /** What could not be asked, for whoever reads the answer; null: nothing. */
  readonly missing: string | null;
}

/** What memory has for a text in an incident, readable by whoever asks. */
export type SearchMemories = (
  reader: Reader,
  incidentId: IncidentId,
  text: string,
  limit: number,
) => Promise<MemoryAnswer>;

const MISSING: Readonly<Record<SearchAnswer['meaning'], string | null>> = {
  used: null,
  none: null,
  late: 'Found by words alone: the vector database did not answer in time.',
  away: 'Found by words alone: the vector database does not answer.',
};

/**
 * Runbooks and past incidents of the incident's domain, and documents, by the retrieval that also prepares a model's
 * turns. The incident itself is no memory of itself.
 */
export function createSearchMemories(
  deps: FindDeps & { readonly refresh: () => Promise<void> },
): SearchMemories {
  return async (reader, incidentId, text, limit) => {
    const [documents, incident] = await Promise.all([
      documentSpacesOf(deps.sql, reader),
      incidentOf(deps.sql, incidentId),
      within(REFRESH_MS, deps.refresh()).catch((error: unknown) =>
        deps.log.warn({ error: messageOf(error) }, 'the index of documents could not be brought up to date'),
      ),
    ]);
    const about = entitiesOf(text);
    const { domain, target } = incident;
    const { found, heldBack, meaning } = await findMemories(deps, {
      reader,
      here: incidentId,
      spaces: [...domainSpaces(domain), ...documents],
      texts: [text],
      entities: target === null ? about : { ...about, resource: [...about.resource, target.toLowerCase()] },
      domain,
      limit,
      meaningWithinMs: MEANING_MS,
      least: LEAST,
      without: [incidentId],
      system: await systemOf(deps.sql, target),
    });
    return { found: found.map(({ memory }) => memory), heldBack, missing: MISSING[meaning] };
  };
}

/** What everybody's memory has for a text, outside of any incident. `past`: for whoever may read of every incident. */
export type SearchWorkspace = (
  text: string,
  options: { readonly limit: number; readonly domain: Domain | null; readonly past: boolean },
) => Promise<Pick<MemoryAnswer, 'found' | 'missing'>>;

/** Who takes part in nothing reads what everybody may. */
const everybody: Reader = { kind: 'person', userId: '', incidents: [] };

/** Runbooks, workspace documents and, for who may read of all of them, past incidents. */
export function createSearchWorkspace(
  deps: FindDeps & {
    readonly documents: Pick<Documents, 'search'>;
    readonly domains: readonly Domain[];
    readonly enabled: boolean;
  },
): SearchWorkspace {
  return async (text, { limit, domain, past }) => {
    // While memory is off: documents alone, by words in common.
    if (!deps.enabled) {
      const documents = await deps.documents.search(everybody, text, limit);
      return { found: documents.map(asFound), missing: null };
    }
    const inDomains = deps.domains
      .filter((one) => domain === null || one === domain)
      .flatMap(domainSpaces)
      .filter(({ kind }) => past || kind !== 'incident');
    const { found, meaning } = await findMemories(deps, {
      reader: everybody,
      here: null,
      spaces: [...inDomains, ...(await documentSpacesOf(deps.sql, everybody))],
      texts: [text],
      entities: entitiesOf(text),
      domain,
      limit,
      meaningWithinMs: MEANING_MS,
      least: LEAST,
    });
    return { found: found.map(({ memory }) => memory), missing: MISSING[meaning] };
  };
}

/** What memory has for one person's words, answered to them alone. */
export type SearchForPerson = (
  reader: Reader & { readonly kind: 'person' },
  text: string,
  options: {
    readonly limit: number;
    /** Which of these incidents they may read of. */
    readonly mayRead: (ids: readonly IncidentId[]) => Promise<ReadonlySet<IncidentId>>;
  },
) => Promise<Pick<MemoryAnswer, 'found' | 'missing'>>;

/** Of no incident's thread: who asks is who reads it. */
const NOWHERE = asIncidentId('INC-0');

/** Runbooks and past incidents of every domain, and the documents that this person may read. */
export function createSearchForPerson(
  deps: FindDeps & {
    readonly documents: Pick<Documents, 'search'>;
    readonly domains: readonly Domain[];
    readonly enabled: boolean;
    readonly refresh: () => Promise<void>;
  },
): SearchForPerson {
  return async (reader, text, { limit, mayRead }) => {
    if (!deps.enabled)
      return { found: (await deps.documents.search(reader, text, limit)).map(asFound), missing: null };
    await within(REFRESH_MS, deps.refresh()).catch((error: unknown) =>
      deps.log.warn({ error: messageOf(error) }, 'the index of documents could not be brought up to date'),
    );
    const audiences: Audiences = {
      ...deps.audiences,
      mayTell: async (_here, of) => {
        const ids = await mayRead(of);
        return { ids, keptBack: new Set(of.filter((id) => !ids.has(id))), isUnsure: false };
      },
    };
    const { found, meaning } = await findMemories(
      { ...deps, audiences },
      {
        reader,
        here: NOWHERE,
        spaces: [...deps.domains.flatMap(domainSpaces), ...(await documentSpacesOf(deps.sql, reader))],
        texts: [text],
        entities: entitiesOf(text),
        domain: null,
        limit,
        meaningWithinMs: MEANING_MS,
        least: LEAST,
      },
    );
    return { found: found.map(({ memory }) => memory), missing: MISSING[meaning] };
  };
}

/** Documents by words in common: all that is looked at while memory is off. */
export function createSearchWords(documents: Pick<Documents, 'search'>): SearchMemories {
  return async (reader, _incidentId, text, limit) => ({
    found: (await documents.search(reader, text, limit)).map(asFound),
    heldBack: null,
    missing: null,
  });
}

async function incidentOf(
  sql: Sql,
  id: IncidentId,
): Promise<{ readonly domain: Domain; readonly target: string | null }> {
  const [row] = await sql<{ domain: Domain; target: string | null }>`
    SELECT domain, target FROM incident WHERE id = ${id}`;
  if (!row) throw new TypeError(`no incident ${id}`);
  return row;
}

function asFound(document: MemoryDocument): FoundMemory {
  const { id, trust, docType, entities, updatedAt, store, path, title, content, version, system } = document;
  return {
    kind: 'document',
    id,
    text: 0,
    trust,
    type: docType,
    updatedAt: new Date(updatedAt),
    entities,
    runbookId: null,
    store,
    path,
    title,
    heading: '',
    content,
    version,
    system,
  };
}
