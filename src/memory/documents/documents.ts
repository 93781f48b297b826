import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import { type Domain, domainFault } from '../../core/incident.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { denied } from '../policy.ts';
import { mayRead, type Reader, reachOf } from './access.ts';
import type { MemoryDocument, MemoryVersion, SourceRef, StoreRef } from './document.ts';
import { userStore } from './document.ts';
import type { MemoryAudit, MemoryEvents } from './ports.ts';
import type { DocumentRow, VersionRow } from './rows.ts';
import { toDocument, toVersion } from './rows.ts';
import { searchByWords } from './search-by-words.ts';
import {
  addUserStore,
  type DocumentWrite,
  incidentOf,
  refusalEvent,
  type WriteRefusal,
  type WriteResult,
  type Writer,
  writeDocument,
} from './write-document.ts';

/** A document by id, or by its place and path. */
export type DocumentRef = { readonly id: string } | (StoreRef & { readonly path: string });

export interface Patch {
  readonly ref: DocumentRef;
  /** Of the content the writer saw. */
  readonly baseSha256: string;
  /** The whole new content; title, type and entities stay. */
  readonly content: string;
  readonly sources: readonly SourceRef[];
}

export interface ShownDocument {
  readonly documentId: string;
  readonly version: number;
  readonly trust: string;
  readonly tokens: number;
}

/** Memory documents. Every read names its reader, and what that reader may not read does not exist for them. */
export interface Documents {
  /** Creates the document or adds a version to it. Refusals are values, and told to the writer's incident. */
  write(writer: Writer, write: DocumentWrite): Promise<WriteResult>;
  /** Replaces the content of what the writer has seen, and of nothing else. */
  patch(writer: Writer, reader: Reader, patch: Patch): Promise<WriteResult>;
  read(reader: Reader, ref: DocumentRef): Promise<MemoryDocument | null>;
  /** By path. Without retired ones. */
  list(reader: Reader, options?: ListOptions): Promise<readonly MemoryDocument[]>;
  /** Newest first; empty when there is no such document for this reader. */
  history(reader: Reader, ref: DocumentRef): Promise<readonly MemoryVersion[]>;
  /** Best first, by words in common; retrieval for prompts does better. */
  search(reader: Reader, text: string, limit: number): Promise<readonly MemoryDocument[]>;
  /** Of the person's own, or of a draft of theirs: found by nobody any more; its history stays. */
  retire(userId: string, documentId: string): Promise<{ readonly ok: true } | Refusal>;
  /** What a run put into a prompt; the same again is recorded once. */
  recordUsage(tx: Tx, incidentId: IncidentId, run: string, shown: readonly ShownDocument[]): Promise<void>;
  /** Makes the person's own store unless it is there; returns its slug. */
  ensureUserStore(userId: string): Promise<string>;
}

export interface ListOptions {
  readonly store?: string;
  /** Paths that begin with it. */
  readonly prefix?: string;
  readonly limit?: number;
}

export interface DocumentsDeps {
  readonly sql: Sql;
  readonly events: MemoryEvents;
  readonly audit: MemoryAudit;
  /** MEMORY_ENABLED: when false nothing is written. */
  readonly enabled: boolean;
  /** A document is for one of them, or for all. */
  readonly domains: readonly Domain[];
}

const MOST = 500;
/** How many documents a search by words looks at, newest first. */
const SEARCHED = 5_000;

