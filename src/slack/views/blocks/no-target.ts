import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { lineForTarget } from '../../../ingest/line-for-target.ts';
import { paragraph, prose, verbatim, words } from './build.ts';
import type { Slot } from './slot.ts';
import { escape } from './text.ts';

/** That an alert is about no target, and what to write so that the next one is; whoever opens one by hand is answered there. */
export function drawNoTarget(
  { incident }: IncidentRecord,
  { source }: Extract<IncidentEvent, { type: 'incident.opened' }>,
): Slot | null {
  if (incident.target !== null || source === 'hand') return null;
  const line = lineForTarget(incident.labels);
  const says =
    line === null
      ? 'No target fits this alert, and none of its labels could tell which: let its rule set a label “target”.'
      : 'No target fits this alert, so I cannot look at its system. Add this to its target in sentry.yaml:';
  return {
    slot: 'no-target',
    inThread: true,
    text: escape(line === null ? says : `${says} ${line}`),
    blocks: [prose(paragraph(words(says)), ...(line === null ? [] : [verbatim(line)]))],
  };
}
