import type { IncidentId, ToolCallId } from '../../core/ids.ts';
import type { ToolCall } from '../../core/tool-call.ts';

/** What the evidence tools read: the record, which fits. */
export interface EvidencePort {
  toolCall(id: ToolCallId): Promise<ToolCall | null>;
  load(id: IncidentId): Promise<{ readonly toolCalls: readonly ToolCall[] } | null>;
}
