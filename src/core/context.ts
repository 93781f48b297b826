import { clip } from './clip.ts';
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
  /** What was found, or why nothing could be; empty where there is nothing to say. */
  readonly line: string;
  /** The call that shows it, where there is one. */
  readonly toolCallId?: ToolCallId;
}

/** What was gathered in the latest round: where a part answered late, as it answered. Empty on older records. */
export function gatheredContext(events: readonly IncidentEvent[]): readonly GatheredPart[] {
  const last = events.findLast((event) => event.type === 'context.gathered');
  return last?.type === 'context.gathered' ? last.parts : [];
}

const marks: Record<ContextState, string> = { found: '✓', nothing: '–', could_not: '✗', late: '⏱' };

/** The checklist for people, a line each. */
export const contextLines = (events: readonly IncidentEvent[]): readonly string[] =>
  gatheredContext(events).map((part) => `${marks[part.state]} ${describePart(part)}`);

/** `Links: runbook https://…`, `Status pages: no answer in time`. */
export function describePart({ label, state, line }: GatheredPart): string {
  switch (state) {
    case 'found':
      return `${label}: ${clip(line, 300)}`;
    case 'nothing':
      return `${label}: nothing`;
    case 'could_not':
      return `${label}: could not look${line === '' ? '' : ` (${clip(line, 120)})`}`;
    case 'late':
      return `${label}: no answer in time`;
  }
}
