import { Registry } from 'prom-client';
import { createApiSide } from '../../../src/app/api-side.ts';
import { type Probes, readHealth } from '../../../src/app/health.ts';
import type { Services } from '../../../src/app/services.ts';
import { loadConfig } from '../../../src/config/config.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Sql } from '../../../src/core/sql.ts';
import { createRateLimit } from '../../../src/http/rate-limit.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { statusRoutes } from '../../../src/http/status-routes.ts';
import { createManualIncidents } from '../../../src/ingest/create-manual-incident.ts';
import { createWatchBoard } from '../../../src/ingest/watch-board.ts';
import { createTargetWatch } from '../../../src/ingest/watch-targets.ts';
import { createSearchWorkspace } from '../../../src/memory/context/search-memories.ts';
import { conversationStore } from '../../../src/memory/documents/document.ts';
import { syncDocuments } from '../../../src/memory/sync/sync-documents.ts';
import { createKillSwitch } from '../../../src/safety/kill-switch/kill-switch.ts';
import { createCostBreaker } from '../../../src/safety/limits/cost-breaker.ts';
import { createRetrieval } from '../../../src/search/retrieval.ts';
import { everybodyReads } from '../../support/audiences.ts';
import { boxInvestigator, boxTarget, boxTools, createCore } from '../../support/core.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { domains } from '../../support/targets.ts';
import { admin, documentsRig, note } from '../memory/documents/rig.ts';

const secretOf = (name: string): string => ['a', 'test', 'token', 'of', name, 'alone'].join('-');

/** Who may what: `reader` reads, `opener` opens, `teller` tells of changes, `everything` reads private channels, too. */
export const tokens = {
  reader: secretOf('reader'),
  opener: secretOf('opener'),
  other: secretOf('other'),
  teller: secretOf('teller'),
  everything: secretOf('everything'),
  admin: secretOf('admin'),
} as const;

export const ON_CALL = 'UONCALL';
/** Nobody outside of it reads it; and one of which Slack says nothing now. */
export const PRIVATE = 'CPRIVATE';
export const UNKNOWN = 'CUNKNOWN';

const env = {
  SENTRY_API_TOKENS: [
    `reader=${tokens.reader}`,
    `opener:trigger=${tokens.opener}`,
    `teller:changes=${tokens.teller}`,
    `other:trigger+read=${tokens.other}`,
    `everything:read+private=${tokens.everything}`,
  ].join(','),
  SENTRY_ADMIN_TOKEN: tokens.admin,
};
const vault = { ...boxTarget, name: 'vault', aliases: [] };
const words = { fingerprint: 'none', embed: async () => [], close: async () => undefined };
const away = () => Promise.reject(new Error('no Chroma'));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of what is JSON; `{}` for the rest. */
  readonly body: Record<string, unknown>;
}

