import type { IncidentEvent } from './event.ts';
import type { ToolCallId } from './ids.ts';

/**
 * What came of one part of the context.
 * - `could_not`: it was asked and could not tell; `line` says why.
 * - `late`: it had not answered when the work went on.
 */
export type ContextState = 'found' | 'nothing' | 'could_not' | 'late';

/** One part of what was gathered around an incident, as the record keeps it. */
export interface GatheredPart {
  readonly name: string;
  /** For people: `Past incidents`. */
  readonly label: string;
  readonly state: ContextState;
  readonly ms: number;
  /** On one line: what was found, who was asked where nothing was, or why nothing could be; may be empty. */
  readonly line: string;
  /** The call that shows it, where there is one. */
  readonly toolCallId?: ToolCallId;
  /** Whose words are in `line`: ids of Slack. */
  readonly people?: readonly string[];
}

/** What was gathered in a round, by the last word of it; null: nobody has gathered. */
export function gatheredIn(events: readonly IncidentEvent[], round: number): readonly GatheredPart[] | null {
  const last = events.findLast((event) => event.type === 'context.gathered' && event.round === round);
  return last?.type === 'context.gathered' ? last.parts : null;
}

/** The same of the latest round. An answer that is late may come after the next round has begun. Empty on older records. */
export function gatheredContext(events: readonly IncidentEvent[]): readonly GatheredPart[] {
  const rounds = events.flatMap((event) => (event.type === 'context.gathered' ? [event.round] : []));
  return gatheredIn(events, Math.max(...rounds)) ?? [];
}

/** What people said to each other. */
const NOT_SAID_TO_MODELS: readonly string[] = ['thread', 'channels'];

/**
 * What models are told of it. Whoever steers one has a say in a fix, and may not approve it alone; who only talks to others has not asked for
 * that. What is said to Sentry reaches a model as a hint.
 */
export const saidToModels = (parts: readonly GatheredPart[]): readonly GatheredPart[] =>
  parts.filter(({ name }) => !NOT_SAID_TO_MODELS.includes(name));

/** The same of a record. */
export const hideTalk = <R extends { readonly events: readonly IncidentEvent[] }>(record: R): R => ({
  ...record,
  events: record.events.map((event) =>
    event.type === 'context.gathered' ? { ...event, parts: saidToModels(event.parts) } : event,
  ),
});

const marks: Record<ContextState, string> = { found: '✓', nothing: '–', could_not: '✗', late: '✗' };

/** The checklist for people: a line for each part, and one for all of which there is nothing to say. */
export function contextLines(events: readonly IncidentEvent[]): readonly string[] {
  const parts = gatheredContext(events);
  const isEmpty = ({ state, line }: GatheredPart): boolean => state === 'nothing' && line === '';
  const empty = parts.filter(isEmpty).map(({ label }) => `${label.charAt(0).toLowerCase()}${label.slice(1)}`);
  return [
    ...parts.filter((part) => !isEmpty(part)).map((part) => `${marks[part.state]} ${describePart(part)}`),
    ...(empty.length === 0 ? [] : [`${marks.nothing} Nothing: ${empty.join(', ')}`]),
  ];
}

/** `Links: runbook https://…`, `Status pages: could not look (no answer in time)`. */
export function describePart({ label, state, line }: GatheredPart): string {
  switch (state) {
    case 'found':
      return `${label}: ${line}`;
    case 'nothing':
      return `${label}: ${line === '' ? 'nothing' : line}`;
    case 'could_not':
      return `${label}: could not look${line === '' ? '' : ` (${line})`}`;
    case 'late':
      return `${label}: could not look (no answer in time)`;
  }
}
