import type { IncidentEvent } from '../../core/event.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isCallOfLook } from '../../core/told-changes.ts';
import { withoutCites } from './format-cause.ts';
import { formatEvent } from './format-event.ts';
import { onOneLine, withoutMarks } from './own-marks.ts';

/** One thing that happened, in words. */
export interface TimelineEntry {
  /** Of its event; grows. */
  readonly seq: number;
  readonly at: string;
  readonly text: string;
}

/** What happened, oldest first, in one line each as `why` tells it; looks whether it helped are one. */
export function timelineOf(record: IncidentRecord): readonly TimelineEntry[] {
  return timeline(record).map((entry) => ({
    ...entry,
    text: withoutCites(withoutMarks(onOneLine(entry.text))),
  }));
}

/** The same, with marks of what is ours in it and the calls that it cites. */
export function timeline(record: IncidentRecord): readonly TimelineEntry[] {
  const { events } = record;
  const entries: TimelineEntry[] = [];
  let told = 0;
  for (const [index, event] of events.entries()) {
    const looks = isLook(event) && index >= told ? looksFrom(events, index) : null;
    told = looks?.until ?? told;
    const isToldElsewhere = isLook(event) || isCallOfLook(event, events);
    const text = looks ? looks.text : isToldElsewhere ? null : formatEvent(event, record);
    if (text !== null) entries.push({ seq: event.seq, at: event.at, text });
  }
  return entries;
}

type ToolCalled = Extract<IncidentEvent, { type: 'tool.called' }>;

/** A look whether it helped. */
const isLook = (event: IncidentEvent): event is ToolCalled =>
  event.type === 'tool.called' && event.role === 'validator';

/** One watch over the live system: all its looks, and where it ends. */
function looksFrom(events: readonly IncidentEvent[], from: number) {
  const between = new Set(['tool.called', 'verification.checked', 'alert.resolved', 'alert.repeated']);
  const end = events.findIndex((event, index) => index > from && !between.has(event.type));
  const until = end < 0 ? events.length : end;
  const { length } = events.slice(from, until).filter(isLook);
  const hasRun = events.slice(0, from).some(({ type }) => type === 'action.started');
  const times = length === 1 ? 'once' : `${length} times`;
  return { until, text: `looked ${times} whether it ${hasRun ? 'helped' : 'is still there'}` };
}
