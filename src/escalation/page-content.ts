import { clipLine } from '../core/clip.ts';
import { describeAct } from '../core/describe-act.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { outwardText } from '../safety/screen/boundary.ts';
import type { Page } from './ports.ts';

const LINE = 300;
const MOST_LINES = 12;

/** What a paging service is told of an incident as it is now. `url`: its thread. */
export function pageContent(
  { incident, events, actions }: IncidentRecord,
  url: string | null,
): Pick<Page, 'severity' | 'target' | 'evidence' | 'url'> {
  const found = events.findLast((event) => event.type === 'diagnosis.concluded');
  const claims = found?.type === 'diagnosis.concluded' ? found.diagnosis.evidence : [];
  const lines = [
    ...(incident.cause === null ? [] : [`Cause so far: ${incident.cause}`]),
    ...claims.slice(0, 5).map(({ claim }) => claim),
    ...actions
      .slice(-3)
      .flatMap((action) => (action.outcome ? [`${describeAct(action)}: ${action.outcome}`] : [])),
    ...(incident.nextStep === null ? [] : [`Next: ${incident.nextStep}`]),
  ];
  return {
    severity: incident.severity,
    target: incident.target,
    evidence: lines.slice(0, MOST_LINES).map((line) => outwardText(clipLine(line, LINE))),
    url,
  };
}
