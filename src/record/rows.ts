import type { Action } from '../core/action.ts';
import type { Denial } from '../core/denial.ts';
import type { IncidentEvent } from '../core/event.ts';
import type { Incident } from '../core/incident.ts';
import type { RecordedAlert } from '../core/incident-record.ts';
import type { Episode } from '../core/memory.ts';
import type { RowOf } from '../core/sql.ts';
import type { ToolCall } from '../core/tool-call.ts';

export type IncidentRow = RowOf<Incident>;
export type ActionRow = RowOf<Action>;
export type DenialRow = RowOf<Denial>;
export type ToolCallRow = RowOf<ToolCall>;
export type AlertRow = RowOf<RecordedAlert>;
export type EpisodeRow = RowOf<Omit<Episode, 'timestamp'>> & { readonly at: string };
export type EventRow = RowOf<Pick<IncidentEvent, 'type' | 'seq' | 'incidentId' | 'at'>> & {
  readonly body: object;
};

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A table has columns that are nobody's to show: only these leave. */
function mapper<T>(columns: Readonly<Record<keyof RowOf<T>, true>>): (row: RowOf<T>) => T {
  // Named once: a screen maps hundreds of rows of thirty columns.
  const fields = Object.keys(columns).map((column) => [camel(column), column as keyof RowOf<T>] as const);
  return (row) => Object.fromEntries(fields.map(([field, column]) => [field, row[column]])) as T;
}

export const toIncident = mapper<Incident>({
  id: true,
  state: true,
  stopped_from: true,
  title: true,
  alert_name: true,
  severity: true,
  domain: true,
  target: true,
  incident_type: true,
  routine: true,
  fingerprint: true,
  labels: true,
  annotations: true,
  occurrences: true,
  members: true,
  members_firing: true,
  round: true,
  cause: true,
  confidence: true,
  verdict: true,
  next_step: true,
  words: true,
  source_resolved_at: true,
  investigator: true,
  cost_usd: true,
  requesters: true,
  channel: true,
  thread_ts: true,
  opened_at: true,
  updated_at: true,
  ended_at: true,
  resolved_by: true,
  closed_by: true,
  asks_again_at: true,
  flapping_until: true,
  muted_by: true,
  merged_into: true,
  effort: true,
  details_deleted_at: true,
});

export const toAction = mapper<Action>({
  id: true,
  incident_id: true,
  plan_id: true,
  step: true,
  round: true,
  state: true,
  tool: true,
  target: true,
  input: true,
  command: true,
  plan_hash: true,
  guard: true,
  why: true,
  blast_radius: true,
  preflight: true,
  undo: true,
  risk: true,
  runbook_id: true,
  autonomy_key: true,
  verify: true,
  expires_at: true,
  proposed_at: true,
  approvals_needed: true,
  approved_by: true,
  policy_rule: true,
  autonomous_at: true,
  decided_by: true,
  decided_at: true,
  decision_reason: true,
  started_at: true,
  finished_at: true,
  outcome: true,
  tool_call_id: true,
  audit_only: true,
  held_by: true,
  undoes: true,
  beside: true,
  requested_by: true,
  identity: true,
  objects: true,
  verbs: true,
  denials_acknowledged: true,
  purpose: true,
});

export const toDenial = mapper<Denial>({
  id: true,
  incident_id: true,
  action_id: true,
  scope: true,
  kind: true,
  label: true,
  said_by: true,
  said_at: true,
  reason: true,
  until: true,
  channel: true,
  taken_back_by: true,
  taken_back_at: true,
});

export const toToolCall = mapper<ToolCall>({
  id: true,
  incident_id: true,
  role: true,
  tool: true,
  target: true,
  input: true,
  state: true,
  output: true,
  result: true,
  output_sha256: true,
  truncated: true,
  code: true,
  started_at: true,
  finished_at: true,
  action_id: true,
});

export const toAlert = mapper<RecordedAlert>({
  source: true,
  status: true,
  title: true,
  labels: true,
  annotations: true,
  starts_at: true,
  received_at: true,
  url: true,
  delivery_key: true,
});

export function toEvent({ body, type, seq, incident_id: incidentId, at }: EventRow): IncidentEvent {
  return { ...body, type, seq, incidentId, at } as IncidentEvent;
}

export function toEpisode(row: EpisodeRow): Episode {
  return {
    incidentId: row.incident_id,
    timestamp: row.at,
    error: row.error,
    diagnosis: row.diagnosis,
    command: row.command,
    result: row.result,
    success: row.success,
  };
}
