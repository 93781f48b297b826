import { z } from 'zod';
import { messageOf, type Refusal } from '../core/errors.ts';
import { jsonOf } from '../core/json-of.ts';
import type { Log } from '../core/log.ts';
import type { Json } from '../core/tool-call.ts';
import type { MemorySummary } from '../memory/documents/summary.ts';
import type { ListedEpisode } from '../memory/episodes/list-episodes.ts';
import type { Promotions } from '../memory/promotion/promotions.ts';
import type { WorkspaceMemory } from '../memory/promotion/workspace-memory.ts';
import { timingSafeEqual } from '../safety/timing-safe-equal.ts';
import type { HttpAnswer, HttpHead, HttpRequest, Route } from './route.ts';

/** What the admin API works on. It sees workspace memory alone: nobody's own, no conversation's. */
export interface MemoryApi {
  readonly summary: () => Promise<MemorySummary>;
  readonly episodes: (page: {
    readonly limit: number;
    readonly before: number | null;
  }) => Promise<readonly ListedEpisode[]>;
  readonly promotions: Pick<Promotions, 'list' | 'review' | 'decide'>;
  readonly workspace: WorkspaceMemory;
  readonly audit: {
    append(entry: { readonly kind: string; readonly actor: string; readonly details: Json }): Promise<void>;
  };
  readonly log: Log;
  /** SENTRY_ADMIN_TOKEN; null: the API is off. */
  readonly token: string | null;
}

const as = z
  .string({ error: 'expected the Slack user id of an admin' })
  .regex(/^[UW][A-Z0-9]{2,20}$/, 'expected the Slack user id of an admin, like U0123ABCD');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in lower-case hex');
const text = (max: number) =>
  z.string({ error: 'expected a text' }).min(1, 'must not be empty').max(max, `at most ${max} characters`);

const Decision = z.discriminatedUnion(
  'decision',
  [
    z.strictObject({
      as,
      decision: z.literal('approve'),
      content: text(50_000).optional(),
      over: sha256.nullable().optional(),
    }),
    z.strictObject({ as, decision: z.literal('reject'), reason: text(1_000) }),
  ],
  { error: 'expected "approve" or "reject"' },
);
const Edit = z.strictObject({ as, content: text(50_000), base: sha256 });
const RollBack = z.strictObject({ as, to: z.number({ error: 'expected a version' }).int().positive() });
const Retire = z.strictObject({ as });
const Page = z.object({
  limit: z.coerce.number({ error: 'expected a number' }).int().min(1).max(500).default(50),
  before: z.coerce.number({ error: 'expected the id of an episode' }).int().positive().optional(),
  state: z.enum(['pending', 'all'], { error: 'expected "pending" or "all"' }).default('pending'),
  store: z.string().max(80).optional(),
  prefix: z.string().max(400).optional(),
});

