import type { Triage } from '../core/diagnosis.ts';
import type { Incident } from '../core/incident.ts';

/** The incident as its row is once triage has concluded. */
export function asTriaged(incident: Incident, { severity, incidentType, routine }: Triage): Incident {
  return {
    ...incident,
    state: 'diagnosing',
    severity,
    incidentType,
    routine,
    nextStep: 'Looking for the cause.',
  };
}

/** What triage has concluded, for who looks after it: the row as it stands now (people may have changed it), and why. */
export function triageOf(incident: Incident, reason: string): Triage {
  const { severity, incidentType, routine } = incident;
  return { severity, incidentType, routine: routine ?? false, ignore: false, reason };
}
