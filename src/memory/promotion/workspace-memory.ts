import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import type { Reader } from '../documents/access.ts';
import type { MemoryDocument, MemoryVersion, SourceRef } from '../documents/document.ts';
import {
  asWrite,
  auditWrite,
  type Documents,
  type ListOptions,
  tellRefusal,
  versionsOf,
} from '../documents/documents.ts';
import type { MemoryAudit, MemoryEvents } from '../documents/ports.ts';
import { type WriteResult, type Writer, writeDocument } from '../documents/write-document.ts';
import { denied } from '../policy.ts';
import { badRunbook, checkRunbook } from './check-runbook.ts';
import { type DryRunDeps, failed, reported } from './dry-runs.ts';
import type { IsAdmin } from './ports.ts';
import { queueChunks, unqueueChunks } from './promoted-chunks.ts';

/**
 * What admins do with workspace documents: read, edit, roll back, retire. Every change is checked like a promotion, makes a
 * version, is audited, and reaches Chroma. Refusals: NOT_ADMIN, MEMORY_NOT_FOUND, MEMORY_STALE (with the current hash),
 * MEMORY_BAD_INPUT, MEMORY_WRITE_BLOCKED, MEMORY_BAD_RUNBOOK, MEMORY_DRY_RUN.
 */
export interface WorkspaceMemory {
  list(
    options?: Omit<ListOptions, 'limit'> & { readonly limit?: number },
  ): Promise<readonly MemoryDocument[]>;
  /** Also a retired one. */
  read(documentId: string): Promise<MemoryDocument | null>;
  /** Newest first. */
  history(documentId: string): Promise<readonly MemoryVersion[]>;
  /** `base`: the SHA-256 of the text that the admin has seen. */
  edit(edit: {
    readonly by: string;
    readonly documentId: string;
    readonly content: string;
    readonly base: string;
  }): Promise<WriteResult>;
  /** Says again what an older version said, as a new version; a retired document comes back by it. */
  rollBack(by: string, documentId: string, to: number): Promise<WriteResult>;
  /** Found by nobody any more, and gone from Chroma; its history stays. */
  retire(by: string, documentId: string): Promise<{ readonly ok: true } | Refusal>;
}

export interface WorkspaceDeps extends DryRunDeps {
  readonly documents: Pick<Documents, 'read' | 'list' | 'history'>;
  readonly events: MemoryEvents;
  readonly audit: MemoryAudit;
  readonly isAdmin: IsAdmin;
  readonly enabled: boolean;
}

/** A person who takes part in nothing: what everybody may read. */
const everybody: Reader = { kind: 'person', userId: '', incidents: [] };

export function createWorkspaceMemory(deps: WorkspaceDeps): WorkspaceMemory {
  const { sql, documents, audit } = deps;

  const read = async (documentId: string): Promise<MemoryDocument | null> => {
    const found = await documents.read(everybody, { id: documentId });
    return found?.scope === 'workspace' ? found : null;
  };

  async function notAdmin(by: string, documentId: string): Promise<Refusal | undefined> {
    if (await deps.isAdmin(by)) return undefined;
    const details = { code: 'NOT_ADMIN', document: documentId.slice(0, 60) };
    await sql.begin((tx) => audit.appendIn(tx, { kind: 'memory.refused', actor: by, details }));
    return refuse('NOT_ADMIN', 'Only admins change what everybody’s memory says.');
  }

  /** One new version of a document that is there, and its pieces in Chroma, or nothing at all. */
  async function change(
    by: string,
    there: MemoryDocument,
    to: Pick<MemoryDocument, 'title' | 'content' | 'docType' | 'domain' | 'entities' | 'system'>,
    sources: readonly SourceRef[],
    base: string,
  ): Promise<WriteResult> {
    if (!deps.enabled) return denied('Memory is off (MEMORY_ENABLED=false).');
    const writer: Writer = { kind: 'admin', userId: by };
    const write = { ...asWrite({ ...there, ...to }), system: to.system, sources, base };
    const checked = checkRunbook(there.path, to.content, deps.runbooks);
    if (checked.kind === 'wrong') return badRunbook(checked.problems);
    const runbook = checked.kind === 'runbook' ? checked.runbook : null;
    return sql.begin(async (tx) => {
      const written = await writeDocument(tx, writer, write);
      if (!written.ok) await tellRefusal(tx, deps, writer, write, written);
      else if (written.kind !== 'unchanged') {
        await auditWrite(tx, deps, writer, written.document);
        if (written.document.domain)
          await queueChunks(tx, written.document, written.document.domain, runbook);
      }
      return written;
    });
  }

  return {
    list: async (options = {}) =>
      (await documents.list(everybody, options)).filter(({ scope }) => scope === 'workspace'),
    read,
    history: async (documentId) =>
      (await read(documentId)) ? documents.history(everybody, { id: documentId }) : [],

    async edit({ by, documentId, content, base }) {
      const no = await notAdmin(by, documentId);
      if (no) return no;
      const there = await read(documentId);
      if (!there) return notFound();
      const untried = there.sha256 === base ? await tried(deps, there, content) : undefined;
      return untried ?? change(by, there, { ...there, content }, [], base);
    },

    async rollBack(by, documentId, to) {
      const no = await notAdmin(by, documentId);
      if (no) return no;
      const there = await read(documentId);
      if (!there) return notFound();
      const old = (await versionsOf(sql, documentId)).find(({ number }) => number === to);
      if (!old) return refuse('MEMORY_NOT_FOUND', `There is no version ${to} of ${there.path}.`);
      const sources: readonly SourceRef[] = [
        ...old.sources,
        { kind: 'document', ref: `${documentId}@${to}` },
      ];
      return change(by, there, old, sources, there.sha256);
    },

    async retire(by, documentId) {
      const no = await notAdmin(by, documentId);
      if (no) return no;
      return sql.begin((tx) => retire(tx, audit, by, documentId));
    },
  };
}

/** Edited steps are tried like proposed ones, on what the text came from. */
async function tried(
  deps: WorkspaceDeps,
  there: MemoryDocument,
  content: string,
): Promise<Refusal | undefined> {
  const checked = checkRunbook(there.path, content, deps.runbooks);
  if (checked.kind !== 'runbook' || checked.runbook.steps.length === 0) return undefined;
  if (!deps.dryRun) return refuse('MEMORY_DRY_RUN', 'Its steps can only be tried where Sentry runs.');
  const refs = (await versionsOf(deps.sql, there.id)).flatMap(({ sources }) => sources);
  const incident = refs.find(({ kind }) => kind === 'incident')?.ref as IncidentId | undefined;
  const report = await reported(deps.dryRun, checked.runbook, incident ?? null);
  return report.passed ? undefined : failed(report);
}

async function retire(
  tx: Tx,
  audit: MemoryAudit,
  by: string,
  documentId: string,
): Promise<{ readonly ok: true } | Refusal> {
  const rows = await tx`
    UPDATE memory_document SET retired_at = clock_timestamp()
    WHERE id = ${documentId} AND scope = 'workspace' AND retired_at IS NULL RETURNING id`;
  if (rows.length === 0) return notFound();
  await unqueueChunks(tx, documentId);
  await audit.appendIn(tx, { kind: 'memory.retired', actor: by, details: { document: documentId } });
  return { ok: true };
}

function notFound(): Refusal {
  return refuse('MEMORY_NOT_FOUND', 'There is no such workspace document.');
}
