import { z } from 'zod';
import type { Refusal } from '../../core/errors.ts';
import { DomainName, domainFault } from '../../core/incident.ts';
import type { FoundMemory } from '../../memory/context/find-memories.ts';
import type { WriteResult } from '../../memory/documents/write-document.ts';
import { documentText, line, oneOf, pick, recordId, sha256, slackUser, text, wholeNumber } from './fields.ts';
import {
  MemoryDocument,
  MemoryOverview,
  MemoryVersion,
  Promotion,
  Review,
  SearchResult,
  Written,
} from './memory-schemas.ts';
import { type ApiAnswer, defineOperation, ok, problem } from './operation.ts';

const ROOT = '/api/v1/memory';
/** An edit is a whole document. */
const BODY_LIMIT = 256 * 1024;
const CHANGED = 'Somebody has decided it already, or changed the text since.';
const CHECKED = 'The safety scanner, or the trial of its steps, is in the way.';
/** Characters of a passage. */
const PASSAGE = 2_000;

const audited = 'memory.api';
const document = z.strictObject({ document: recordId('document') });
const proposal = z.strictObject({ proposal: recordId('proposal') });
const limit = wholeNumber(1, 500).default(50);
const as = slackUser.describe('The Slack user id of the admin who decides.');

const searchMemory = defineOperation({
  id: 'searchMemory',
  method: 'GET',
  path: `${ROOT}/search`,
  scope: 'read',
  summary: 'Searches runbooks and workspace documents; with the scope `private` past incidents, too.',
  query: z.strictObject({
    q: line(500).describe('Symptoms, names, error words.'),
    domain: DomainName.optional().describe('Only of this domain.'),
    limit: wholeNumber(1, 20).default(5),
  }),
  response: SearchResult,
  audited,
  async handle({ memory }, { caller, query: { q, domain, limit: most } }) {
    const wrong = domain === undefined ? undefined : domainFault(domain, memory.domains);
    if (wrong !== undefined) return problem(400, wrong, 'domain');
    const past = caller.scopes.includes('private');
    const { found, missing } = await memory.search(q, { limit: most, domain: domain ?? null, past });
    return ok({ found: found.map(foundOf), missing });
  },
});

const readMemory = defineOperation({
  id: 'readMemory',
  method: 'GET',
  path: ROOT,
  formerPath: '/memory',
  scope: 'admin',
  summary: 'Counts what is remembered, and lists episodes (what was tried), newest first.',
  query: z.strictObject({
    limit,
    before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('The id of the last episode seen.'),
  }),
  response: MemoryOverview,
  audited,
  async handle({ memory }, { query }) {
    const [summary, episodes] = await Promise.all([
      memory.summary(),
      memory.episodes({ limit: query.limit, before: query.before ?? null }),
    ]);
    return ok({ summary, episodes });
  },
});

const listPromotions = defineOperation({
  id: 'listPromotions',
  method: 'GET',
  path: `${ROOT}/promotions`,
  formerPath: '/memory/promotions',
  scope: 'admin',
  summary: 'Lists proposals for everybody’s memory, oldest first.',
  query: z.strictObject({ state: oneOf(['pending', 'all']).default('pending'), limit }),
  response: z.object({ promotions: z.array(Promotion) }),
  audited,
  handle: async ({ memory }, { query }) =>
    ok({
      promotions: await memory.promotions.list({ pending: query.state === 'pending', limit: query.limit }),
    }),
});

const readPromotion = defineOperation({
  id: 'readPromotion',
  method: 'GET',
  path: `${ROOT}/promotions/{proposal}`,
  formerPath: '/memory/promotions/{proposal}',
  scope: 'admin',
  summary: 'One proposal, with what the checks say of it.',
  params: proposal,
  response: Review,
  audited,
  async handle({ memory }, { params }) {
    const review = await memory.promotions.review(params.proposal);
    return review === null ? problem(404, 'there is no such proposal') : ok(review);
  },
});

const decidePromotion = defineOperation({
  id: 'decidePromotion',
  method: 'POST',
  path: `${ROOT}/promotions/{proposal}/decision`,
  formerPath: '/memory/promotions/{proposal}/decision',
  scope: 'admin',
  summary: 'Approves or rejects a proposal for everybody’s memory, in the name of an admin.',
  params: proposal,
  body: z.discriminatedUnion(
    'decision',
    [
      z.strictObject({
        as,
        decision: z.literal('approve'),
        content: documentText.optional().describe('The edited text; left out, as it was proposed.'),
        over: sha256
          .nullable()
          .optional()
          .describe('The SHA-256 of the workspace document that the admin has seen; null: of none.'),
      }),
      z.strictObject({ as, decision: z.literal('reject'), reason: text(1_000) }),
    ],
    { error: 'expected "approve" or "reject"' },
  ),
  response: z.object({ promotion: Promotion, document: MemoryDocument.nullable() }),
  others: { 409: CHANGED, 422: CHECKED },
  bodyLimit: BODY_LIMIT,
  audited,
  async handle({ memory }, { params, body }) {
    const decided = await memory.promotions.decide({
      jobId: params.proposal,
      by: body.as,
      decision:
        body.decision === 'reject'
          ? { kind: 'reject', reason: body.reason }
          : { kind: 'approve', ...(body.content === undefined ? {} : { content: body.content }) },
      ...(body.decision === 'approve' && body.over !== undefined ? { currentSha256: body.over } : {}),
    });
    return decided.ok
      ? ok({ promotion: decided.promotion, document: decided.document })
      : refused(decided, body.decision === 'reject' ? 'reason' : 'content', 'over');
  },
});

