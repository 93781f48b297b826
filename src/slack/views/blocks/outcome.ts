import { type Action, stepsOf } from '../../../core/action.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { stepResult } from '../../../core/plan-progress.ts';
import { checkedOf, formatChecked } from '../../../incidents/questions/format-lasting-fix.ts';
import { bold, paragraph, prose, words } from './build.ts';
import { drawResults, endedTitle } from './plan-steps.ts';
import type { Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type Finished = Extract<IncidentEvent, { type: 'action.finished' }>;
type Void = Extract<IncidentEvent, { type: 'action.void' }>;

/** What became of an approved action; of a plan of several, step by step. */
export function drawResult(record: IncidentRecord, action: Action, event: Finished | Void): Slot {
  const steps = stepsOf(record.actions, action);
  const head = endedTitle(steps, checkedOf(record, action));
  const said = event.type === 'action.void' ? event.reason : event.text;
  const told = steps.map((step) => {
    const { mark, says } = stepResult(step, steps);
    return `${mark} ${step.step} ${cut(says, 160)}`;
  });
  return {
    slot: `result:${action.planId}`,
    inThread: true,
    text: escape(
      oneLine(`${record.incident.id}: ${head}. ${steps.length > 1 ? told.join(' · ') : cut(said, 400)}`),
    ),
    blocks: [
      prose(
        paragraph(bold(head)),
        ...(steps.length > 1 ? drawResults(steps) : said ? [paragraph(words(cut(said.trim(), 1500)))] : []),
        ...effect(record, steps[0] ?? action),
        ...checking(record, event),
      ),
    ],
  };
}

/** Of a lasting fix, whether the live system shows it. */
function effect(record: IncidentRecord, action: Action) {
  const checked = checkedOf(record, action);
  return checked ? [paragraph(bold(cut(oneLine(formatChecked(checked)), 600)))] : [];
}

/** While the live system is being re-read, what it shows now. */
function checking(record: IncidentRecord, event: Finished | Void) {
  if (event.type === 'action.void' || record.incident.state !== 'verifying') return [];
  const check = record.events.findLast(
    (each) => each.type === 'verification.checked' && each.seq > event.seq,
  );
  if (check?.type !== 'verification.checked')
    return [paragraph(words('Now checking on the live system that it is really gone …', { italic: true }))];
  const holds =
    check.holds === null ? 'could not be read' : check.holds ? 'holds so far' : 'not yet as it should be';
  return [
    paragraph(words(`Checking on the live system: ${holds} …`, { italic: true })),
    ...check.lines.slice(0, 6).map((line) => paragraph(words(cut(oneLine(line), 200)))),
  ];
}
