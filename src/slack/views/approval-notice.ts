import type { Action } from '../../core/action.ts';
import type { Incident } from '../../core/incident.ts';
import { bold, deadline, link, paragraph, prose, words } from './blocks/build.ts';
import type { Slot } from './blocks/slot.ts';
import { cut, escape, oneLine } from './blocks/text.ts';

/** The one message to one person about an approval: that it waits, then how it ended. There is nothing to press but the way to its card. */
export function formatNotice({
  action,
  incident,
  waitsAt,
  decidedBy,
}: {
  /** Null: they may not read of it any more. */
  readonly action: Action | null;
  readonly incident: Incident | null;
  /** Where its card is; null: it does not wait for them any more. */
  readonly waitsAt: string | null;
  readonly decidedBy: string | null;
}): Slot {
  const of = incident
    ? `${incident.id} on ${cut(oneLine(incident.target ?? 'an unknown system'), 60)}`
    : null;
  if (action && incident && waitsAt !== null)
    return {
      slot: 'approval',
      inThread: false,
      text: escape(`An approval waits for you: ${of}`),
      blocks: [
        prose(
          paragraph(
            bold('An approval waits for you'),
            words(` · ${of} · open until `),
            deadline(action.expiresAt, action.proposedAt),
          ),
          paragraph(words(cut(oneLine(incident.title), 200))),
          paragraph(link(waitsAt, 'Look at its card')),
        ),
      ],
    };
  const says = `${of === null ? 'An approval' : `The approval of ${of}`}: ${outcomeOf(action, decidedBy)}`;
  return { slot: 'approval', inThread: false, text: escape(says), blocks: [prose(paragraph(words(says)))] };
}

function outcomeOf(action: Action | null, decidedBy: string | null): string {
  const by = decidedBy === null ? '' : ` by ${cut(oneLine(decidedBy), 80)}`;
  switch (action?.state) {
    case 'approved':
    case 'started':
    case 'succeeded':
    case 'failed':
    case 'unknown':
      return `approved${by}.`;
    case 'denied':
      return `denied${by}.`;
    case 'expired':
      return 'nobody decided in time; nothing was run.';
    case 'proposed':
    case 'queued':
    case 'void':
    case 'skipped':
    case undefined:
      return 'it does not wait for you any more.';
  }
}
