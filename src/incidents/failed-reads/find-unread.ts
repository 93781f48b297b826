import type { IncidentRecord } from '../../core/incident-record.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import type { UnreadCall } from '../../core/unread.ts';
import { classifyReadFailure } from './classify-read-failure.ts';
import { sameRead } from './read-hash.ts';

/** Kept with a diagnosis; more would be a list, not a choice. */
const AT_MOST = 5;

/**
 * The reads of these calls that a person can have made again: of the same read the last one counts, and one that has worked
 * since is none. What the investigator says it misses comes first, then the latest. Only on the incident's own target: other
 * names are refused for good, whoever presses.
 */
export function findUnread(
  { incident, toolCalls }: Pick<IncidentRecord, 'incident' | 'toolCalls'>,
  within: ReadonlySet<string>,
  missed: ReadonlySet<string> = new Set(),
): readonly UnreadCall[] {
  const last = new Map<string, ToolCall>();
  for (const call of toolCalls)
    if (within.has(call.id) && call.incidentId === incident.id && isOwn(call, incident.target)) {
      const read = sameRead(call);
      last.delete(read);
      last.set(read, call);
    }
  const found = [...last.values()].flatMap((call): readonly UnreadCall[] => {
    const why = classifyReadFailure(call);
    return why === null ? [] : [{ toolCallId: call.id, way: why.way, reason: why.reason }];
  });
  const first = (one: UnreadCall): number => (missed.has(one.toolCallId) ? 0 : 1);
  return found
    .toReversed()
    .toSorted((a, b) => first(a) - first(b))
    .slice(0, AT_MOST);
}

const isOwn = (call: ToolCall, target: string | null): boolean => target !== null && call.target === target;
