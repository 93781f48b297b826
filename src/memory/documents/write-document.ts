import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentEventBody } from '../../core/event.ts';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import { isSuspicion, SUSPICION, scan } from '../../safety/screen/scan.ts';
import { sha256 } from '../../safety/sha256.ts';
import { denied, mayWrite, trustOf } from '../policy.ts';
import { readFacts, type SystemFacts, sameSystem } from '../systems/system-facts.ts';
import { systemOfIncident } from '../systems/systems.ts';
import {
  type MemoryDocument,
  type MemoryStore,
  type SourceRef,
  type StoreRef,
  type Trust,
  userStore,
  userStoreTitle,
} from './document.ts';
import { NewDocument } from './new-document.ts';
import type { DocumentRow } from './rows.ts';
import { toDocument } from './rows.ts';

/** In whose name a version is written. Whoever makes one has established that it is true. */
export type Writer =
  | { readonly kind: 'agent'; readonly role: string; readonly incidentId: IncidentId }
  /** `incidentId`: the incident in whose thread they write; null elsewhere. */
  | { readonly kind: 'user'; readonly userId: string; readonly incidentId: IncidentId | null }
  | { readonly kind: 'admin'; readonly userId: string }
  /** By the admin who approved it; `incidentId` is where the draft was written. */
  | { readonly kind: 'promotion'; readonly userId: string; readonly incidentId: IncidentId | null }
  | { readonly kind: 'system' }
  | { readonly kind: 'import'; readonly author: string; readonly trust: Trust };

export interface DocumentWrite {
  readonly place: StoreRef;
  readonly document: NewDocument;
  readonly sources: readonly SourceRef[];
  /**
   * The SHA-256 of what the writer saw: the write is refused when something else stands there now. Null: nothing may
   * stand there. Left out: whatever stands there becomes the version before this one.
   */
  readonly base?: string | null;
  /** What it was learnt on. Left out: what the target of the conversation's incident runs now; elsewhere nothing. */
  readonly system?: SystemFacts | null;
}

export interface FoundKind {
  readonly rule: string;
  readonly category: string;
  readonly where: 'title' | 'content' | 'other';
  /** UTF-16 code units within `where`. */
  readonly start: number;
  readonly end: number;
}

export type WriteResult =
  | {
      readonly ok: true;
      readonly kind: 'created' | 'updated' | 'unchanged';
      readonly document: MemoryDocument;
      /** What the writer, a person, is told of it: it may read like orders. */
      readonly warning?: string;
    }
  | WriteRefusal;

/** `findings`: kinds and places of what the scanner found, never the text. `currentSha256`: of a stale write, null when nothing is there. */
export type WriteRefusal = Refusal & {
  readonly findings?: readonly FoundKind[];
  readonly currentSha256?: string | null;
};

/**
 * The one place that writes a version; nothing else in the code inserts into `memory_version`. Shape, policy and scanner
 * come first, whoever writes: none of them has a way around. Concurrent writers of one path wait for each other on the
 * document's row, so each version follows the one before it.
 *
 * Expected refusals: MEMORY_BAD_INPUT, MEMORY_POLICY_DENIED, MEMORY_WRITE_BLOCKED, MEMORY_UNKNOWN_SOURCE, MEMORY_STALE.
 */
export async function writeDocument(tx: Tx, writer: Writer, write: DocumentWrite): Promise<WriteResult> {
  const parsed = NewDocument.safeParse(write.document);
  if (!parsed.success)
    return refuse(
      'MEMORY_BAD_INPUT',
      parsed.error.issues
        .slice(0, 5)
        .map(({ path, message }) => `${path.join('.') || 'document'}: ${message}`)
        .join('; '),
    );
  const store =
    (await findStore(tx, write.place.store)) ?? (await makeUserStore(tx, writer, write.place.store));
  if (!store) return denied(`There is no memory store "${write.place.store.slice(0, 80)}".`);
  if ((store.scope === 'conversation') !== (write.place.incidentId !== null))
    return denied('A conversation’s document belongs to an incident, and no other does.');
  const own = await isOwn(tx, writer, store, write.place.incidentId);
  const mayNot = mayWrite({ writer: writer.kind, scope: store.scope, docType: parsed.data.docType, own });
  if (mayNot) return mayNot;
  const screening = screen(parsed.data, store, writer);
  if (!screening.ok) return screening;
  const unknown = await unknownSource(tx, writer, write.sources);
  if (unknown) return unknown;
  const written = await upsert(tx, writer, store, { ...write, document: parsed.data });
  return written.ok && screening.suspicious ? { ...written, warning: SUSPICION } : written;
}

