import type { Domain } from '../core/incident.ts';

/** Domain is a hard filter in an incident: a collection each. */
export const runbooksOf = (domain: Domain): string => `runbooks-${domain}`;
export const incidentsOf = (domain: Domain): string => `incidents-${domain}`;
