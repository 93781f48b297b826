import type { Tx } from '../core/sql.ts';

/** So many numbers may have been given since the backup. */
const NUMBERS_LEFT_OUT = 1_000;

/**
 * What a restored record must not be believed in: anything may have happened since it was saved. Nothing in it is approved
 * any more, nothing is changed until a person resumes, no incident gets a number that may have been given, and every thread
 * is drawn again and says so.
 */
export async function afterRestore(tx: Tx, madeAt: string): Promise<void> {
  const reason = `Restored from a backup of ${madeAt}: it may have been done since.`;
  await tx`
    WITH open AS (
      UPDATE action SET state = 'void', outcome = ${reason}, finished_at = clock_timestamp()
       WHERE state IN ('proposed', 'approved') RETURNING id, incident_id
    )
    INSERT INTO event (incident_id, type, body)
    SELECT incident_id, 'action.void', jsonb_build_object('actionId', id, 'reason', ${reason}::text) FROM open`;
  await tx`
    UPDATE action SET state = 'skipped', outcome = ${reason}, finished_at = clock_timestamp() WHERE state = 'queued'`;
  await tx`
    INSERT INTO event (incident_id, type, body)
    SELECT id, 'record.restored', jsonb_build_object('madeAt', ${madeAt}::text) FROM incident
     WHERE state NOT IN ('ignored', 'resolved') OR updated_at > ${madeAt}::timestamptz - interval '1 day'`;
  await tx`UPDATE incident SET updated_at = clock_timestamp()
            WHERE id IN (SELECT incident_id FROM event WHERE type = 'record.restored')`;
  await tx`UPDATE slack_post SET sent_hash = NULL
            WHERE incident_id IN (SELECT incident_id FROM event WHERE type = 'record.restored')`;
  await tx`
    INSERT INTO switch (scope, stopped, reason, by) VALUES ('*', true, ${`restored from a backup of ${madeAt}`}, 'sentry restore')
    ON CONFLICT (scope) DO UPDATE SET stopped = true, reason = EXCLUDED.reason, by = EXCLUDED.by,
      at = clock_timestamp(), until = NULL`;
  // Whoever was to be called then has heard of it.
  await tx`UPDATE escalation SET since = clock_timestamp(), next_at = NULL`;
  await tx`SELECT setval('incident_number', nextval('incident_number') + ${NUMBERS_LEFT_OUT})`;
}
