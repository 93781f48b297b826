import type { Sql } from '../../core/sql.ts';
import type { ProposalId } from './subject.ts';

/** The mark of a card whose proposal was forgotten. */
const GONE = 'gone';

interface Marked {
  readonly id: ProposalId;
  /** Changes with all that the card shows: decision, trial of the steps, and while it waits the text it would replace. */
  readonly mark: string;
  readonly due: boolean;
}

/** Of one proposal, or of all that wait or were decided less than a day ago. */
async function marks(sql: Sql, one: ProposalId | null): Promise<readonly Marked[]> {
  const rows = await sql`
    SELECT p.id, p.mark, (l.until IS NULL OR l.until < clock_timestamp()) AND l.drawn_mark IS DISTINCT FROM p.mark AS due
    FROM (
      SELECT j.id, j.xmin::text || ':' || coalesce(d.xmin::text, '') || ':'
             || CASE j.state WHEN 'pending' THEN coalesce(now.sha256, '') ELSE '' END AS mark
      FROM dream_job j JOIN dream_review_item i ON i.job_id = j.id
      JOIN memory_version v ON v.document_id = i.document_id AND v.number = i.version
      LEFT JOIN memory_dry_run d ON d.job_id = j.id AND d.sha256 = v.sha256
      LEFT JOIN memory_document now ON now.store = i.target_store AND now.path = i.target_path AND coalesce(now.incident_id, '') = ''
      WHERE j.id IN (
        SELECT id FROM dream_job WHERE id = ${one}
        UNION ALL SELECT id FROM dream_job WHERE ${one}::text IS NULL AND state = 'pending'
        UNION ALL SELECT id FROM dream_job WHERE ${one}::text IS NULL AND decided_at > statement_timestamp() - interval '1 day')
    ) p LEFT JOIN slack_lease l ON l.incident_id = p.id`;
  return rows as unknown as readonly Marked[];
}

export async function proposalMark(sql: Sql, id: ProposalId): Promise<string> {
  return (await marks(sql, id))[0]?.mark ?? GONE;
}

/** Whose card shows something else than the record, or stands for a proposal that was forgotten. */
export async function undrawnProposals(sql: Sql): Promise<readonly ProposalId[]> {
  const gone = await sql<{ id: ProposalId }>`
    SELECT l.incident_id AS id FROM slack_lease l
    WHERE starts_with(l.incident_id, 'dream_') AND l.drawn_mark <> ${GONE} AND l.until < clock_timestamp()
      AND NOT EXISTS (SELECT FROM dream_job j WHERE j.id = l.incident_id)`;
  const due = (await marks(sql, null)).filter((one) => one.due);
  return [...due.map(({ id }) => id), ...gone.map(({ id }) => id)];
}
