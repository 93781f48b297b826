import { callStateOf } from '../../../core/calls.ts';
import { isResting } from '../../../core/effort.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isEnded, mayMove, nextWork } from '../../../core/machine.ts';
import { isMerged } from '../../../core/merged-with.ts';
import { mutedNow } from '../../../core/muted-now.ts';
import { askLabel } from './again.ts';
import { button, type OptionShape, overflow } from './build.ts';
import { partButtons } from './merged.ts';
import { ACTIONS, type DrawOptions } from './slot.ts';

type Options = Partial<DrawOptions>;

/** What may be pressed now, the likeliest first; the rest is behind three dots. */
export function buttonsOf(record: IncidentRecord, options: Options) {
  const { id } = record.incident;
  const more = moreOf(record);
  return [
    ...takeButton(record),
    ...partButtons(record, options),
    ...stopButton(record),
    ...digButton(record, options),
    ...(isMerged(record.incident) ? [] : investigateButton(record)),
    more.length > 1
      ? overflow(ACTIONS.more, more)
      : button({ text: 'What happened, and why', action: ACTIONS.why, value: id }),
  ];
}

/** *I have it*, while somebody should and nobody does. */
function takeButton(record: IncidentRecord) {
  const { incident, events } = record;
  const { id, state, effort } = incident;
  const isQuiet =
    isMerged(incident) || mutedNow(record) !== null || (state === 'reported' && isResting(effort));
  const { acknowledged } = callStateOf(events);
  const isTaken = acknowledged !== null && acknowledged.how !== 'acted';
  return isEnded(state) || state === 'stopped' || isQuiet || isTaken
    ? []
    : [button({ text: 'I have it', action: ACTIONS.take, value: id })];
}

/** *Stop* while Sentry is at work or will be by itself, *Resume* once it is stopped. */
function stopButton({ incident }: IncidentRecord) {
  const { id, state, asksAgainAt } = incident;
  if (state === 'stopped') return [button({ text: 'Resume', action: ACTIONS.resume, value: id })];
  const isBusy = nextWork(state) !== 'wait' || asksAgainAt !== null;
  return isBusy && !isMerged(incident) ? [button({ text: 'Stop', action: ACTIONS.stop, value: id })] : [];
}

/** Where an investigation went no further, and there is a model to look again. */
function digButton({ incident: { id, state }, events }: IncidentRecord, { mayDig = false }: Options) {
  const isLeft = state === 'reported' || state === 'escalated';
  return mayDig && isLeft && events.some(({ type }) => type === 'diagnosis.concluded')
    ? [button({ text: 'Dig deeper', action: ACTIONS.dig, value: id })]
    : [];
}

/** Where less was done than a person may want. */
export function investigateButton({ incident: { id, state, effort }, events }: IncidentRecord) {
  if (state !== 'reported' || !isResting(effort)) return [];
  return [button({ text: askLabel(events), action: ACTIONS.investigate, value: id })];
}

/** What is chosen behind the three dots: `close:INC-7`. */
export const moreActions = ['why', 'severity', 'assign', 'merge', 'close', 'link'] as const;
export type MoreAction = (typeof moreActions)[number];

/** Slack takes five: where the alert has an address, two incidents are put together by a command. */
function moreOf(record: IncidentRecord): readonly OptionShape[] {
  const { id, state } = record.incident;
  const option = (action: MoreAction, text: string): OptionShape => ({ text, value: `${action}:${id}` });
  const url = alertUrl(record);
  const isOpen = !isEnded(state);
  return [
    option('why', 'What happened, and why'),
    ...(isOpen ? [option('severity', 'Change severity'), option('assign', 'Assign')] : []),
    ...(isOpen && url === null ? [option('merge', 'Merge into …')] : []),
    ...(isOpen && mayMove(state, 'resolved') ? [option('close', 'Close')] : []),
    ...(url === null ? [] : [{ ...option('link', 'Open the alert'), url }]),
  ];
}

function alertUrl({ alerts }: IncidentRecord): string | null {
  const url = alerts.findLast((alert) => alert.url !== null)?.url;
  // Slack refuses the whole message for an address that is none.
  return url && /^https?:\/\//i.test(url) && URL.canParse(url) && url.length <= 3000 ? url : null;
}
