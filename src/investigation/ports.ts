import type { IncidentId } from '../domain/ids.ts';

/** Told after a change has been committed; must not throw and must not wait. What it draws, it draws from the record. */
export interface Reporter {
  changed(incidentId: IncidentId): void;
}
