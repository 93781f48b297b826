import { readQuantities } from '../../core/claims/quantities.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { ToolCall } from '../../core/tool-call.ts';

/** How far a moment may be off what was read: ages are rounded, and clocks of two machines differ. */
const SLACK_MS = 90_000;
/** The same as a share of how long ago it was. */
const SLACK_SHARE = 0.1;

/**
 * Whether a moment when it began stands in anything that was read: as a moment, as the age of something when it was read,
 * or as the alert's own start. What lies ahead has not begun.
 */
export function isShownOnset(
  onset: string,
  read: readonly ToolCall[],
  { incident, alerts = [] }: Pick<IncidentRecord, 'incident'> & Partial<Pick<IncidentRecord, 'alerts'>>,
): boolean {
  const at = Date.parse(onset);
  const known = [incident.openedAt, ...alerts.map(({ startsAt }) => startsAt)].map((iso) => Date.parse(iso));
  const shown = read.flatMap(({ output, finishedAt }) => {
    const readAt = Date.parse(finishedAt);
    const { moments, quantities } = readQuantities(output);
    const ages = quantities.filter(({ kind }) => kind === 'time').map(({ value }) => readAt - value * 1_000);
    return [...moments.flatMap((moment) => moment.at ?? []), ...ages];
  });
  const last = Math.max(...known, ...read.map(({ finishedAt }) => Date.parse(finishedAt)));
  if (!(at <= last + SLACK_MS)) return false;
  const slack = Math.max(SLACK_MS, SLACK_SHARE * (last - at));
  return [...known, ...shown].some((moment) => Math.abs(moment - at) <= slack);
}
