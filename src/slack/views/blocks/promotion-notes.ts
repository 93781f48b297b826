import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { bold, code, paragraph, person, prose, type Span, words } from './build.ts';
import type { Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type Proposed = Extract<IncidentEvent, { type: 'memory.promotion.proposed' }>;
type Decided = Extract<IncidentEvent, { type: 'memory.promotion.decided' }>;

/** Tells the thread a draft came from what became of it; whoever proposed it is mentioned, once. */
export function drawPromotionNote(record: IncidentRecord, event: Proposed | Decided): Slot {
  const spans = event.type === 'memory.promotion.proposed' ? proposed(event) : decided(record, event);
  const kind = event.type === 'memory.promotion.proposed' ? 'proposed' : 'decided';
  const said =
    kind === 'proposed'
      ? `${event.path} waits for an admin`
      : `${event.path} was ${(event as Decided).decision}`;
  return {
    slot: `promotion:${kind}:${event.jobId}`,
    inThread: true,
    text: escape(oneLine(`${record.incident.id}: ${said}`)),
    blocks: [prose(paragraph(...spans))],
  };
}

function proposed(event: Proposed): readonly Span[] {
  return [
    bold('Proposed for everybody’s memory: '),
    code(cut(event.path, 120)),
    words(`. ${cut(oneLine(event.rationale), 400)} `),
    words('It waits for an admin.', { italic: true }),
  ];
}

function decided({ events }: IncidentRecord, event: Decided): readonly Span[] {
  const proposal = events.find(
    (each) => each.type === 'memory.promotion.proposed' && each.jobId === event.jobId,
  );
  const by = proposal?.type === 'memory.promotion.proposed' ? proposal.by : '';
  const mention = isSlackUser(by) ? [person(by), words(' ')] : [];
  const verb = event.decision === 'approved' ? '✓ Approved' : '✗ Rejected';
  return [
    ...mention,
    bold(`${verb} by `),
    person(event.by),
    words(
      event.decision === 'approved'
        ? ': everybody’s memory now has '
        : ': the draft stays, everybody’s memory does not get ',
    ),
    code(cut(event.path, 120)),
    words(event.reason ? `. ${cut(oneLine(event.reason), 600)}` : '.'),
  ];
}
