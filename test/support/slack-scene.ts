import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { ControlName, ControlRequests, Counters } from '../../playground/slack/control-api.ts';
import {
  createLocalSlack,
  type LocalSlack,
  type LocalSlackOptions,
} from '../../playground/slack/local-slack.ts';
import type { PageActionName, PageActions, PageAnswer } from '../../playground/slack/page-api.ts';
import { CHANNELS, SENTRY_APP } from '../../playground/slack/seed.ts';
import type { Message, View } from '../../playground/slack/slack-shapes.ts';
import type { Action } from '../../src/core/action.ts';
import type { IncidentEventBody } from '../../src/core/event.ts';
import { asIncidentId, type IncidentId } from '../../src/core/ids.ts';
import type { Log } from '../../src/core/log.ts';
import type { Sql } from '../../src/core/sql.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import { createEventBus } from '../../src/infra/db/event-bus.ts';
import { createRecords, type IncidentRecords } from '../../src/record/record.ts';
import type { HttpHandler } from '../../src/slack/inbound/http-receiver.ts';
import type { SlackWorkspace } from '../../src/slack/people/slack-workspace.ts';
import type { SlackConnection, SlackDecision, SlackMessage } from '../../src/slack/ports.ts';
import type { Slack } from '../../src/slack/slack.ts';
import { anAction, aToolCall } from './incident-record.ts';
import { patience } from './patience.ts';
import { scratchDatabase } from './postgres.ts';
import { quiet } from './quiet.ts';
import { type BotChanges, slackBot, socketTo } from './slack-bot.ts';
import type { Row } from './typed.ts';

/** A local Slack and a database, and bots on them: real Bolt, real HTTP and WebSocket, real PostgreSQL. */
export interface SlackScene {
  readonly slack: LocalSlack;
  /** Of the record. */
  readonly url: string;
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly decisions: readonly SlackDecision[];
  readonly hints: readonly { readonly id: IncidentId; readonly by: string; readonly text: string }[];
  readonly alerts: readonly SlackMessage[];
  /** Starts one more bot process' worth of Slack side, listening to the record by itself. */
  bot(changes?: BotChanges): Promise<SceneBot>;
  /** `postedIn`: the alert channel that its alert was posted in. */
  incident(events?: readonly IncidentEventBody[], postedIn?: string): Promise<IncidentId>;
  append(id: IncidentId, ...events: readonly IncidentEventBody[]): Promise<void>;
  propose(id: IncidentId, changes?: Partial<Action>): Promise<Action>;
  control<N extends ControlName>(name: N, body: ControlRequests[N]): Promise<Record<string, unknown>>;
  act<N extends PageActionName>(name: N, body: PageActions[N]): Promise<PageAnswer>;
  /** The bot's own messages in #alerts, threads included, oldest first. */
  messages(): Promise<readonly Message[]>;
  counters(): Promise<Counters>;
  views(userId: string): Promise<readonly View[]>;
  close(): Promise<void>;
}

export interface SceneBot extends Slack {
  readonly workspace: SlackWorkspace;
  /** Over HTTP: where its events go. */
  readonly eventsUrl: string;
}

export const SOCKET = (slack: LocalSlack): SlackConnection => socketTo(slack.apiUrl);

