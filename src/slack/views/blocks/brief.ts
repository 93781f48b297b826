import { groupTitle } from '../../../core/group.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { causeFound, causeTitle } from '../../../core/model-words.ts';
import { formatNextStep, formatStanding } from '../../../incidents/questions/format-state.ts';
import type { Say } from '../../outbound/tell.ts';
import { bold, link, paragraph, prose, type Span, words } from './build.ts';
import { asOf } from './diagnosis.ts';
import { formatCause, mark, standingOf } from './labels.ts';
import { nextStepOf } from './next-step.ts';
import { cut, oneLine } from './text.ts';

/** How an incident stands, in a few lines for a phone. `url`: its thread. */
export function briefOf(record: IncidentRecord, url: string | null): Say {
  const { incident } = record;
  const title = `${incident.id} ${cut(oneLine(groupTitle(incident)), 150)}`;
  const cause = formatCause(record, 400);
  const causeLabel = causeTitle(record);
  const next = formatNextStep(incident);
  const lines: readonly (readonly Span[])[] = [
    [words(`${mark(incident)} `), bold(title)],
    [...standingOf(incident), words(` · ${cut(oneLine(incident.target ?? 'unknown target'), 60)}`)],
    ...(cause ? [[bold(causeLabel), words(cause), ...asOf(causeFound(record.events)?.at)]] : []),
    ...(next ? [[bold('Next: '), ...nextStepOf(incident, 300)]] : []),
    ...(url ? [[link(url, 'Open its thread')]] : []),
  ];
  return {
    text: [title, formatStanding(incident), cause && `${causeLabel}${cause}`, next && cut(oneLine(next), 400)]
      .filter(Boolean)
      .join(' · '),
    blocks: [prose(...lines.map((spans) => paragraph(...spans)))],
  };
}