const listDocuments = defineOperation({
  id: 'listDocuments',
  method: 'GET',
  path: `${ROOT}/documents`,
  formerPath: '/memory/documents',
  scope: 'read',
  summary: 'Lists workspace documents, by path.',
  query: z.strictObject({
    store: line(80).optional(),
    prefix: line(400).optional().describe('Paths that begin so.'),
    limit,
  }),
  response: z.object({ documents: z.array(MemoryDocument) }),
  audited,
  handle: async ({ memory }, { query: { store, prefix, ...page } }) =>
    ok({
      documents: await memory.workspace.list({
        ...page,
        ...(store === undefined ? {} : { store }),
        ...(prefix === undefined ? {} : { prefix }),
      }),
    }),
});

const noDocument = problem(404, 'there is no such workspace document');

const readDocument = defineOperation({
  id: 'readDocument',
  method: 'GET',
  path: `${ROOT}/documents/{document}`,
  formerPath: '/memory/documents/{document}',
  scope: 'read',
  summary: 'One workspace document.',
  params: document,
  response: MemoryDocument,
  audited,
  async handle({ memory }, { params }) {
    const found = await memory.workspace.read(params.document);
    return found === null ? noDocument : ok(found);
  },
});

const documentHistory = defineOperation({
  id: 'documentHistory',
  method: 'GET',
  path: `${ROOT}/documents/{document}/history`,
  formerPath: '/memory/documents/{document}/history',
  scope: 'read',
  summary: 'All versions of a workspace document, newest first.',
  params: document,
  response: z.object({ versions: z.array(MemoryVersion) }),
  audited,
  async handle({ memory }, { params }) {
    const versions = await memory.workspace.history(params.document);
    return versions.length === 0 ? noDocument : ok({ versions });
  },
});

const editDocument = defineOperation({
  id: 'editDocument',
  method: 'POST',
  path: `${ROOT}/documents/{document}/edit`,
  formerPath: '/memory/documents/{document}/edit',
  scope: 'admin',
  summary: 'Replaces the text of a workspace document, in the name of an admin.',
  params: document,
  body: z.strictObject({
    as,
    content: documentText,
    base: sha256.describe('The SHA-256 of the text that the admin has seen.'),
  }),
  response: Written,
  others: { 409: CHANGED, 422: CHECKED },
  bodyLimit: BODY_LIMIT,
  audited,
  async handle({ memory }, { params, body: { as: by, content, base } }) {
    const written = await memory.workspace.edit({ by, documentId: params.document, content, base });
    return written.ok ? ok(writtenOf(written)) : refused(written, 'content', 'base');
  },
});

const rollBackDocument = defineOperation({
  id: 'rollBackDocument',
  method: 'POST',
  path: `${ROOT}/documents/{document}/rollback`,
  formerPath: '/memory/documents/{document}/rollback',
  scope: 'admin',
  summary: 'Says again what an older version of a document said, as a new one.',
  params: document,
  body: z.strictObject({
    as,
    to: z.int({ error: 'expected a version' }).positive('expected a version').describe('The version.'),
  }),
  response: Written,
  others: { 409: CHANGED, 422: CHECKED },
  audited,
  async handle({ memory }, { params, body }) {
    const written = await memory.workspace.rollBack(body.as, params.document, body.to);
    return written.ok ? ok(writtenOf(written)) : refused(written, 'to', 'to');
  },
});

const retireDocument = defineOperation({
  id: 'retireDocument',
  method: 'POST',
  path: `${ROOT}/documents/{document}/retire`,
  formerPath: '/memory/documents/{document}/retire',
  scope: 'admin',
  summary: 'Takes a workspace document out of use; its history stays.',
  params: document,
  body: z.strictObject({ as }),
  response: z.object({ retired: z.string() }),
  audited,
  async handle({ memory }, { params, body }) {
    const done = await memory.workspace.retire(body.as, params.document);
    return done.ok ? ok({ retired: params.document }) : refused(done, 'as', 'as');
  },
});

export const memoryOperations = [
  searchMemory,
  listDocuments,
  readDocument,
  documentHistory,
  readMemory,
  listPromotions,
  readPromotion,
  decidePromotion,
  editDocument,
  rollBackDocument,
  retireDocument,
];

const writtenOf = ({ document: written, kind, warning }: Extract<WriteResult, { readonly ok: true }>) => ({
  document: written,
  kind,
  ...(warning === undefined ? {} : { warning }),
});

const foundOf = (memory: FoundMemory) => ({
  ...pick(memory, ['kind', 'id', 'store', 'path', 'title', 'heading', 'type', 'trust', 'version']),
  content: memory.content.slice(0, PASSAGE),
  updatedAt: memory.updatedAt.toISOString(),
});

const statuses: Readonly<Record<string, 400 | 403 | 404 | 409>> = {
  NOT_ADMIN: 403,
  MEMORY_NOT_FOUND: 404,
  MEMORY_DECIDED: 409,
  MEMORY_STALE: 409,
  MEMORY_BAD_INPUT: 400,
};

/** `content` and `seen`: the fields that a refused text or a moved document is the fault of. */
function refused(refusal: Refusal & object, content: string, seen: string): ApiAnswer<never> {
  const { ok: _no, code, reason, ...more } = refusal;
  const field =
    code === 'NOT_ADMIN'
      ? 'as'
      : code === 'MEMORY_STALE'
        ? seen
        : code === 'MEMORY_DECIDED'
          ? 'proposal'
          : content;
  return { status: statuses[code] ?? 422, body: { error: reason, code, field, ...more } };
}
