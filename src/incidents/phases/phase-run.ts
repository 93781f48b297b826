import type { Incident } from '../../core/incident.ts';
import type { InvestigationDeps } from '../deps.ts';

/** One phase of one turn. `incident` is as it stood when the turn began. */
export interface PhaseRun {
  readonly deps: InvestigationDeps;
  readonly incident: Incident;
  readonly reason: string;
  durably<T>(name: string, fn: () => Promise<T>): Promise<T>;
}
