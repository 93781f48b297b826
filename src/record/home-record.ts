import type { Action } from '../core/action.ts';
import type { IncidentId, ToolCallId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { UnreadCall } from '../core/unread.ts';
import type { ActionRow, ToolCallRow } from './rows.ts';
import { toAction, toToolCall } from './rows.ts';

/** So many proposals are looked through for those that one person may decide. */
const PROPOSALS = 100;

/** What App Home shows of the record. Whoever asks names the incidents that the person may read: nothing else is looked at. */
export interface HomeRecord {
  /** The first steps of the plans that wait for a decision, those that expire first. Of all incidents: ask who may know of each. */
  proposals(): Promise<readonly Action[]>;
  /** Who has each of them. */
  holders(ids: readonly IncidentId[]): Promise<ReadonlyMap<IncidentId, string>>;
  /** US dollars of each of the last days (UTC), today last; null: nothing is on record of that day. */
  costOfDays(days: number): Promise<readonly (number | null)[]>;
  /** Of each target, the last look in these incidents that ran, whatever came of it. */
  lastLooks(ids: readonly IncidentId[]): Promise<readonly ToolCall[]>;
  /** What the last diagnosis of each could not read. An incident without a diagnosis is left out. */
  unread(ids: readonly IncidentId[]): Promise<readonly UnreadOf[]>;
  toolCalls(ids: readonly ToolCallId[]): Promise<readonly ToolCall[]>;
  /** When each tool last worked on each target, other than in these calls. */
  lastWorked(
    ids: readonly IncidentId[],
    except: readonly ToolCallId[],
  ): Promise<ReadonlyArray<{ readonly tool: string; readonly target: string; readonly at: string }>>;
  /** What was tried in these incidents. */
  episodes(ids: readonly IncidentId[]): Promise<readonly TriedOnce[]>;
}

export interface UnreadOf {
  readonly incidentId: IncidentId;
  readonly target: string | null;
  readonly unread: readonly UnreadCall[];
}

export interface TriedOnce {
  readonly incidentId: IncidentId;
  readonly error: string;
  readonly success: boolean | null;
}

export function createHomeRecord(sql: Sql): HomeRecord {
  const listed = (ids: readonly string[]) => sql.array([...ids]);
  return {
    async proposals() {
      const rows = await sql<ActionRow>`
        SELECT * FROM action WHERE state = 'proposed' AND NOT audit_only AND expires_at > statement_timestamp()
         ORDER BY expires_at LIMIT ${PROPOSALS}`;
      return rows.map(toAction);
    },

    async holders(ids) {
      const rows = await sql<{ readonly id: IncidentId; readonly by: string }>`
        SELECT incident_id AS id, acknowledged_by AS by FROM escalation
         WHERE incident_id = ANY (${listed(ids)}::text[]) AND holds AND acknowledged_by IS NOT NULL`;
      return new Map(rows.map(({ id, by }) => [id, by]));
    },

    async costOfDays(days) {
      const rows = await sql<{ readonly usd: number | null }>`
        SELECT (SELECT sum(u.cost_usd) FROM usage_day u WHERE u.day = d.day)::float8 AS usd
          FROM (SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date - n AS day FROM generate_series(0, ${days - 1}::int) AS n) AS d
         ORDER BY d.day`;
      return rows.map(({ usd }) => usd);
    },

    async lastLooks(ids) {
      const rows = await sql<ToolCallRow>`
        SELECT DISTINCT ON (target) * FROM tool_call
         WHERE incident_id = ANY (${listed(ids)}::text[]) AND target IS NOT NULL AND state IN ('ok', 'failed')
         ORDER BY target, finished_at DESC`;
      return rows.map(toToolCall);
    },

    async unread(ids) {
      const rows = await sql<UnreadOf>`
        SELECT DISTINCT ON (e.incident_id) e.incident_id AS "incidentId", i.target,
               coalesce(e.body->'diagnosis'->'unread', '[]') AS unread
          FROM event e JOIN incident i ON i.id = e.incident_id
         WHERE e.incident_id = ANY (${listed(ids)}::text[]) AND e.type = 'diagnosis.concluded'
         ORDER BY e.incident_id, e.seq DESC`;
      return rows;
    },

    async toolCalls(ids) {
      if (ids.length === 0) return [];
      const rows = await sql<ToolCallRow>`SELECT * FROM tool_call WHERE id = ANY (${listed(ids)}::text[])`;
      return rows.map(toToolCall);
    },

    lastWorked: async (ids, except) => sql<{
      readonly tool: string;
      readonly target: string;
      readonly at: string;
    }>`
      SELECT tool, target, max(started_at) AS at FROM tool_call
       WHERE incident_id = ANY (${listed(ids)}::text[]) AND target IS NOT NULL AND state = 'ok'
         AND NOT id = ANY (${listed(except)}::text[])
       GROUP BY tool, target`,

    episodes: async (ids) => sql<TriedOnce>`
      SELECT incident_id AS "incidentId", error, success FROM episode
       WHERE incident_id = ANY (${listed(ids)}::text[])`,
  };
}