/** What a refused write tells the incident it was for; null when it belongs to none, or is the caller's own mistake. */
export function refusalEvent(write: DocumentWrite, refusal: WriteRefusal): IncidentEventBody | null {
  const { store } = write.place;
  if (refusal.code === 'MEMORY_WRITE_BLOCKED')
    return {
      type: 'memory.write.blocked',
      store,
      path: write.document.path,
      findings: (refusal.findings ?? []).map(({ rule, category }) => ({ rule, category })),
    };
  if (refusal.code === 'MEMORY_POLICY_DENIED')
    return {
      type: 'memory.policy.denied',
      store: store.slice(0, 80),
      docType: write.document.docType,
      reason: refusal.reason,
    };
  return null;
}

type Parsed = ReturnType<typeof NewDocument.parse>;

async function findStore(tx: Tx, slug: string): Promise<MemoryStore | null> {
  const [row] =
    await tx<MemoryStore>`SELECT slug, scope, owner, title FROM memory_store WHERE slug = ${slug}`;
  return row ?? null;
}

/** A person's own store is made by the first write of theirs, or of an agent for somebody who takes part in its incident. */
async function makeUserStore(tx: Tx, writer: Writer, slug: string): Promise<MemoryStore | null> {
  if (writer.kind !== 'user' && writer.kind !== 'agent') return null;
  const owners =
    writer.kind === 'user'
      ? [writer.userId]
      : (
          await tx<{
            owner: string;
          }>`SELECT unnest(requesters) AS owner FROM incident WHERE id = ${writer.incidentId}`
        ).map(({ owner }) => owner);
  const owner = owners.find((one) => userStore(one) === slug);
  if (owner === undefined) return null;
  await addUserStore(tx, slug, owner);
  return findStore(tx, slug);
}

export async function addUserStore(tx: Tx, slug: string, owner: string): Promise<void> {
  await tx`INSERT INTO memory_store (slug, scope, owner, title)
           VALUES (${slug}, 'user', ${owner}, ${userStoreTitle(owner)}) ON CONFLICT DO NOTHING`;
}

/** Whether the place is the writer's to write in, see `WriteRequest`. */
async function isOwn(
  tx: Tx,
  writer: Writer,
  store: MemoryStore,
  incidentId: IncidentId | null,
): Promise<boolean> {
  if (store.scope === 'workspace') return true;
  if (store.scope === 'conversation')
    return (writer.kind === 'agent' || writer.kind === 'user') && writer.incidentId === incidentId;
  if (writer.kind === 'user') return store.owner === writer.userId;
  if (writer.kind !== 'agent') return false;
  const rows = await tx`
    SELECT FROM incident WHERE id = ${writer.incidentId} AND ${store.owner} = ANY (requesters)`;
  return rows.length > 0;
}

/**
 * A person may write in a thread what reads like orders to the model, and elsewhere what no rule, only the linear model,
 * takes for such: they answer for it. A model may not, whosever words it repeats: what it reads next time would be an order
 * that nobody gave.
 */
