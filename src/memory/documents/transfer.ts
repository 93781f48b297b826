import { z } from 'zod';
import type { IncidentId } from '../../core/ids.ts';
import { DomainName } from '../../core/incident.ts';
import type { Sql } from '../../core/sql.ts';
import { outwardText } from '../../safety/screen/boundary.ts';
import { docTypes, type SourceRef, trustLevels, userStore } from './document.ts';
import { actorOf, versionsOf } from './documents.ts';
import { EntitiesInput } from './new-document.ts';
import type { MemoryAudit } from './ports.ts';
import type { DocumentRow } from './rows.ts';
import { addUserStore, writeDocument } from './write-document.ts';

const EpisodeLine = z.object({
  kind: z.literal('episode'),
  incidentId: z.string().nullable(),
  actionId: z.string().nullable(),
  // No system remembers more, and PostgreSQL knows no year 0.
  at: z.iso.datetime().refine((at) => Date.parse(at) >= 0, 'expected a time since 1970'),
  error: z.string(),
  diagnosis: z.string(),
  command: z.string(),
  result: z.string(),
  success: z.boolean().nullable(),
  /** Exports of earlier versions do not have the rest. */
  target: z.string().nullable().default(null),
  system: z.record(z.string(), z.string()).nullable().default(null),
  archivedAt: z.iso.datetime().nullable().default(null),
});

const VersionLine = z.object({
  title: z.string(),
  content: z.string(),
  docType: z.enum(docTypes),
  trust: z.enum(trustLevels),
  domain: DomainName.nullable(),
  entities: EntitiesInput,
  author: z.string().min(1).max(100),
  /** Exports of earlier versions do not have it. */
  system: z.record(z.string(), z.string()).nullable().default(null),
  sources: z.array(z.object({ kind: z.enum(['tool_call', 'run', 'incident', 'document']), ref: z.string() })),
});

const DocumentLine = z.object({
  kind: z.literal('document'),
  store: z.string(),
  owner: z.string().nullable(),
  incidentId: z.string().nullable(),
  path: z.string(),
  /** Oldest first. */
  versions: z.array(VersionLine).min(1),
});

/** One line of an export: an episode, or a document with its whole history. */
export const MemoryLine = z.discriminatedUnion('kind', [EpisodeLine, DocumentLine]);
export type MemoryLine = z.infer<typeof MemoryLine>;

/** Everything memory holds in PostgreSQL, oldest first. For the operator: it asks nobody what they may read. */
export async function* exportMemory(sql: Sql): AsyncGenerator<MemoryLine> {
  const episodes = await sql<Omit<Extract<MemoryLine, { kind: 'episode' }>, 'kind'>>`
    SELECT incident_id AS "incidentId", action_id AS "actionId", archived_at AS "archivedAt", at, error, diagnosis, command,
           result, success, target, system
      FROM episode ORDER BY id`;
  for (const episode of episodes) yield { kind: 'episode', ...episode };
  const documents = await sql<Pick<DocumentRow, 'id' | 'store' | 'owner' | 'incident_id' | 'path'>>`
    SELECT d.id, d.store, s.owner, d.incident_id, d.path FROM memory_document d JOIN memory_store s ON s.slug = d.store
    ORDER BY d.created_at, d.id`;
  for (const { id, store, owner, incident_id: incidentId, path } of documents) {
    const versions = (await versionsOf(sql, id)).toReversed();
    yield {
      kind: 'document',
      store,
      owner,
      incidentId,
      path,
      versions: versions.map(
        ({ title, content, docType, trust, domain, entities, author, system, sources }) => ({
          title,
          content,
          docType,
          trust,
          domain,
          entities,
          author,
          system,
          sources,
        }),
      ),
    } as unknown as MemoryLine;
  }
}

export type Imported = 'added' | 'already there' | { readonly refused: string };

/**
 * Puts one exported line back, behind the same scanner and policy as every write. What is there already stays: a document
 * whose history differs gets the imported words as its newest version.
 */
export async function importLine(
  deps: { readonly sql: Sql; readonly audit: MemoryAudit },
  line: MemoryLine,
): Promise<Imported> {
  return line.kind === 'episode' ? importEpisode(deps.sql, line) : importDocument(deps, line);
}

async function importEpisode(sql: Sql, line: Extract<MemoryLine, { kind: 'episode' }>): Promise<Imported> {
  const { incidentId, actionId, at, success, target, system, archivedAt } = line;
  // An export of a version that knew fewer kinds of secrets, or one that somebody wrote by hand.
  const [error, diagnosis, command, result] = [line.error, line.diagnosis, line.command, line.result].map(
    outwardText,
  );
  const rows = await sql`
    INSERT INTO episode (incident_id, action_id, at, error, diagnosis, command, result, success, target, system,
                         archived_at)
    SELECT (SELECT id FROM incident WHERE id = ${incidentId}), ${actionId}, ${at}, ${error}, ${diagnosis}, ${command},
           ${result}, ${success}::boolean, ${target}, ${system === null ? null : sql.json(system)}::jsonb,
           ${archivedAt}::timestamptz
    WHERE NOT EXISTS (SELECT FROM episode WHERE at = ${at} AND error = ${error} AND command = ${command})
    ON CONFLICT (action_id) DO NOTHING RETURNING id`;
  return rows.length > 0 ? 'added' : 'already there';
}

async function importDocument(
  { sql, audit }: { readonly sql: Sql; readonly audit: MemoryAudit },
  { store, owner, incidentId, path, versions }: Extract<MemoryLine, { kind: 'document' }>,
): Promise<Imported> {
  // Whoever owns a store reads it, and nobody else writes in it: it is nobody's by another name.
  if (owner !== null && store !== userStore(owner))
    return { refused: `The store "${store.slice(0, 80)}" is not that of ${owner.slice(0, 80)}.` };
  return sql
    .begin(async (tx): Promise<Imported> => {
      if (owner !== null) await addUserStore(tx, store, owner);
      const [there] = await tx`
      SELECT id FROM memory_document
      WHERE store = ${store} AND coalesce(incident_id, '') = ${incidentId ?? ''} AND path = ${path}`;
      let changed = false;
      // An existing history is not told again: only what it says last may be new.
      for (const version of there ? versions.slice(-1) : versions) {
        const { author, trust, sources, system, ...document } = version;
        const writer = { kind: 'import', author, trust } as const;
        const written = await writeDocument(tx, writer, {
          place: { store, incidentId: incidentId as IncidentId | null },
          document: { path, ...document },
          sources: sources as readonly SourceRef[],
          system,
        });
        if (!written.ok) {
          // Of a history that is half refused nothing is kept.
          if (changed) throw new Refused(written.reason);
          return { refused: written.reason };
        }
        if (written.kind === 'unchanged') continue;
        changed = true;
        const { id, version: number, sha256 } = written.document;
        await audit.appendIn(tx, {
          kind: 'memory.imported',
          actor: actorOf(writer),
          details: { document: id, version: number, sha256 },
        });
      }
      return changed ? 'added' : 'already there';
    })
    .catch((error: unknown): Imported => {
      if (error instanceof Refused) return { refused: error.message };
      throw error;
    });
}

/** Rolls the import of one document back. */
class Refused extends Error {}
