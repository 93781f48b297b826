import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { causeFound, causeTitle } from '../../../core/model-words.ts';
import { bold, heading, paragraph, prose, words } from './build.ts';
import { asOf } from './diagnosis.ts';
import { feedbackBlocks } from './feedback.ts';
import { facts, money, span, verdictLabels, verdictMarks } from './labels.ts';
import { nextStepOf } from './next-step.ts';
import type { Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type Verified = Extract<IncidentEvent, { type: 'verification.concluded' }>;
type Escalated = Extract<IncidentEvent, { type: 'incident.escalated' }>;

/** Fixed, not fixed or cannot tell, with what was seen. `number` counts from 1. */
export function drawVerification(record: IncidentRecord, event: Verified, number: number): Slot {
  const head = isOverBySource(record, event)
    ? '⚪ Over, but not confirmed'
    : `${verdictMarks[event.verdict]} ${verdictLabels[event.verdict]}`;
  const check = record.events.findLast(
    (each) => each.type === 'verification.checked' && each.seq < event.seq,
  );
  const lines = check?.type === 'verification.checked' ? check.lines : [];
  const reason = event.reason.trim() || 'No reason was given.';
  // The reason may be the lines themselves, with the numbers of a later look: they are not said twice.
  const withoutNumbers = (text: string): string => text.replace(/\d[\d.,]*/g, '#');
  const same =
    lines.length > 0 && lines.every((line) => withoutNumbers(reason).includes(withoutNumbers(line)));
  return {
    slot: `verification:${number}`,
    inThread: true,
    text: escape(oneLine(`${record.incident.id}: ${head}. ${cut(event.reason, 400)}`)),
    blocks: [
      heading(head),
      prose(
        paragraph(words(same ? `Seen on the live system${heldFor(reason)}:` : cut(reason, 1000))),
        ...(lines.length > 0 && !same ? [paragraph(words('Seen on the live system:'))] : []),
        ...lines.slice(0, 8).map((line) => paragraph(words(cut(oneLine(line), 300)))),
      ),
    ],
  };
}

/** The source ended what our own check does not confirm. */
function isOverBySource({ events }: IncidentRecord, { seq, verdict }: Verified): boolean {
  if (verdict !== 'cannot_tell') return false;
  const next = events.find((each) => each.type === 'state.changed' && each.seq > seq);
  return next?.type === 'state.changed' && next.to === 'resolved';
}

/** `, held for 10 s` out of a reason that says so. */
const heldFor = (reason: string): string => {
  const held = /\(held for [^)]{1,20}\)/.exec(reason)?.[0];
  return held ? `, ${held.slice(1, -1)}` : '';
};

/** Why it goes no further; who is called for it stands below, see `drawCall`. */
export function drawEscalation(record: IncidentRecord, event: Escalated, number: number): Slot {
  return {
    slot: `escalation:${number}`,
    inThread: true,
    text: escape(oneLine(`${record.incident.id} needs a person: ${cut(event.reason, 400)}`)),
    blocks: [
      heading('🚨 A person is needed'),
      prose(
        paragraph(words(cut(event.reason.trim() || 'No reason was given.', 1500))),
        ...(record.incident.nextStep ? [paragraph(bold('Next: '), ...nextStepOf(record.incident, 500))] : []),
        paragraph(
          words('Everything seen and tried is in this thread. Mention me with a hint, and I look again.', {
            italic: true,
          }),
        ),
      ),
    ],
  };
}

/** Beside what was done, which is ours to say; old summaries hold it already. */
function cause(record: IncidentRecord, said: string) {
  const { incident } = record;
  if (incident.cause === null || said.includes(incident.cause)) return [];
  return [
    paragraph(
      bold(causeTitle(record)),
      words(cut(oneLine(incident.cause), 900)),
      ...asOf(causeFound(record.events)?.at),
    ),
  ];
}

/** How it ended. `text`: the summary on record, null when the source just said it is over. */
export function drawSummary(
  record: IncidentRecord,
  text: string | null,
  number: number,
  endedAt: string,
  isConfirmed: boolean,
): Slot {
  const { incident } = record;
  const head = isConfirmed ? `🟢 ${incident.id} is resolved` : `⚪ ${incident.id} is over`;
  const said =
    text ??
    (incident.resolvedBy === 'person'
      ? 'A person says it is over.'
      : 'The source of the alert says it is over.');
  return {
    slot: `summary:${number}`,
    inThread: true,
    text: escape(oneLine(`${head}: ${cut(said, 500)}`)),
    blocks: [
      prose(
        paragraph(
          bold(head),
          words(` · ${facts(`after ${span(incident.openedAt, endedAt)}`, money(incident.costUsd))}`),
        ),
        paragraph(words(cut(said.trim() || 'No summary was given.', 2500))),
        ...cause(record, said),
      ),
      // Asked once, also when the incident comes back.
      ...(number === 1 ? feedbackBlocks(record) : []),
    ],
  };
}
