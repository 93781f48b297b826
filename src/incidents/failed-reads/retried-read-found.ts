import type { RetriedRead } from '../../agents/ports.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';

/** What was read again and had this round begin; null where the round began otherwise. */
export function retriedReadFound({
  events,
  toolCalls,
}: Pick<IncidentRecord, 'events' | 'toolCalls'>): RetriedRead | null {
  const told = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (!told) return null;
  const found = events.findLast(
    (event) => event.type === 'read.finished' && event.readable && event.seq > told.seq,
  );
  const call = toolCalls.find(({ id }) => found?.type === 'read.finished' && id === found.toolCallId);
  if (!call) return null;
  const { id, tool, target, output, startedAt } = call;
  return { call: { id, tool, target, output, startedAt }, before: told.diagnosis };
}