function screen(
  document: Parsed,
  { scope }: MemoryStore,
  { kind }: Writer,
): { readonly ok: true; readonly suspicious: boolean } | WriteRefusal {
  const { title, content, path, entities } = document;
  const texts = {
    title,
    content,
    other: [path, ...Object.values(entities).flat()].join('\n'),
  };
  const strict = kind === 'agent';
  // What Sentry writes by itself repeats words of alerts and outputs, and an import brings many at once: nobody has read it.
  const byPerson = kind === 'user' || kind === 'admin' || kind === 'promotion';
  let blocked = false;
  const findings: FoundKind[] = [];
  for (const where of ['title', 'content', 'other'] as const) {
    const result = scan(texts[where], { scope, byPerson });
    blocked ||= result.blocked || (strict && result.findings.length > 0);
    for (const { rule, category, start, end } of result.findings)
      findings.push({ rule, category, where, start, end });
  }
  // One order in two fields is read as one.
  const both = strict && !blocked ? scan(`${title}\n${content}`, { scope }).findings : [];
  for (const { rule, category } of both.filter((one) => one.category === 'injection').slice(0, 1)) {
    blocked = true;
    findings.push({ rule, category, where: 'other', start: 0, end: 0 });
  }
  if (!blocked) return { ok: true, suspicious: findings.some(isSuspicion) };
  const isOrders = findings.every(({ category }) => category === 'injection');
  const kinds = [...new Set(findings.map(({ category }) => category.replaceAll('_', ' ')))].join(', ');
  return {
    ...refuse(
      'MEMORY_WRITE_BLOCKED',
      isOrders
        ? 'Not written: it reads like orders to a model. Memory keeps what was found and what helped, never instructions from an alert, an output or a thread.'
        : `Not written: the safety scanner found ${kinds}. Leave it out, or describe it in words.`,
    ),
    findings,
  };
}

/** A model may only cite calls of its own incident; the others' sources are the code's own. */
async function unknownSource(
  tx: Tx,
  writer: Writer,
  sources: readonly SourceRef[],
): Promise<Refusal | undefined> {
  if (writer.kind !== 'agent') return undefined;
  const cited = [
    ...new Set(sources.filter(({ kind }) => kind === 'tool_call').map(({ ref }) => ref as string)),
  ];
  if (cited.length === 0) return undefined;
  const rows = await tx<{ id: string }>`
    SELECT id FROM tool_call WHERE incident_id = ${writer.incidentId} AND id IN (SELECT jsonb_array_elements_text(${tx.json(cited)}))`;
  const known = new Set(rows.map(({ id }) => id));
  const missing = cited.filter((id) => !known.has(id));
  return missing.length === 0
    ? undefined
    : refuse(
        'MEMORY_UNKNOWN_SOURCE',
        `Not tool calls of this incident: ${missing.join(', ').slice(0, 200)}.`,
      );
}

/** What a version says of itself beside what it says. */
interface VersionMeta {
  readonly sha256: string;
  readonly trust: Trust;
  readonly author: string;
  readonly system: SystemFacts | null;
}

async function learntOn(tx: Tx, { system, place }: DocumentWrite): Promise<SystemFacts | null> {
  if (system !== undefined) return system;
  return place.incidentId === null ? null : systemOfIncident(tx, place.incidentId);
}

/** Its store, and so its owner, is known to whoever writes it. */
type StoredRow = Omit<DocumentRow, 'owner'>;

