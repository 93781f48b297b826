import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { CLAUDES_WORDS } from '../../../core/model-words.ts';
import { bold, paragraph, prose, words } from './build.ts';
import { nextStepOf, whyNoPlan } from './next-step.ts';
import type { Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type NoPlan = Extract<IncidentEvent, { type: 'plan.none' }>;

/** The answer to whoever asked for another way, or whose plan fell away, when there is no other: a message of its own. */
export function drawNoOtherWay(record: IncidentRecord, event: NoPlan, number: number): Slot {
  const denied = record.events.findLast(
    ({ type, seq }) => seq < event.seq && (type === 'action.denied' || type === 'action.void'),
  );
  const head =
    denied?.type === 'action.denied'
      ? 'There is no other way that I can offer.'
      : 'Nothing else is proposed.';
  const reason = event.reason.trim();
  const { incident } = record;
  const isLast = !record.events.some(({ type, seq }) => seq > event.seq && type === 'plan.none');
  const next =
    isLast && incident.state === 'reported' && incident.nextStep !== reason ? nextStepOf(incident, 60) : [];
  return {
    slot: `no-plan:${number}`,
    inThread: true,
    text: escape(oneLine(`${incident.id}: ${head} ${cut(reason, 400)}`)),
    blocks: [
      prose(
        paragraph(bold(head), ...(reason ? [words(' '), ...whyNoPlan(event, event.said ? 70 : 120)] : [])),
        ...(next.length > 0 ? [paragraph(bold('Next: '), ...next)] : []),
        ...(event.said ? [paragraph(bold(`${CLAUDES_WORDS}: `), words(cut(oneLine(event.said), 70)))] : []),
      ),
    ],
  };
}
