import { refuse } from '../../core/errors.ts';
import type { Domain } from '../../core/incident.ts';
import type { Sql } from '../../core/sql.ts';
import { storable } from '../../core/storable.ts';
import { isSuspicion, scan } from '../../safety/screen/scan.ts';
import type { Audiences } from '../audiences.ts';
import type { Reader } from '../documents/access.ts';
import { conventionsStore, type MemoryDocument, runbooksStore } from '../documents/document.ts';
import { type DocumentRef, type Documents, tellRefusal } from '../documents/documents.ts';
import type { MemoryAudit, MemoryEvents } from '../documents/ports.ts';
import type { DocumentWrite, WriteRefusal, Writer } from '../documents/write-document.ts';
import { denied } from '../policy.ts';
import { badRunbook, checkRunbook, type RunbookRules } from './check-runbook.ts';
import type { Promotion } from './ports.ts';

export interface Proposal {
  readonly ref: DocumentRef;
  /** Why everybody should have it. */
  readonly rationale: string;
  /** Which incidents it is for. */
  readonly domain: Domain;
  /** A role, or a Slack user id. */
  readonly by: string;
}

export type Proposed =
  /** `again`: this version has been waiting for a decision already. */
  { readonly ok: true; readonly jobId: string; readonly again: boolean } | WriteRefusal;

export interface ProposeDeps {
  readonly sql: Sql;
  readonly events: MemoryEvents;
  readonly audit: MemoryAudit;
  readonly documents: Pick<Documents, 'read'>;
  readonly runbooks: RunbookRules;
  readonly enabled: boolean;
}

const RATIONALE_MAX = 1_000;

/**
 * Asks admins for a draft of a conversation. Expected refusals: MEMORY_NOT_FOUND, MEMORY_POLICY_DENIED (not a
 * conversation's), MEMORY_WRITE_BLOCKED (the scanner, as strict as for the workspace, in text and rationale),
 * MEMORY_BAD_RUNBOOK (steps that would not run), MEMORY_BAD_INPUT. What the linear model alone has found refuses a model only.
 */
export async function propose(
  deps: ProposeDeps,
  reader: Reader,
  { ref, by, domain, ...given }: Proposal,
): Promise<Proposed> {
  const { sql, events, audit } = deps;
  if (!deps.enabled) return denied('Memory is off (MEMORY_ENABLED=false).');
  const rationale = storable(given.rationale).trim();
  const { domains } = deps.runbooks;
  if (rationale === '' || rationale.length > RATIONALE_MAX || !domains.includes(domain))
    return refuse(
      'MEMORY_BAD_INPUT',
      `A proposal has a rationale of 1 to ${RATIONALE_MAX} characters, and a domain: ${domains.join(', ')}.`,
    );
  const draft = await deps.documents.read(reader, ref);
  if (!draft) return refuse('MEMORY_NOT_FOUND', 'There is no such document that you may read.');
  const { incidentId } = draft;
  return sql.begin(async (tx): Promise<Proposed> => {
    const refusal = checkDraft(deps, draft, rationale, reader);
    if (refusal) {
      await tellRefusal(tx, deps, writerFor(draft, by), targetWrite(draft, draft.content, domain), refusal);
      return refusal;
    }
    // Two proposals of one document at once: the second finds the first one's job.
    const [row] = await tx<{ version: number }>`
      SELECT version FROM memory_document WHERE id = ${draft.id} FOR UPDATE`;
    if (row?.version !== draft.version)
      return refuse('MEMORY_STALE', 'The draft has been written again just now. Read it, then propose it.');
    const [waiting] = await tx<{ id: string }>`
      SELECT j.id FROM dream_job j JOIN dream_review_item i ON i.job_id = j.id
      WHERE i.document_id = ${draft.id} AND i.version = ${draft.version} AND j.state = 'pending'`;
    if (waiting) return { ok: true, jobId: waiting.id, again: true };
    const target = targetOf(draft);
    const [job] = await tx<{ id: string }>`
      INSERT INTO dream_job (kind, incident_id, domain, rationale, proposed_by)
      VALUES ('promotion', ${incidentId}, ${domain}, ${rationale}, ${by}) RETURNING id`;
    const jobId = String(job?.id);
    await tx`
      INSERT INTO dream_review_item (job_id, document_id, version, target_store, target_path, current_sha256)
      VALUES (${jobId}, ${draft.id}, ${draft.version}, ${target.store}, ${target.path},
              (SELECT sha256 FROM memory_document WHERE store = ${target.store} AND path = ${target.path}))`;
    if (incidentId)
      await events.append(tx, incidentId, {
        type: 'memory.promotion.proposed',
        jobId,
        documentId: draft.id,
        path: draft.path,
        domain,
        rationale,
        by,
      });
    await audit.appendIn(tx, {
      kind: 'memory.promotion.proposed',
      actor: by,
      incidentId,
      details: { job: jobId, document: draft.id, version: draft.version, sha256: draft.sha256 },
    });
    return { ok: true, jobId, again: false };
  });
}

/**
 * The same for a model: admins read what it proposes, so it may only where everybody may read of the incident. What was learnt in a
 * private channel is proposed by its members.
 */
export async function proposeByModel(
  deps: ProposeDeps,
  audiences: Pick<Audiences, 'apart'>,
  reader: Reader,
  proposal: Proposal,
): Promise<Proposed> {
  const of = reader.kind === 'agent' && reader.incidentId !== null ? [reader.incidentId] : [];
  const isPublic = (await audiences.apart(of)).every(({ everybody }) => everybody);
  if (!isPublic)
    return denied('This incident is of a private channel: a person of it may propose the draft.');
  return propose(deps, reader, proposal);
}

function checkDraft(
  { runbooks }: ProposeDeps,
  draft: MemoryDocument,
  rationale: string,
  reader: Reader,
): WriteRefusal | undefined {
  const { content } = draft;
  if (draft.scope !== 'conversation' || draft.retiredAt !== null)
    return denied('Only a draft in the conversation of an incident can be promoted.');
  // A model may plant in the rationale what it may not plant in the text. A person is believed where only a model is wary.
  const found = [rationale, content]
    .flatMap((text) => scan(text, { scope: 'workspace' }).findings)
    .filter((one) => reader.kind === 'agent' || !isSuspicion(one));
  if (found.length > 0) {
    const kinds = [...new Set(found.map(({ category }) => category.replaceAll('_', ' ')))].join(', ');
    return {
      ...refuse('MEMORY_WRITE_BLOCKED', `Cannot be promoted: the safety scanner found ${kinds}.`),
      findings: found.map((one) => ({ ...one, where: 'content' as const })),
    };
  }
  const checked = checkRunbook(draft.path, content, runbooks);
  return checked.kind === 'wrong' ? badRunbook(checked.problems) : undefined;
}

/** Conventions have a store of their own; everything else that is promoted is with the runbooks. */
function targetOf({ docType, path }: MemoryDocument): Promotion['target'] {
  return { store: docType === 'convention' ? conventionsStore : runbooksStore, path };
}

function targetWrite(draft: MemoryDocument, content: string, domain: Domain): DocumentWrite {
  const { store, path } = targetOf(draft);
  return {
    place: { store, incidentId: null },
    document: { path, title: draft.title, content, docType: draft.docType, domain },
    sources: [],
  };
}

/** Whose thread hears that a proposal was refused. */
function writerFor({ incidentId }: MemoryDocument, by: string): Writer {
  return { kind: 'promotion', userId: by, incidentId };
}