export async function slackScene(
  options: { readonly slack?: LocalSlackOptions; readonly log?: Log } = {},
): Promise<SlackScene> {
  const database = await scratchDatabase({ migrate: true });
  const db = openDatabase(database.url, { max: 8 });
  const { sql } = db;
  const slack = await createLocalSlack({
    rateLimits: { speed: 100 },
    // Slack gives an app three seconds: on a busy machine a window would not open, and a person would press again.
    timing: { ackMs: 3_000 * patience, triggerMs: 3_000 * patience },
    ...options.slack,
  });
  const records = createRecords(sql);
  const stops: (() => Promise<void>)[] = [];
  const decisions: SlackDecision[] = [];
  const hints: { id: IncidentId; by: string; text: string }[] = [];
  const alerts: SlackMessage[] = [];

  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${slack.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };

  const scene: SlackScene = {
    slack,
    url: database.url,
    sql,
    records,
    decisions,
    hints,
    alerts,
    async bot(changes = {}) {
      const log = options.log ?? quiet;
      const bus = createEventBus({ url: database.url, log });
      const bot = slackBot(
        { sql, bus, log, executorId: `test-${stops.length}` },
        {
          connection: SOCKET(slack),
          decide: async (decision) => {
            decisions.push(decision);
            const oncall = await bot.workspace.directory.groupMembers('oncall');
            return decideInRecord(sql, records, decision, oncall);
          },
          hint: async (id, by, text) => {
            hints.push({ id, by, text });
            return { ok: true, text: 'Noted.' };
          },
          acceptSlackMessage: async (message) => {
            alerts.push(message);
          },
          ...changes,
        },
      );
      const server = bot.handleHttp && (await mounted(bot.handleHttp));
      bus.start();
      stops.push(async () => {
        await bot.stop();
        await bus.stop();
        await server?.close();
      });
      await bot.start();
      return { ...bot, eventsUrl: server?.url ?? '' };
    },
    async incident(events = [], postedIn) {
      const [row] = await sql<Row>`
        INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations)
        VALUES ('shop-db: sessions are blocked', 'critical', 'postgres', 'shop-db', 'test',
                ${Math.random().toString(36)}, '{}', '{}') RETURNING id`;
      const id = asIncidentId(String(row?.['id']));
      if (postedIn)
        await sql`
          INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
          VALUES (${id}, ${`slack:${postedIn}:1.0:${id}`}, 'slack', ${id}, 'firing', 'blocked', '{}', '{}', now())`;
      // Before the diagnosis that rests on it: drawn without it, a claim has no button.
      if (events.some(({ type }) => type === 'diagnosis.concluded')) await insertToolCall(sql, id);
      await scene.append(id, { type: 'incident.opened', source: 'test', title: 'blocked' }, ...events);
      return id;
    },
    async append(id, ...events) {
      for (const event of events) {
        await sql.begin(async (tx) => {
          await records.append(tx, id, event);
          if (event.type === 'state.changed')
            await tx`
              UPDATE incident SET state = ${event.to},
                     resolved_by = CASE WHEN ${event.to === 'resolved'} THEN
                       CASE WHEN EXISTS (SELECT FROM event WHERE incident_id = ${id} AND type = 'verification.concluded'
                                            AND body->>'verdict' = 'fixed') THEN 'confirmed' ELSE 'source' END END
               WHERE id = ${id}`;
        });
      }
    },
    async propose(id, changes = {}) {
      const action = anAction({ incidentId: id, ...changes });
      await insertToolCall(sql, id);
      await sql`
        INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard, why,
                            blast_radius, preflight, undo, risk, runbook_id, verify, audit_only, expires_at)
        VALUES (${action.id}, ${id}, 1, ${action.state}, ${action.tool}, ${action.target}, ${sql.json(action.input)},
                ${action.command}, ${action.planHash}, '{}', ${action.why}, ${action.blastRadius},
                ${sql.array([...action.preflight])}::text[], ${action.undo}, ${action.risk}, ${action.runbookId},
                ${sql.json(action.verify as never)},
                ${action.auditOnly}, clock_timestamp() + interval '30 minutes')`;
      await scene.append(
        id,
        { type: 'action.proposed', actionId: action.id },
        { type: 'state.changed', from: 'planning', to: 'awaiting_approval', reason: 'proposed' },
      );
      return action;
    },
    control: (name, body) => post(`/control/${name}`, body),
    act: async (name, body) => (await post(`/control/act/${name}`, body)) as unknown as PageAnswer,
    async messages() {
      const answer = await post('/control/messages', { channel: CHANNELS.alerts });
      return (answer['messages'] as readonly Message[]).filter(
        (message) => message.bot_id === SENTRY_APP.botId && message.subtype !== 'tombstone',
      );
    },
    async counters() {
      const answer = await post('/control/counters', {});
      return (answer['counters'] ?? answer) as unknown as Counters;
    },
    async views(userId) {
      const answer = (await post('/control/snapshot', {})) as unknown as {
        readonly snapshot: { readonly views: Readonly<Record<string, readonly View[]>> };
      };
      return answer.snapshot.views[userId] ?? [];
    },
    async close() {
      await Promise.all(stops.map((stop) => stop()));
      await slack.close();
      await db.close();
      await database.drop();
    },
  };
  return scene;
}

/** Slack's events as they come in where Slack does not use Socket Mode: through our HTTP server. */
export async function mounted(
  handler: HttpHandler,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: quiet,
    metrics: new Registry(),
    routes: [],
    mounts: { '/slack/events': handler },
  });
  const { port } = await server.listen();
  return { url: `http://127.0.0.1:${port}/slack/events`, close: () => server.close() };
}

/** What src/actions/approvals does, as one atomic statement: enough to see that a decision is asked for, answered and drawn. */
async function decideInRecord(
  sql: Sql,
  records: IncidentRecords,
  { actionId, planHash, by, decision, reason, anotherWay }: SlackDecision,
  approvers: readonly string[],
) {
  if (!approvers.includes(by))
    return { ok: false, code: 'NOT_AN_APPROVER', reason: 'You may not approve this: ask @oncall.' } as const;
  return sql.begin(async (tx) => {
    const state = decision === 'approve' ? 'approved' : 'denied';
    const rows = await tx<Row>`
      UPDATE action SET state = ${state}, decided_by = ${by}, decided_at = clock_timestamp(), decision_reason = ${reason}
      WHERE id = ${actionId} AND plan_hash = ${planHash} AND state = 'proposed' RETURNING incident_id`;
    const id = rows[0]?.['incident_id'] as IncidentId | undefined;
    if (!id) return { ok: false, code: 'ALREADY_DECIDED', reason: 'This was decided already.' } as const;
    await records.append(
      tx,
      id,
      decision === 'approve'
        ? { type: 'action.approved', actionId, by }
        : { type: 'action.denied', actionId, by, reason: reason ?? '', anotherWay },
    );
    return { ok: true } as const;
  });
}

async function insertToolCall(sql: Sql, id: IncidentId): Promise<void> {
  const call = aToolCall();
  await sql`
    INSERT INTO tool_call (id, incident_id, role, tool, target, input, state, output, result, output_sha256, truncated,
                           started_at, finished_at)
    VALUES (${call.id}, ${id}, ${call.role}, ${call.tool}, ${call.target}, '{}', 'ok', ${call.output}, '{}',
            ${call.outputSha256}, false, clock_timestamp(), clock_timestamp())
    ON CONFLICT DO NOTHING`;
}

/** Asks until it holds, as long as `waitFor` does; the last failure is the test's. */
export async function eventually<T>(look: () => Promise<T> | T, timeoutMs = 20_000): Promise<T> {
  const end = performance.now() + timeoutMs * patience;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(25);
    }
  }
}
