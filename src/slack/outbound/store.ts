import type { IncidentId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import { approvalsMark, hasProposal, undrawnApprovals } from './approvals-marks.ts';
import { burstOf, standingBursts } from './burst.ts';
import { proposalMark, undrawnProposals } from './proposal-marks.ts';
import { isApprovals, isProposal, type MuteId, type SubjectId } from './subject.ts';

/** What is on record about one message. */
export interface PostRow {
  readonly slot: string;
  readonly channel: string;
  /** Null: not posted, or posted and not known (then `postingForMs` is set). */
  readonly ts: string | null;
  readonly sentHash: string | null;
  /** How long ago a post was begun whose end nobody recorded; null: none is open. */
  readonly postingForMs: number | null;
  /** How long ago an edit was last begun; null: never, or by a clock that was set back since. */
  readonly editedMsAgo: number | null;
}

/** How long a lease holds without a sign of life; longer than one call to Slack may take. */
const LEASE_SECONDS = 20;
/** So many are compared with what stands in Slack at each look, about 20 ms of the database's time. */
const SWEEP_PAGE = 1_000;
/** The rest is left to the next sweep: Slack takes about one message a second. */
const SWEEP_LIMIT = 500;

/** The rows of the outbound side: who draws an incident now, and what stands in Slack. */
export function outboundStore(
  sql: Sql,
  holder: string,
  /** Has those of the incidents rest that are muted, or a part of another. */
  hold: (ids: readonly IncidentId[]) => Promise<unknown> = async () => undefined,
) {
  /** The last incident of the page that `undrawn` compared; '' before the first. */
  let looked = '';
  return {
    /** True when this process may draw the incident now. */
    async acquire(id: SubjectId): Promise<boolean> {
      const rows = await sql`
        INSERT INTO slack_lease AS l (incident_id, holder, until)
        VALUES (${id}, ${holder}, clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
        ON CONFLICT (incident_id) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until, drawn_mark = ''
          WHERE l.holder = EXCLUDED.holder OR l.until < clock_timestamp()
        RETURNING 1`;
      return rows.length > 0;
    },

    /** Right before a call: true when nobody has taken over, and then for another full term. */
    async renew(id: SubjectId): Promise<boolean> {
      const rows = await sql`
        UPDATE slack_lease SET until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
        WHERE incident_id = ${id} AND holder = ${holder} AND until > clock_timestamp() RETURNING 1`;
      return rows.length > 0;
    },

    /** `drawnMark` when all of it stands in Slack; null when something is left. */
    async release(id: SubjectId, drawnMark: string | null): Promise<void> {
      await sql`
        UPDATE slack_lease SET until = '-infinity', drawn_mark = coalesce(${drawnMark}, drawn_mark)
        WHERE incident_id = ${id} AND holder = ${holder}`;
    },

    /**
     * Changes with every change of the record, whenever it is committed: row versions and counts, not times. With what is a part of the
     * incident, and where the one that leads it stands.
     */
    async mark(id: SubjectId): Promise<string | null> {
      if (isProposal(id)) return proposalMark(sql, id);
      if (isApprovals(id)) return approvalsMark(sql, id);
      const [row] = await sql<{ readonly mark: string }>`
        SELECT i.xmin::text || ':' || (SELECT count(*) FROM event e WHERE e.incident_id = i.id)
               || ':' || (SELECT coalesce(string_agg(a.xmin::text, ','), '') FROM action a WHERE a.incident_id = i.id)
               || coalesce((SELECT ':' || string_agg(m.xmin::text, ',' ORDER BY m.id) FROM incident m WHERE m.merged_into = i.id), '')
               || coalesce((SELECT ':' || l.thread_ts FROM incident l WHERE l.id = i.merged_into), '') AS mark
        FROM incident i WHERE i.id = ${id}`;
      return row?.mark ?? null;
    },

    /** Whether it stands in Slack as it is on record now. */
    async isDrawn(id: SubjectId): Promise<boolean> {
      const [row] = await sql<{ readonly mark: string | null }>`
        SELECT drawn_mark AS mark FROM slack_lease WHERE incident_id = ${id}`;
      return row?.mark != null && row.mark === (await this.mark(id));
    },

    /**
     * Incidents that are not drawn as they now are, and that nobody draws: those without a first message, those whose drawing was
     * begun and did not end, what has just changed, and each time another page of those at work or changed within a week. So a look
     * costs the same with ten thousand of them, and finds each within some looks even when nobody heard of its change.
     */
    async undrawn(): Promise<readonly IncidentId[]> {
      const page = await sql<{ readonly id: IncidentId }>`
        SELECT id FROM (
          SELECT id FROM incident
           WHERE state IN ('open', 'triaging', 'diagnosing', 'planning', 'awaiting_approval', 'remediating', 'verifying')
             AND id > ${looked}
          UNION SELECT id FROM incident WHERE updated_at > statement_timestamp() - interval '7 days' AND id > ${looked}) AS due
         ORDER BY id LIMIT ${SWEEP_PAGE}`;
      looked = page.length < SWEEP_PAGE ? '' : (page.at(-1)?.id ?? '');
      const rows = await sql<{ readonly id: IncidentId }>`
        WITH due AS (
          SELECT unnest(${sql.array(page.map(({ id }) => id))}::text[]) AS id
          UNION (SELECT id FROM incident
           WHERE state IN ('open', 'triaging', 'diagnosing', 'planning', 'awaiting_approval', 'remediating', 'verifying')
             AND thread_ts IS NULL
           ORDER BY array_position(ARRAY['critical', 'error', 'warning', 'info'], severity), opened_at LIMIT ${SWEEP_LIMIT})
          UNION SELECT id FROM incident WHERE updated_at > statement_timestamp() - interval '2 minutes'
          UNION SELECT incident_id FROM slack_lease WHERE drawn_mark = '' AND incident_id LIKE 'INC-%')
        -- The LIMITs keep it a lookup of each, whatever the planner thinks of their number.
        SELECT i.id FROM due CROSS JOIN LATERAL (SELECT xmin, * FROM incident WHERE id = due.id LIMIT 1) i
          LEFT JOIN LATERAL (SELECT * FROM slack_lease WHERE incident_id = due.id LIMIT 1) l ON true
        WHERE (l.until IS NULL OR l.until < clock_timestamp())
          AND l.drawn_mark IS DISTINCT FROM i.xmin::text || ':' || (SELECT count(*) FROM event e WHERE e.incident_id = i.id)
               || ':' || (SELECT coalesce(string_agg(a.xmin::text, ','), '') FROM action a WHERE a.incident_id = i.id)
               || coalesce((SELECT ':' || string_agg(m.xmin::text, ',' ORDER BY m.id) FROM incident m WHERE m.merged_into = i.id), '')
               || coalesce((SELECT ':' || l.thread_ts FROM incident l WHERE l.id = i.merged_into), '')
        ORDER BY i.opened_at LIMIT ${SWEEP_LIMIT}`;
      return rows.map((row) => row.id);
    },

    hold: (ids: readonly SubjectId[]) => hold(ids as readonly IncidentId[]),

    /** Of these incidents, those without a first message; what is muted, or told of by another's thread, needs none. */
    async withoutRoot(
      ids: readonly SubjectId[],
    ): Promise<readonly { readonly id: IncidentId; readonly severity: string }[]> {
      return sql<{ readonly id: IncidentId; readonly severity: string }>`
        SELECT id, severity FROM incident WHERE id = ANY (${sql.array([...ids])}::text[]) AND thread_ts IS NULL AND muted_by IS NULL AND merged_into IS NULL
         ORDER BY opened_at`;
    },

    burstOf: (ids: readonly SubjectId[]) => burstOf(sql, ids),
    standingBursts: () => standingBursts(sql),
    undrawnProposals: () => undrawnProposals(sql),
    undrawnApprovals: () => undrawnApprovals(sql),
    hasProposal: (id: IncidentId) => hasProposal(sql, id),

    /** Mutes of a week whose begin or end is not told yet. */
    async untoldMutes(): Promise<readonly MuteId[]> {
      const rows = await sql<{ readonly id: MuteId }>`
        SELECT 'mute:' || m.id AS id FROM mute m WHERE m.begun_at > statement_timestamp() - interval '31 days'
           AND (m.closed_at IS NULL OR m.closed_at > statement_timestamp() - interval '7 days')
           AND NOT EXISTS (SELECT FROM slack_post p WHERE p.incident_id = 'mute:' || m.id AND p.ts IS NOT NULL
                              AND p.slot = CASE WHEN m.closed_at IS NULL THEN 'begun' ELSE 'ended' END)`;
      return rows.map(({ id }) => id);
    },

    async posts(id: SubjectId): Promise<ReadonlyMap<string, PostRow>> {
      const rows = await sql<{
        slot: string;
        channel: string;
        ts: string | null;
        hash: string | null;
        open: number | null;
        edited: number | null;
      }>`
        SELECT slot, channel, ts, sent_hash AS hash,
               (extract(epoch FROM clock_timestamp() - posting_since) * 1000)::float8 AS open,
               (extract(epoch FROM clock_timestamp() - edited_at) * 1000)::float8 AS edited
        FROM slack_post WHERE incident_id = ${id}`;
      return new Map(
        rows.map((row) => [
          row.slot,
          {
            slot: row.slot,
            channel: row.channel,
            ts: row.ts,
            sentHash: row.hash,
            postingForMs: row.open,
            editedMsAgo: row.edited !== null && row.edited >= 0 ? row.edited : null,
          },
        ]),
      );
    },

    /** Before a post is tried: from now on only looking in Slack tells whether it stands there. Answers which try this is. */
    async beginPost(id: SubjectId, slot: string, channel: string): Promise<string> {
      const [row] = await sql<{ readonly attempt: string }>`
        INSERT INTO slack_post (incident_id, slot, channel, posting_since)
        VALUES (${id}, ${slot}, ${channel}, clock_timestamp())
        ON CONFLICT (incident_id, slot) DO UPDATE SET posting_since = clock_timestamp(), channel = EXCLUDED.channel
          WHERE slack_post.ts IS NULL
        RETURNING posting_since::text AS attempt`;
      return row?.attempt ?? '';
    },

    /** Slack said no: nothing was posted by this try. Another process' try, begun since, stays open. */
    async abandonPost(id: SubjectId, slot: string, attempt: string): Promise<void> {
      await sql`
        UPDATE slack_post SET posting_since = NULL
        WHERE incident_id = ${id} AND slot = ${slot} AND ts IS NULL AND posting_since::text = ${attempt}`;
    },

    /** It stands there. The root's place becomes the incident's in the same statement. False: another one is on record. */
    async posted(
      id: SubjectId,
      slot: string,
      place: { channel: string; ts: string; hash: string | null },
    ): Promise<boolean> {
      const rows = await sql`
        WITH post AS (
          UPDATE slack_post SET ts = ${place.ts}, channel = ${place.channel}, sent_hash = ${place.hash},
                 posting_since = NULL, posted_at = clock_timestamp()
          WHERE incident_id = ${id} AND slot = ${slot} AND (ts IS NULL OR ts = ${place.ts}) RETURNING 1
        ), root AS (
          UPDATE incident SET channel = ${place.channel}, thread_ts = ${place.ts}
          WHERE id = ${id} AND ${slot} = 'root' AND EXISTS (SELECT FROM post) RETURNING 1
        )
        SELECT 1 FROM post`;
      return rows.length > 0;
    },

    /** Right before an edit, as `renew`: its moment is on record even when nobody lives to record its end. */
    async beginEdit(id: SubjectId, slot: string): Promise<boolean> {
      const rows = await sql`
        WITH held AS (
          UPDATE slack_lease SET until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
          WHERE incident_id = ${id} AND holder = ${holder} AND until > clock_timestamp() RETURNING 1)
        UPDATE slack_post SET edited_at = clock_timestamp()
        WHERE incident_id = ${id} AND slot = ${slot} AND EXISTS (SELECT FROM held) RETURNING 1`;
      return rows.length > 0;
    },

    async edited(id: SubjectId, slot: string, hash: string | null): Promise<void> {
      await sql`UPDATE slack_post SET sent_hash = ${hash} WHERE incident_id = ${id} AND slot = ${slot}`;
    },

    /**
     * Of a thread that is deleted: what is drawn is posted anew. An answer was said, and is not said again. False: it is not the thread
     * on record.
     */
    async forgetThread(id: SubjectId, rootTs: string): Promise<boolean> {
      const rows = await sql`
        WITH gone AS (
          SELECT FROM slack_post WHERE incident_id = ${id} AND slot = 'root' AND ts = ${rootTs}
        ), thread AS (
          UPDATE incident SET thread_ts = NULL WHERE id = ${id} AND thread_ts = ${rootTs}
        )
        UPDATE slack_post SET ts = NULL, sent_hash = NULL, posting_since = NULL
        WHERE incident_id = ${id} AND slot NOT LIKE 'answer:%' AND slot NOT LIKE 'followup:%'
          AND EXISTS (SELECT FROM gone) RETURNING slot`;
      return rows.length > 0;
    },

    /** Where other incidents' threads are. */
    async places(
      ids: readonly IncidentId[],
    ): Promise<ReadonlyMap<IncidentId, { channel: string; ts: string }>> {
      if (ids.length === 0) return new Map();
      const rows = await sql<{ id: IncidentId; channel: string; ts: string }>`
        SELECT id, channel, thread_ts AS ts FROM incident
        WHERE id = ANY (${sql.array([...ids])}::text[]) AND channel IS NOT NULL AND thread_ts IS NOT NULL`;
      return new Map(rows.map((row) => [row.id, { channel: row.channel, ts: row.ts }]));
    },
  };
}

export type OutboundStore = ReturnType<typeof outboundStore>;
