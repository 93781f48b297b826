import type { Action } from '../core/action.ts';
import { COUNT_LIMIT } from '../core/count.ts';
import type { IncidentEventBody } from '../core/event.ts';
import type { ActionId, IncidentId, ToolCallId } from '../core/ids.ts';
import type { Incident, IncidentFilter, Role } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { ModelUsage } from '../core/model-usage.ts';
import type { Sql, Tx } from '../core/sql.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { endReservation } from '../safety/limits/end-reservation.ts';
import { outwardRecord, outwardText } from '../safety/screen/boundary.ts';
import type {
  ActionRow,
  AlertRow,
  DenialRow,
  EpisodeRow,
  EventRow,
  IncidentRow,
  ToolCallRow,
} from './rows.ts';
import { toAction, toAlert, toDenial, toEpisode, toEvent, toIncident, toToolCall } from './rows.ts';

/** So many alerts of an incident are read: a group that flaps is told of for days. */
const ALERTS = 500;

/** Ids and digests in events: made by us, and looking like secrets. A model's own are held against the record before. */
const OURS = new Set([
  'actionId',
  'denialId',
  'documentId',
  'id',
  'incidentId',
  'jobId',
  'of',
  'prompts',
  'readHash',
  'toolCallId',
  'toolCallIds',
]);

/** So many are looked at for a page, however few of them fit. */
const LOOKED_AT = 2_000;

/** The record of all incidents: the one place rows are read for showing and events are written. */
export interface IncidentRecords {
  /** One incident with everything on record about it, or null when there is none of that id. */
  load(id: IncidentId): Promise<IncidentRecord | null>;
  incident(id: IncidentId): Promise<Incident | null>;
  incidents(ids: readonly IncidentId[]): Promise<readonly Incident[]>;
  /** Newest first. `open`: only those not ended. */
  list(options: { readonly limit: number; readonly open?: boolean }): Promise<readonly Incident[]>;
  /**
   * Those after `before`, at most `limit`. `next`: what to go on after; null: there are no more. A page may hold fewer, and
   * there still be more.
   */
  page(
    options: IncidentFilter & { readonly limit: number; readonly before: IncidentId | null },
  ): Promise<{ readonly incidents: readonly Incident[]; readonly next: IncidentId | null }>;
  /** How many are not ended, and how many of those somebody has stopped; counted no further than `COUNT_LIMIT`. */
  openCounts(): Promise<{ readonly open: number; readonly stopped: number }>;
  findByThread(channel: string, threadTs: string): Promise<IncidentId | null>;
  toolCall(id: ToolCallId): Promise<ToolCall | null>;
  action(id: ActionId): Promise<Action | null>;
  /** All steps of a plan, in their order. */
  plan(id: ActionId): Promise<readonly Action[]>;
  /**
   * Appends an event inside the caller's transaction. With a `dedupeKey` the same event of a step that runs again after
   * a crash is recorded once; returns whether it was new.
   */
  append(tx: Tx, id: IncidentId, body: IncidentEventBody, dedupeKey?: string): Promise<boolean>;
  /** Whoever asked for something of an incident, or said how: one's own asking is nothing that one may approve. */
  addRequester(tx: Tx, id: IncidentId, by: string): Promise<void>;
  /** The role's current words, for the live message; null withdraws them. */
  setWords(id: IncidentId, words: string | null): Promise<void>;
  /** `id` null, and a name that is no role: of no incident, such as what memory asks a model. */
  addUsage(id: IncidentId | null, role: Role | 'memory' | 'sceptic', usage: ModelUsage): Promise<void>;
}

