import { describeAnswer } from '../../core/describe-changes.ts';
import { effortLabels } from '../../core/effort.ts';
import type { IncidentEvent } from '../../core/event.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { formatMergeReason, type MergeEventBody } from '../../core/merge.ts';
import { withoutMarks } from '../../core/model-words.ts';
import { mutedNow } from '../../core/muted-now.ts';
import { formatScope, formatSetter } from '../../core/switch-scope.ts';
import { cited } from './format-cause.ts';

type Moment = (iso: string) => string;
type Rest =
  | 'effort.chosen'
  | 'changes.looked'
  | 'change.told'
  | 'incident.looked'
  | 'incident.muted'
  | 'incident.unmuted'
  | MergeEventBody['type']
  | 'incident.stopped'
  | 'incident.resumed'
  | 'incident.closed'
  | 'severity.changed'
  | 'switch.set'
  | 'switch.cleared';

/** What a look has found, with what it takes back. */
export function formatLooked({
  outcome,
  says,
  differences,
  withdrew,
  again,
}: Pick<
  Extract<IncidentEvent, { type: 'incident.looked' }>,
  'outcome' | 'says' | 'differences' | 'withdrew' | 'again'
>): string {
  return [
    outcome === 'could_not_look' ? `I could not tell whether it is still so. ${says}` : says,
    ...(outcome === 'same' && differences.length > 0 ? [`Other than then: ${differences.join('; ')}.`] : []),
    ...(withdrew ? ['What was asked for is withdrawn.'] : []),
    ...(again ? ['I look for the cause again.'] : []),
  ].join(' ');
}

/** What an incident waits for now; none: it does not. */
export function formatMuted(record: IncidentRecord, moment: Moment): readonly string[] {
  const muted = mutedNow(record);
  if (muted === null) return [];
  const { until, by, mute, matcher, reason } = muted;
  return [
    `*Muted* until ${moment(until)} by ${formatSetter(by)} (${mute}, ${matcher})${reason ? `: ${reason}` : ''}. Nothing is looked into until then; to end it: /sentry unmute ${mute}`,
  ];
}

/** That it was stopped, waited, went on, or how much was to be done about it. */
export function formatRest(event: Extract<IncidentEvent, { type: Rest }>, moment: Moment): string {
  switch (event.type) {
    case 'changes.looked':
      return `looked for what was changed${cited([event.toolCallId])}: ${withoutMarks(describeAnswer(event.found))}`;
    case 'change.told':
      return `changed since: ${event.title}`;
    case 'incident.looked':
      return `looked again after ${event.after}: ${formatLooked(event)}`;
    case 'effort.chosen':
      return `effort ${effortLabels[event.effort]}${event.rule === null ? '' : `, by the policy (${event.rule})`}${event.by === undefined ? '' : `, asked for by <@${event.by}>`}`;
    case 'incident.muted':
      return `muted until ${moment(event.until)} by ${formatSetter(event.by)} (${event.mute})${event.reason ? `: ${event.reason}` : ''}`;
    case 'incident.unmuted':
      return `no longer muted (${event.mute})`;
    case 'incident.merged':
      return `part of ${event.into}: ${formatMergeReason(event.because)}`;
    case 'member.merged':
      return `${event.incident} is a part of this: ${formatMergeReason(event.because)}`;
    case 'incident.split':
      return `on its own again, not a part of ${event.from}${formatSplitter(event.by)}`;
    case 'member.split':
      return `${event.incident} is on its own again${formatSplitter(event.by)}`;
    case 'incident.stopped':
      return `<@${event.by}> stopped it${event.reason ? `: ${event.reason}` : ''}`;
    case 'incident.resumed':
      return `<@${event.by}> resumed it`;
    case 'incident.closed':
      return `${formatSetter(event.by)} closed it${event.reason ? `: ${event.reason}` : ''}`;
    case 'severity.changed':
      return `<@${event.by}> changed its severity from ${event.from} to ${event.to}`;
    case 'switch.set':
      return `${formatSetter(event.by)} stopped all changes (${formatScope(event.scope)})${event.until ? ` until ${moment(event.until)}` : ''}${event.reason ? `: ${event.reason}` : ''}`;
    case 'switch.cleared':
      return `${formatSetter(event.by)} resumed changes (${formatScope(event.scope)})${event.reason ? `: ${event.reason}` : ''}`;
  }
}

const formatSplitter = (by: string | null): string => (by === null ? '' : `, split by <@${by}>`);
