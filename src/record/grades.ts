import { type Refusal, refuse } from '../core/errors.ts';
import type { Grade } from '../core/grade.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import type { IncidentRecords } from './record.ts';

/** What people thought of an incident's work, once it was over. */
export interface Grades {
  /** Stores or changes one person's answer. The same answer again changes nothing. */
  give(
    incidentId: IncidentId,
    grade: Grade,
  ): Promise<{ readonly ok: true; readonly changed: boolean } | Refusal>;
}

export function createGrades(sql: Sql, records: Pick<IncidentRecords, 'append'>): Grades {
  return {
    give: (incidentId, { question, by, answer }) =>
      sql.begin(async (tx) => {
        // The runbook of the diagnosis that is graded: its trust is what the answer moves.
        const [told] = await tx<{ runbook_id: string | null }>`
          SELECT body->'diagnosis'->>'runbookId' AS runbook_id FROM event
           WHERE incident_id = ${incidentId} AND type = 'diagnosis.concluded' ORDER BY seq DESC LIMIT 1`;
        if (!told) return refuse('NOTHING_TO_GRADE', `${incidentId} has no diagnosis.`);
        const rows = await tx`
          INSERT INTO grade (incident_id, question, by, answer, runbook_id)
          VALUES (${incidentId}, ${question}, ${by}, ${answer}, ${told.runbook_id})
          ON CONFLICT (incident_id, question, by) DO UPDATE
             SET answer = excluded.answer, runbook_id = excluded.runbook_id, at = clock_timestamp()
           WHERE grade.answer <> excluded.answer
          RETURNING 1`;
        const changed = rows.length > 0;
        if (changed) await records.append(tx, incidentId, { type: 'grade.given', question, by, answer });
        return { ok: true, changed };
      }),
  };
}
