import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { link, paragraph, prose, words } from './build.ts';
import type { Slot } from './slot.ts';
import { escape } from './text.ts';

/** Where the post-incident report is; a file and a message of the thread stand there themselves. */
export function drawReport(
  { incident: { id } }: IncidentRecord,
  { place, url }: Extract<IncidentEvent, { type: 'report.made' }>,
): Slot | null {
  if (place !== 'canvas') return null;
  const rest = ': made from the record; what you write there does not change it.';
  return {
    slot: 'report:1',
    inThread: true,
    text: escape(`Post-mortem of ${id}${rest} ${url}`),
    blocks: [prose(paragraph(words('📄 '), link(url, `Post-mortem of ${id}`), words(rest)))],
  };
}