export interface Asking {
  /** None: nobody's. */
  readonly token?: string | null;
  readonly method?: string;
  /** Sent as JSON unless it is a text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API as the app serves it, over the real record, engine, memory and gate; Slack alone is played. */
export async function apiScene() {
  const rig = await documentsRig();
  const machine = { broken: true, generation: 1, effects: 0, helps: true };
  const core = await createCore({
    url: rig.url,
    tools: boxTools(machine),
    investigator: boxInvestigator,
    approvers: [{ kind: 'user', id: ON_CALL }],
  });
  await core.start();
  const { sql } = core;
  const vectors = { collection: () => ({ upsert: away, query: away, list: away, remove: away }) };
  const retrieval = createRetrieval({ sql, vectors, embedder: words, log: quiet });
  const closing: (() => Promise<void>)[] = [];

  /** One process more; `around` stands before its statements. */
  async function serve(
    options: { readonly env?: object; readonly rate?: number; readonly around?: (sql: Sql) => Sql } = {},
  ) {
    const config = loadConfig({ ...env, ...options.env });
    const services = {
      config,
      sql,
      records: core.records,
      audit: core.audit,
      log: quiet,
      domains,
      targets: new Map([boxTarget, vault].map((target) => [target.name, target])),
      memory: {
        searchWorkspace: createSearchWorkspace({
          sql,
          retrieval,
          documents: rig.documents,
          audiences: everybodyReads,
          log: quiet,
          domains,
          enabled: true,
        }),
      },
      workspace: { promotions: rig.promotions, workspace: rig.workspace },
      watchBoard: createWatchBoard({
        sql,
        audit: core.audit,
        watched: () => [{ target: { name: 'shop-host' }, logs: [{ name: '/var/log/shop.log' }] }],
      }),
      watch: createTargetWatch({
        sql,
        accept: core.accept,
        watched: () => [{ target: boxTarget, watch: away as never }],
        log: quiet,
      }),
      mutes: core.mutes,
      switches: { lines: async () => [`<@${ON_CALL}> stopped shop-db.`] },
      killSwitch: createKillSwitch(sql, { mode: 'ACTIVE', dataDir: scratchDir() }),
      breaker: createCostBreaker({ sql, audit: core.audit, limits: config.cost, log: quiet }),
      createManualIncident: createManualIncidents((options.around ?? ((plain) => plain))(sql), core.accept, [
        boxTarget,
        vault,
      ]),
      slackWorkspace: {
        access: {
          channelOf: async ({ channel }: { channel: string | null }) => channel ?? 'CALERTS',
          sightOf: async (channel: string) =>
            ({ [PRIVATE]: 'private', [UNKNOWN]: 'unknown' })[channel] ?? 'public',
        },
        directory: { name: async (id: string) => (id === ON_CALL ? 'olivia' : id) },
        own: () => ({ botId: null, userId: 'UBOT' }),
        identity: () => ({ teamUrl: 'https://team.slack.com/' }),
      },
    } as unknown as Services;
    const probes = {
      record: async () => sql`SELECT 1`,
      turnQueue: async () => ({ beatMs: 1, stalledMs: 0, waiting: 0, running: 0, oldestWaitMs: 0 }),
      slack: () => ({
        ok: true,
        mode: 'http',
        connections: 0,
        problem: null,
        oldestWaitMs: 0,
        lastEventMs: 0,
        givenUp: 0,
      }),
    } satisfies Probes;
    const api = createApiSide(services, probes);
    const http = createHttpServer({
      host: '127.0.0.1',
      port: 0,
      log: quiet,
      guard: api.guard,
      routes: [...api.routes, ...statusRoutes({ health: () => readHealth(probes), metrics: new Registry() })],
      ...(options.rate === undefined
        ? {}
        : { rateLimit: createRateLimit({ known: options.rate, strangers: 1_000 }) }),
    });
    const url = `http://127.0.0.1:${(await http.listen()).port}`;
    closing.push(() => http.close(100));
    return { url, ask: (path: string, asking?: Asking) => ask(`${url}${path}`, asking) };
  }

  return {
    rig,
    core,
    sql,
    machine,
    serve,
    proposal,
    document,
    /** The index of documents, as the bot keeps it. */
    index: async () => void (await syncDocuments(sql, retrieval)),
    /** An incident that was opened long ago by an alert, and whose thread is there. */
    async incident(
      channel = 'CALERTS',
      change: { readonly title?: string; readonly severity?: string } = {},
    ) {
      const id = await rig.incident();
      await sql`UPDATE incident SET channel = ${channel}, thread_ts = '1700000000.000100', state = 'reported',
                       title = ${change.title ?? 'The box is broken'}, severity = ${change.severity ?? 'critical'}
                 WHERE id = ${id}`;
      await sql.begin((tx) =>
        core.records.append(tx, id, { type: 'hint.given', by: ON_CALL, text: 'look\nat the lid' }),
      );
      return id;
    },
    async close() {
      for (const end of closing) await end();
      await core.stop();
      await rig.close();
    },
  };

  async function proposal(content = 'The report job leaves a transaction open.') {
    const incidentId: IncidentId = await rig.incident();
    const path = `api/${incidentId.toLowerCase()}`;
    const written = await rig.documents.write(
      { kind: 'agent', role: 'detective', incidentId },
      { place: { store: conversationStore, incidentId }, document: note({ path, content }), sources: [] },
    );
    const asked = await rig.promotions.propose(
      { kind: 'agent', incidentId, userId: null },
      {
        ref: { id: written.ok ? written.document.id : '' },
        rationale: 'Twice.',
        domain: 'postgres',
        by: 'detective',
      },
    );
    if (!asked.ok) throw new Error(asked.reason);
    return { jobId: asked.jobId, path };
  }

  /** A workspace document. */
  async function document(content?: string) {
    const { jobId } = await proposal(content);
    const decided = await rig.promotions.decide({ jobId, by: admin, decision: { kind: 'approve' } });
    if (!decided.ok || !decided.document) throw new Error('not approved');
    return decided.document;
  }
}

export type ApiScene = Awaited<ReturnType<typeof apiScene>>;

async function ask(
  url: string,
  { token = tokens.reader, method, body, headers = {} }: Asking = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? (JSON.parse(text) as Answer['body']) : {},
  };
}