async function upsert(
  tx: Tx,
  writer: Writer,
  store: MemoryStore,
  write: DocumentWrite & { readonly document: Parsed },
): Promise<WriteResult> {
  const { document, place, base } = write;
  const meta: VersionMeta = {
    sha256: sha256(document.content),
    trust: writer.kind === 'import' ? writer.trust : trustOf[writer.kind],
    author: authorOf(writer),
    system: await learntOn(tx, write),
  };
  const { trust, author } = meta;
  const system = meta.system === null ? null : tx.json(meta.system);
  if (base === undefined || base === null) {
    const [created] = await tx<StoredRow>`
      INSERT INTO memory_document (store, scope, incident_id, path, version, sha256, title, content, doc_type, trust,
                                   domain, entities, author, system)
      VALUES (${store.slug}, ${store.scope}, ${place.incidentId}, ${document.path}, 1, ${meta.sha256}, ${document.title},
              ${document.content}, ${document.docType}, ${trust}, ${document.domain}, ${tx.json(document.entities)},
              ${author}, ${system}::jsonb)
      ON CONFLICT (store, coalesce(incident_id, ''), path) DO NOTHING RETURNING *`;
    if (created) {
      await insertVersion(tx, created.id, 1, writer, write, meta);
      return { ok: true, kind: 'created', document: toDocument({ ...created, owner: store.owner }) };
    }
  }
  const [now] = await tx<StoredRow>`
    SELECT * FROM memory_document
    WHERE store = ${store.slug} AND coalesce(incident_id, '') = ${place.incidentId ?? ''} AND path = ${document.path}
    FOR UPDATE`;
  if (base !== undefined && now?.sha256 !== base) return stale(now);
  // Forgotten between the two statements: as good as a document that has changed under the writer.
  if (!now) return stale(now);
  if (isSame(now, document, meta))
    return { ok: true, kind: 'unchanged', document: toDocument({ ...now, owner: store.owner }) };
  const number = now.version + 1;
  await insertVersion(tx, now.id, number, writer, write, meta);
  const [row] = await tx<StoredRow>`
    UPDATE memory_document SET version = ${number}, sha256 = ${meta.sha256}, title = ${document.title},
      content = ${document.content}, doc_type = ${document.docType}, trust = ${trust}, domain = ${document.domain},
      entities = ${tx.json(document.entities)}, author = ${author}, system = ${system}::jsonb, updated_at = clock_timestamp(), retired_at = NULL
    WHERE id = ${now.id} RETURNING *`;
  return { ok: true, kind: 'updated', document: toDocument({ ...now, ...row, owner: store.owner }) };
}

function stale(now: StoredRow | undefined): WriteRefusal {
  const currentSha256 = now?.sha256 ?? null;
  return {
    ...refuse(
      'MEMORY_STALE',
      currentSha256 === null
        ? 'There is no such document any more. Read again what is there.'
        : `Somebody has written it since: it is ${currentSha256} now. Read it again, then write on top of that.`,
    ),
    currentSha256,
  };
}

function isSame(now: StoredRow, document: Parsed, { sha256, trust, system }: VersionMeta): boolean {
  return (
    now.sha256 === sha256 &&
    now.title === document.title &&
    now.doc_type === document.docType &&
    now.trust === trust &&
    now.domain === document.domain &&
    now.retired_at === null &&
    sameEntities(now.entities, document.entities) &&
    // What is not known takes nothing back.
    (system === null || sameSystem(readFacts(now.system), system))
  );
}

function sameEntities(stored: unknown, wanted: Parsed['entities']): boolean {
  const has = (stored ?? {}) as Record<string, unknown>;
  return Object.entries(wanted).every(
    ([key, names]) => JSON.stringify(has[key] ?? []) === JSON.stringify(names),
  );
}

async function insertVersion(
  tx: Tx,
  documentId: string,
  number: number,
  writer: Writer,
  { document, sources }: DocumentWrite & { readonly document: Parsed },
  { sha256, trust, author, system }: VersionMeta,
): Promise<void> {
  await tx`
    INSERT INTO memory_version (document_id, number, sha256, title, content, doc_type, trust, domain, entities, writer, author,
                                system)
    VALUES (${documentId}, ${number}, ${sha256}, ${document.title}, ${document.content}, ${document.docType}, ${trust},
            ${document.domain}, ${tx.json(document.entities)}, ${writer.kind}, ${author},
            ${system === null ? null : tx.json(system)}::jsonb)`;
  for (const { kind, ref } of sources)
    await tx`
      INSERT INTO memory_source_ref (document_id, version, kind, ref) VALUES (${documentId}, ${number}, ${kind}, ${ref})
      ON CONFLICT DO NOTHING`;
}

function authorOf(writer: Writer): string {
  switch (writer.kind) {
    case 'agent':
      return writer.role;
    case 'system':
      return 'system';
    case 'import':
      return writer.author;
    case 'user':
    case 'admin':
    case 'promotion':
      return writer.userId;
  }
}

/** The incident a writer writes for, whose thread hears of a refusal. */
export function incidentOf(writer: Writer): IncidentId | null {
  return 'incidentId' in writer && writer.incidentId !== null ? asIncidentId(writer.incidentId) : null;
}
