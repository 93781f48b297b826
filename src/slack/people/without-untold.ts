import type { IncidentId } from '../../core/ids.ts';
import { hideMerged, mergedWith } from '../../core/merged-with.ts';
import type { SlackRecords } from '../ports.ts';
import type { Access } from './access.ts';

/**
 * The record as Slack shows it: what an incident is a part of, and what is a part of it, is named where those who read its thread may read of
 * that too. Here, so that no view, window or answer has to think of it.
 */
export function withoutUntold(records: SlackRecords, access: Pick<Access, 'mayTell'>): SlackRecords {
  return {
    ...records,
    async load(id) {
      const record = await records.load(id);
      const others = record === null ? [] : mergedWith(record.events);
      if (record === null || others.length === 0) return record;
      const incidents = await records.incidents(others);
      const may = await Promise.all(incidents.map((one) => access.mayTell(one, record.incident)));
      const told = new Set<IncidentId>(incidents.filter((_, at) => may[at]).map((one) => one.id));
      return hideMerged(record, (other) => told.has(other));
    },
  };
}
