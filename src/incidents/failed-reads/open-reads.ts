import type { IncidentEvent } from '../../core/event.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { classifyReadFailure, type ReadFailure } from './classify-read-failure.ts';
import { readHash } from './read-hash.ts';

/** One read that a person can have made again now, as the record has it. */
export interface OpenRead {
  /** The last time it was tried. */
  readonly call: ToolCall;
  readonly why: ReadFailure;
  /** What a button carries beside the call: exactly this read. */
  readonly hash: string;
  /** The event since which the incident has waited here: what was asked for before that is over. */
  readonly waitsSince: number;
  /** Somebody has asked for it, and it has not been made yet. */
  readonly asked: { readonly by: string; readonly at: string } | null;
  /** How it went when it was made again before, the last time. */
  readonly before: { readonly by: string; readonly at: string } | null;
}

/**
 * What could not be read for the last diagnosis and still cannot: a read that was made again is followed to its latest try,
 * and judged by what that one says. Empty while somebody looks, and once it has ended.
 */
export function openReads(record: IncidentRecord): readonly OpenRead[] {
  const { incident, events, toolCalls } = record;
  if (incident.state !== 'reported' && incident.state !== 'escalated') return [];
  const told = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (!told) return [];
  const since = events.filter((event) => event.seq > told.seq);
  const waitsSince = since.findLast(isMove)?.seq ?? told.seq;
  const calls = new Map(toolCalls.map((call) => [call.id as string, call]));
  return (told.diagnosis.unread ?? []).flatMap(({ toolCallId }): readonly OpenRead[] => {
    const { id, before } = lastTry(toolCallId, since);
    const call = id === null ? undefined : calls.get(id);
    const why = call && call.incidentId === incident.id ? classifyReadFailure(call) : null;
    if (!call || !why) return [];
    const asked = since.find(
      (event) => event.type === 'read.asked' && event.toolCallId === id && event.seq > waitsSince,
    );
    return [
      {
        call,
        why,
        hash: readHash(call),
        waitsSince,
        asked: asked?.type === 'read.asked' ? { by: asked.by, at: asked.at } : null,
        before,
      },
    ];
  });
}

/** Another state than it was in; a person's *Stop* and *Resume* lead back to the same. */
const isMove = (event: IncidentEvent): boolean =>
  event.type === 'state.changed' && event.from !== 'stopped' && event.to !== 'stopped';

/** `id` null: it could not even be tried. */
function lastTry(
  first: ToolCallId,
  since: readonly IncidentEvent[],
): { readonly id: ToolCallId | null; readonly before: OpenRead['before'] } {
  let id: ToolCallId | null = first;
  let before: OpenRead['before'] = null;
  for (const event of since)
    if (event.type === 'read.finished' && event.of === id) {
      id = event.toolCallId;
      before = { by: event.by, at: event.at };
    }
  return { id, before };
}
