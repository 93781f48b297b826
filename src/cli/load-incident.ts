import type { Config } from '../config/config.ts';
import { OpsError } from '../core/errors.ts';
import { parseIncidentId } from '../core/ids.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { createRecords } from '../record/record.ts';
import { withStore } from './with-store.ts';

/** The record of an incident named as people type it, out of the store of this configuration. Throws OpsError NOT_FOUND. */
export function loadIncident(
  text: string,
): Promise<{ readonly record: IncidentRecord; readonly config: Config }> {
  return withStore(async ({ sql }, config) => {
    const id = parseIncidentId(text);
    const record = id ? await createRecords(sql).load(id) : null;
    if (!record) throw noIncident(text);
    return { record, config };
  });
}

export const noIncident = (text: string): OpsError =>
  new OpsError('NOT_FOUND', `There is no incident "${text}".`, {
    hint: 'sentry incidents lists them; an id looks like INC-7.',
  });
