import { OpsError } from '../core/errors.ts';
import { parseIncidentId } from '../core/ids.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { IncidentRecords } from '../record/record.ts';

/** The record of an incident named as people type it. Throws OpsError NOT_FOUND. */
export async function loadIncident(records: IncidentRecords, text: string): Promise<IncidentRecord> {
  const id = parseIncidentId(text);
  const record = id ? await records.load(id) : null;
  if (!record)
    throw new OpsError('NOT_FOUND', `There is no incident "${text}".`, {
      hint: 'sentry incidents lists them; an id looks like INC-7.',
    });
  return record;
}