export function createRecords(sql: Sql): IncidentRecords {
  const one = async <Row, T>(rows: PromiseLike<readonly Row[]>, to: (row: Row) => T): Promise<T | null> => {
    const [row] = await rows;
    return row ? to(row) : null;
  };
  return {
    incident: (id) => one(sql<IncidentRow>`SELECT * FROM incident WHERE id = ${id}`, toIncident),
    incidents: async (ids) => {
      if (ids.length === 0) return [];
      const rows = await sql<IncidentRow>`
        SELECT * FROM incident WHERE id = ANY (${sql.array([...ids])}::text[]) ORDER BY opened_at, id`;
      return rows.map(toIncident);
    },
    toolCall: (id) => one(sql<ToolCallRow>`SELECT * FROM tool_call WHERE id = ${id}`, toToolCall),
    action: (id) => one(sql<ActionRow>`SELECT * FROM action WHERE id = ${id}`, toAction),
    plan: async (id) => {
      const rows = await sql<ActionRow>`SELECT * FROM action WHERE plan_id = ${id} ORDER BY step`;
      return rows.map(toAction);
    },
    findByThread: (channel, threadTs) =>
      one(
        sql<
          Pick<IncidentRow, 'id'>
        >`SELECT id FROM incident WHERE channel = ${channel} AND thread_ts = ${threadTs}`,
        ({ id }) => id,
      ),

    async load(id) {
      // One snapshot: what is drawn must not mix two moments.
      return sql.begin('isolation level repeatable read read only', async (tx) => {
        const [incident] = await tx<IncidentRow>`SELECT * FROM incident WHERE id = ${id}`;
        if (!incident) return null;
        const [alerts, events, toolCalls, actions, episodes, denials] = await Promise.all([
          // The first, and the last of those that a group tells again and again.
          tx<AlertRow>`SELECT * FROM alert WHERE incident_id = ${id} AND (
               id = (SELECT min(id) FROM alert WHERE incident_id = ${id})
               OR id >= coalesce((SELECT id FROM alert WHERE incident_id = ${id} ORDER BY id DESC OFFSET ${ALERTS - 1} LIMIT 1), 0))
             ORDER BY id`,
          tx<EventRow>`SELECT * FROM event WHERE incident_id = ${id} ORDER BY seq`,
          tx<ToolCallRow>`SELECT * FROM tool_call WHERE incident_id = ${id} ORDER BY started_at, id`,
          tx<ActionRow>`SELECT * FROM action WHERE incident_id = ${id} ORDER BY proposed_at, plan_id, step`,
          tx<EpisodeRow>`SELECT * FROM episode WHERE incident_id = ${id} ORDER BY id`,
          tx<DenialRow>`SELECT * FROM denial WHERE id IN (
               SELECT d.id FROM action a JOIN denial d ON d.action_id = a.id WHERE a.incident_id = ${id}
               UNION SELECT unnest(denials_acknowledged) FROM action WHERE incident_id = ${id}) ORDER BY said_at, id`,
        ]);
        return {
          incident: toIncident(incident),
          alerts: alerts.map(toAlert),
          events: events.map(toEvent),
          toolCalls: toolCalls.map(toToolCall),
          actions: actions.map(toAction),
          episodes: episodes.map(toEpisode),
          denials: denials.map(toDenial),
        };
      });
    },

    async list({ limit, open }) {
      const rows = open
        ? await sql<IncidentRow>`SELECT * FROM incident WHERE state NOT IN ('ignored', 'resolved') ORDER BY opened_at DESC LIMIT ${limit}`
        : await sql<IncidentRow>`SELECT * FROM incident ORDER BY opened_at DESC LIMIT ${limit}`;
      return rows.map(toIncident);
    },

    async page({ limit, before, open = false, state, severity, target, since }) {
      const looked = await sql<{ id: IncidentId; fits: boolean }>`
        SELECT id, (NOT ${open} OR state NOT IN ('ignored', 'resolved'))
               AND state = coalesce(${state ?? null}, state) AND severity = coalesce(${severity ?? null}, severity)
               AND (${target ?? null}::text IS NULL OR target IS NOT DISTINCT FROM ${target ?? null}) AS fits
          FROM incident
         WHERE (${before}::text IS NULL OR (opened_at, id) < (SELECT b.opened_at, b.id FROM incident b WHERE b.id = ${before}))
           AND opened_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
         ORDER BY opened_at DESC, id DESC LIMIT ${LOOKED_AT}`;
      const ids = looked.flatMap(({ id, fits }) => (fits ? [id] : [])).slice(0, limit);
      const rows = await sql<IncidentRow>`
        SELECT * FROM incident WHERE id = ANY (${sql.array(ids)}::text[]) ORDER BY opened_at DESC, id DESC`;
      const next = ids.length === limit ? ids.at(-1) : looked.length === LOOKED_AT ? looked.at(-1)?.id : null;
      return { incidents: rows.map(toIncident), next: next ?? null };
    },

    async openCounts() {
      const [counts] = await sql<{ open: number; stopped: number }>`
        SELECT (SELECT count(*) FROM (SELECT FROM incident WHERE state NOT IN ('ignored', 'resolved') LIMIT ${COUNT_LIMIT}) AS t) AS open,
               (SELECT count(*) FROM (SELECT FROM incident WHERE state = 'stopped' AND state NOT IN ('ignored', 'resolved')
                                       LIMIT ${COUNT_LIMIT}) AS t) AS stopped`;
      if (!counts) throw new Error('a SELECT without FROM always has a row');
      return counts;
    },

    async append(tx, id, body, dedupeKey) {
      const { type, ...said } = body;
      // Whoever wrote it: it leaves by Slack, HTTP and the command line, and what is recalled from it goes to a model.
      const rest = outwardRecord(said, OURS);
      const rows = await tx`
        WITH added AS (
          INSERT INTO event (incident_id, type, body, dedupe_key)
          VALUES (${id}, ${type}, ${tx.json(rest)}, ${dedupeKey ?? null})
          ON CONFLICT (incident_id, dedupe_key) DO NOTHING RETURNING seq
        ), touched AS (
          UPDATE incident SET updated_at = clock_timestamp() WHERE id = ${id} AND EXISTS (SELECT FROM added)
        )
        SELECT seq FROM added`;
      return rows.length > 0;
    },

    addRequester,
    async setWords(id, spoken) {
      const words = spoken === null ? null : outwardText(spoken);
      await sql`UPDATE incident SET words = ${words}, updated_at = clock_timestamp()
                WHERE id = ${id} AND words IS DISTINCT FROM ${words}`;
    },

    async addUsage(id, role, usage) {
      const { reservation } = usage;
      await sql.begin(async (tx) => {
        if (reservation !== undefined) await endReservation(tx, reservation);
        await tx`
          WITH used AS (
            INSERT INTO usage (incident_id, role, model, input_tokens, cache_read_tokens, cache_write_tokens,
                               cache_write_1h_tokens, output_tokens, thinking_tokens, cost_usd, reservation)
            VALUES (${id}, ${role}, ${usage.model}, ${usage.inputTokens}, ${usage.cacheReadTokens}, ${usage.cacheWriteTokens},
                    ${usage.cacheWrite1hTokens}, ${usage.outputTokens}, ${usage.thinkingTokens}, ${usage.costUsd},
                    ${reservation ?? null}::uuid)
            ON CONFLICT (reservation) DO NOTHING RETURNING id)
          UPDATE incident SET cost_usd = cost_usd + ${usage.costUsd}, updated_at = clock_timestamp()
           WHERE id = ${id} AND EXISTS (SELECT FROM used)`;
      });
    },
  };
}

/** See `IncidentRecords.addRequester`. */
export async function addRequester(tx: Tx, id: IncidentId, by: string): Promise<void> {
  await tx`UPDATE incident SET requesters = array_append(requesters, ${by})
           WHERE id = ${id} AND NOT ${by} = ANY (requesters)`;
}