/** For whoever has the token: list, read, decide, edit, roll back. Every request let in is audited, reading ones too. */
export function memoryRoutes(api: MemoryApi): readonly Route[] {
  const { promotions, workspace } = api;
  const get = (
    path: string,
    read: (page: z.infer<typeof Page>, id: string) => Promise<HttpAnswer>,
  ): Route => ({
    method: 'GET',
    path,
    anyHost: true,
    admit: (head) => admitted(head, api.token),
    handle: (request) =>
      audited(api, request, path, 'admin-api', async () => {
        const page = Page.safeParse(Object.fromEntries(request.query));
        return page.success ? read(page.data, request.params['id'] ?? '') : wrong(page.error);
      }),
  });
  const post = <T extends { readonly as: string }>(
    path: string,
    shape: z.ZodType<T>,
    change: (body: T, id: string) => Promise<HttpAnswer>,
  ): Route => ({
    method: 'POST',
    path,
    bodyLimit: 256 * 1024,
    mediaTypes: ['application/json'],
    anyHost: true,
    admit: (head) => admitted(head, api.token),
    async handle(request) {
      const body = shape.safeParse(jsonOf(request.body.toString('utf8')));
      const actor = body.success ? body.data.as : 'admin-api';
      return audited(api, request, path, actor, async () =>
        body.success ? change(body.data, request.params['id'] ?? '') : wrong(body.error),
      );
    },
  });

  return [
    get('/memory', async ({ limit, before }) => {
      const [summary, episodes] = await Promise.all([
        api.summary(),
        api.episodes({ limit, before: before ?? null }),
      ]);
      return ok({ summary, episodes });
    }),
    get('/memory/promotions', async ({ state, limit }) =>
      ok({ promotions: await promotions.list({ pending: state === 'pending', limit }) }),
    ),
    get('/memory/promotions/:id', async (_page, id) => found(await promotions.review(id), 'proposal')),
    post('/memory/promotions/:id/decision', Decision, async (body, jobId) => {
      const decided = await promotions.decide({
        jobId,
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
    }),
    get('/memory/documents', async ({ store, prefix, limit }) =>
      ok({
        documents: await workspace.list({
          limit,
          ...(store === undefined ? {} : { store }),
          ...(prefix === undefined ? {} : { prefix }),
        }),
      }),
    ),
    get('/memory/documents/:id', async (_page, id) => found(await workspace.read(id), 'workspace document')),
    get('/memory/documents/:id/history', async (_page, id) => {
      const versions = await workspace.history(id);
      return versions.length > 0 ? ok({ versions }) : found(null, 'workspace document');
    }),
    post('/memory/documents/:id/edit', Edit, async (body, documentId) => {
      const { as: by, content, base } = body;
      const written = await workspace.edit({ by, documentId, content, base });
      return written.ok
        ? ok({ document: written.document, kind: written.kind, warning: written.warning })
        : refused(written, 'content', 'base');
    }),
    post('/memory/documents/:id/rollback', RollBack, async (body, id) => {
      const written = await workspace.rollBack(body.as, id, body.to);
      return written.ok
        ? ok({ document: written.document, kind: written.kind, warning: written.warning })
        : refused(written, 'to', 'to');
    }),
    post('/memory/documents/:id/retire', Retire, async (body, id) => {
      const done = await workspace.retire(body.as, id);
      return done.ok ? ok({ retired: id }) : refused(done, 'as', 'as');
    }),
  ];
}

const ok = (body: object): HttpAnswer => ({ status: 200, body });

const found = (one: object | null, what: string): HttpAnswer =>
  one === null ? { status: 404, body: { error: `there is no such ${what}` } } : ok(one);

/** Null lets it in. The comparison tells neither length nor common prefix. */
function admitted(head: HttpHead, token: string | null): HttpAnswer | null {
  if (token === null)
    return {
      status: 403,
      body: { error: 'the admin API is off: set SENTRY_ADMIN_TOKEN, and send it as a bearer token' },
    };
  const given = /^Bearer\s+(.+)$/i.exec(head.headers.authorization ?? '')?.[1];
  if (given !== undefined && timingSafeEqual(given.trim(), token)) return null;
  return {
    status: 401,
    headers: { 'www-authenticate': 'Bearer' },
    body: { error: 'expected SENTRY_ADMIN_TOKEN as "Authorization: Bearer …"' },
  };
}

/** On record with who, what and how it ended; no text of anybody's. An admin list that cannot be asked is answered 503. */
async function audited(
  { audit, log }: MemoryApi,
  { method, params }: HttpRequest,
  path: string,
  actor: string,
  answering: () => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const answer = await answering().catch((error: unknown): HttpAnswer => {
    log.error({ path, error: messageOf(error) }, 'the admin API could not answer');
    return {
      status: 503,
      headers: { 'retry-after': '5' },
      body: { error: 'it could not be done now; nothing was changed' },
    };
  });
  const details = { method, path, id: (params['id'] ?? '').slice(0, 80), status: answer.status };
  await audit.append({ kind: 'memory.api', actor, details });
  return answer;
}

function wrong(error: z.ZodError): HttpAnswer {
  const [issue] = error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const field = unknown ?? issue?.path.map(String).join('.') ?? '';
  const said = unknown ? 'there is no such field' : (issue?.message ?? 'not understood');
  return {
    status: 400,
    body: field === '' ? { error: 'expected a JSON object', field } : { error: `${field}: ${said}`, field },
  };
}

const statuses: Readonly<Record<string, number>> = {
  NOT_ADMIN: 403,
  MEMORY_NOT_FOUND: 404,
  MEMORY_DECIDED: 409,
  MEMORY_STALE: 409,
  MEMORY_BAD_INPUT: 400,
};

/** `content` and `seen`: the fields that a refused text or a moved document is the fault of. */
function refused(refusal: Refusal & object, content: string, seen: string): HttpAnswer {
  const { ok: _no, code, reason, ...more } = refusal;
  const field =
    code === 'NOT_ADMIN' ? 'as' : code === 'MEMORY_STALE' ? seen : code === 'MEMORY_DECIDED' ? 'id' : content;
  return { status: statuses[code] ?? 422, body: { error: reason, code, field, ...more } };
}