export function createDocuments(deps: DocumentsDeps): Documents {
  const { sql } = deps;

  async function find(reader: Reader, ref: DocumentRef): Promise<MemoryDocument | null> {
    const rows =
      'id' in ref
        ? await sql<DocumentRow>`SELECT d.*, s.owner FROM memory_document d JOIN memory_store s ON s.slug = d.store WHERE d.id = ${ref.id}`
        : await sql<DocumentRow>`SELECT d.*, s.owner FROM memory_document d JOIN memory_store s ON s.slug = d.store
                    WHERE d.store = ${ref.store} AND coalesce(d.incident_id, '') = ${ref.incidentId ?? ''}
                      AND d.path = ${ref.path}`;
    const document = rows[0] ? toDocument(rows[0]) : null;
    return document && mayRead(reader, document) ? document : null;
  }

  /** Readable ones, newest first. */
  async function readable(reader: Reader, options: ListOptions): Promise<readonly MemoryDocument[]> {
    const { all, owners, incidents } = reachOf(reader);
    // Lists as JSON: postgres.js does not know what an array is before its first connection stands.
    const rows = await sql<DocumentRow>`
      SELECT d.*, s.owner FROM memory_document d JOIN memory_store s ON s.slug = d.store
      WHERE d.retired_at IS NULL AND starts_with(d.path, ${options.prefix ?? ''})
        AND (${options.store ?? null}::text IS NULL OR d.store = ${options.store ?? null})
        AND (${all} OR d.scope = 'workspace' OR s.owner IN (SELECT jsonb_array_elements_text(${sql.json(owners)}))
             OR d.incident_id IN (SELECT jsonb_array_elements_text(${sql.json(incidents)})))
      ORDER BY d.updated_at DESC, d.id LIMIT ${options.limit ?? MOST}`;
    return rows.map(toDocument).filter((document) => mayRead(reader, document));
  }

  async function write(writer: Writer, wanted: DocumentWrite): Promise<WriteResult> {
    if (!deps.enabled) return denied('Memory is off (MEMORY_ENABLED=false).');
    const { domain } = wanted.document;
    const fault = domain && domainFault(domain, deps.domains);
    if (fault) return refuse('MEMORY_BAD_INPUT', fault);
    return sql.begin(async (tx) => {
      const written = await writeDocument(tx, writer, wanted);
      if (!written.ok) await tellRefusal(tx, deps, writer, wanted, written);
      else if (written.kind !== 'unchanged') await auditWrite(tx, deps, writer, written.document);
      const incidentId = written.ok ? written.document.incidentId : null;
      if (incidentId && writer.kind === 'user') await deps.events.addRequester(tx, incidentId, writer.userId);
      return written;
    });
  }

  return {
    write,
    read: find,

    async patch(writer, reader, { ref, baseSha256, content, sources }) {
      const there = await find(reader, ref);
      if (!there) return notFound();
      return write(writer, {
        ...asWrite(there),
        document: { ...asWrite(there).document, content },
        sources,
        base: baseSha256,
      });
    },

    async list(reader, options = {}) {
      const found = await readable(reader, options);
      return found.toSorted((a, b) => (a.store + a.path < b.store + b.path ? -1 : 1));
    },

    async history(reader, ref) {
      const document = await find(reader, ref);
      return document ? versionsOf(sql, document.id) : [];
    },

    async search(reader, text, limit) {
      return searchByWords(await readable(reader, { limit: SEARCHED }), text, limit);
    },

    retire: (userId, documentId) =>
      sql.begin(async (tx) => {
        const rows = await tx`
          UPDATE memory_document SET retired_at = clock_timestamp()
           WHERE id = ${documentId} AND retired_at IS NULL
             AND (store = ${userStore(userId)} OR (scope = 'conversation' AND author = ${userId})) RETURNING id`;
        if (rows.length === 0)
          return denied('Only who wrote it takes it back; an admin takes back what is everybody’s.');
        await deps.audit.appendIn(tx, {
          kind: 'memory.retired',
          actor: userId,
          details: { document: documentId },
        });
        return { ok: true } as const;
      }),

    async recordUsage(tx, incidentId, run, shown) {
      for (const { documentId, version, trust, tokens } of shown)
        await tx`
          INSERT INTO memory_usage (incident_id, run, document_id, version, trust, tokens)
          VALUES (${incidentId}, ${run}, ${documentId}, ${version}, ${trust}, ${tokens}) ON CONFLICT DO NOTHING`;
    },

    async ensureUserStore(userId) {
      const slug = userStore(userId);
      await addUserStore(sql, slug, userId);
      return slug;
    },
  };
}

/** Puts a refused write on its incident's record; one without an incident is audited alone. */
export async function tellRefusal(
  tx: Tx,
  { events, audit }: Pick<DocumentsDeps, 'events' | 'audit'>,
  writer: Writer,
  write: DocumentWrite,
  refusal: WriteRefusal,
): Promise<void> {
  const event = refusalEvent(write, refusal);
  if (!event) return;
  const incidentId = incidentOf(writer);
  if (incidentId) await events.append(tx, incidentId, event);
  await audit.appendIn(tx, {
    kind: 'memory.refused',
    actor: actorOf(writer),
    incidentId,
    details: {
      code: refusal.code,
      store: write.place.store.slice(0, 80),
      found: (refusal.findings ?? []).map(({ rule }) => rule),
    },
  });
}

export async function auditWrite(
  tx: Tx,
  { audit }: Pick<DocumentsDeps, 'audit'>,
  writer: Writer,
  document: MemoryDocument,
): Promise<void> {
  // Names and hashes, no words of it: what is forgotten must not live on in a log that cannot be changed.
  await audit.appendIn(tx, {
    kind: 'memory.written',
    actor: actorOf(writer),
    incidentId: incidentOf(writer),
    details: {
      document: document.id,
      version: document.version,
      store: document.store,
      sha256: document.sha256,
    },
  });
}

export function actorOf(writer: Writer): string {
  if (writer.kind === 'agent') return writer.role;
  if (writer.kind === 'import') return 'operator';
  return writer.kind === 'system' ? 'system' : writer.userId;
}

/** The write that would leave a document as it is. */
export function asWrite(document: MemoryDocument): DocumentWrite {
  const { store, incidentId, path, title, content, docType, domain, entities, sha256 } = document;
  return {
    place: { store, incidentId },
    document: { path, title, content, docType, domain, entities: mutable(entities) },
    sources: [],
    base: sha256,
  };
}

function mutable(entities: MemoryDocument['entities']) {
  const { namespace, resource, environment, service } = entities;
  return {
    namespace: [...namespace],
    resource: [...resource],
    environment: [...environment],
    service: [...service],
  };
}

/** Newest first, with their sources. */
export async function versionsOf(sql: Tx, documentId: string): Promise<readonly MemoryVersion[]> {
  const [rows, refs] = await Promise.all([
    sql<VersionRow>`SELECT * FROM memory_version WHERE document_id = ${documentId} ORDER BY number DESC`,
    sql<
      SourceRef & { readonly version: number }
    >`SELECT version, kind, ref FROM memory_source_ref WHERE document_id = ${documentId} ORDER BY kind, ref`,
  ]);
  return rows.map((row) =>
    toVersion(
      row,
      refs.flatMap(({ version, ...source }) => (version === row.number ? [source] : [])),
    ),
  );
}

export function notFound(): Refusal {
  return refuse('MEMORY_NOT_FOUND', 'There is no such document that you may read.');
}
