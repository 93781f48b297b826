import type { Action } from '../core/action.ts';
import type { Denial } from '../core/denial.ts';
import type { IncidentEvent } from '../core/event.ts';
import type { Incident } from '../core/incident.ts';
import type { RecordedAlert } from '../core/incident-record.ts';
import type { Episode } from '../core/memory.ts';
import type { SqlRow } from '../core/sql.ts';
import type { ToolCall } from '../core/tool-call.ts';

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function pick(row: SqlRow, columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [camel(column), row[column] ?? null]));
}

const incidentColumns = [
  'id',
  'state',
  'stopped_from',
  'title',
  'alert_name',
  'severity',
  'domain',
  'target',
  'incident_type',
  'routine',
  'fingerprint',
  'labels',
  'annotations',
  'occurrences',
  'round',
  'cause',
  'confidence',
  'verdict',
  'next_step',
  'words',
  'source_resolved_at',
  'investigator',
  'cost_usd',
  'requesters',
  'channel',
  'thread_ts',
  'opened_at',
  'updated_at',
  'ended_at',
  'resolved_by',
  'asks_again_at',
] as const;

export const toIncident = (row: SqlRow): Incident => pick(row, incidentColumns) as unknown as Incident;

const actionColumns = [
  'id',
  'incident_id',
  'plan_id',
  'step',
  'round',
  'state',
  'tool',
  'target',
  'input',
  'command',
  'plan_hash',
  'guard',
  'why',
  'blast_radius',
  'preflight',
  'undo',
  'risk',
  'runbook_id',
  'verify',
  'expires_at',
  'proposed_at',
  'approvals_needed',
  'approved_by',
  'policy_rule',
  'autonomous_at',
  'decided_by',
  'decided_at',
  'decision_reason',
  'started_at',
  'finished_at',
  'outcome',
  'tool_call_id',
  'audit_only',
  'held_by',
  'undoes',
  'beside',
  'requested_by',
  'identity',
  'objects',
  'denials_acknowledged',
  'purpose',
] as const;

export const toAction = (row: SqlRow): Action => pick(row, actionColumns) as unknown as Action;

const denialColumns = [
  'id',
  'incident_id',
  'action_id',
  'scope',
  'kind',
  'label',
  'said_by',
  'said_at',
  'reason',
  'until',
  'channel',
  'taken_back_by',
  'taken_back_at',
] as const;

export const toDenial = (row: SqlRow): Denial => pick(row, denialColumns) as unknown as Denial;

const toolCallColumns = [
  'id',
  'incident_id',
  'role',
  'tool',
  'target',
  'input',
  'state',
  'output',
  'result',
  'output_sha256',
  'truncated',
  'code',
  'started_at',
  'finished_at',
  'action_id',
] as const;

export const toToolCall = (row: SqlRow): ToolCall => pick(row, toolCallColumns) as unknown as ToolCall;

const alertColumns = [
  'source',
  'status',
  'title',
  'labels',
  'annotations',
  'starts_at',
  'received_at',
  'url',
  'delivery_key',
] as const;

export const toAlert = (row: SqlRow): RecordedAlert => pick(row, alertColumns) as unknown as RecordedAlert;

export function toEvent(row: SqlRow): IncidentEvent {
  return {
    ...(row['body'] as object),
    type: row['type'],
    seq: row['seq'],
    incidentId: row['incident_id'],
    at: row['at'],
  } as IncidentEvent;
}

export function toEpisode(row: SqlRow): Episode {
  return {
    incidentId: row['incident_id'],
    timestamp: row['at'],
    error: row['error'],
    diagnosis: row['diagnosis'],
    command: row['command'],
    result: row['result'],
    success: row['success'] ?? null,
  } as Episode;
}
