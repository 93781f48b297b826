import { clip } from '../core/clip.ts';
import type { Sql, Tx } from '../core/sql.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { sha256 } from '../safety/sha256.ts';
import type { IncidentRecords } from './record.ts';

/** A finished use of a tool, ready to be stored: redacted and capped already. */
export interface FinishedCall extends Omit<ToolCall, 'outputSha256' | 'startedAt' | 'finishedAt'> {
  readonly startedAt: Date;
  readonly purpose: string | null;
}

const SUMMARY_LENGTH = 200;

/** Stores a tool call as evidence, with its event, in one transaction. */
export async function storeToolCall(sql: Sql, records: IncidentRecords, call: FinishedCall): Promise<void> {
  await sql.begin((tx) => storeToolCallIn(tx, records, call));
}

/** The same inside the caller's transaction, such as the ledger's: the outcome and its evidence land together. */
export async function storeToolCallIn(tx: Tx, records: IncidentRecords, call: FinishedCall): Promise<void> {
  const inserted = insertToolCall(tx, call);
  // Sent behind it without waiting for its answer: the two are one way to the database instead of two.
  const appended = records.append(tx, call.incidentId, {
    type: 'tool.called',
    toolCallId: call.id,
    role: call.role,
    tool: call.tool,
    purpose: call.purpose,
    state: call.state,
    summary: clip(call.output.split('\n', 1)[0] ?? '', SUMMARY_LENGTH),
  });
  await Promise.all([inserted, appended]);
}

async function insertToolCall(tx: Tx, call: FinishedCall): Promise<void> {
  await tx`
    INSERT INTO tool_call (id, incident_id, role, tool, target, input, state, output, result, output_sha256, truncated,
                           code, action_id, started_at, finished_at)
    VALUES (${call.id}, ${call.incidentId}, ${call.role}, ${call.tool}, ${call.target}, ${tx.json(call.input)},
            ${call.state}, ${call.output}, ${tx.json(call.result)}, ${sha256(call.output)}, ${call.truncated}, ${call.code},
            ${call.actionId}, ${call.startedAt.toISOString()}, clock_timestamp())`;
}
