import type { Diagnosis, Triage } from '../../domain/diagnosis.ts';
import type { ToolCall } from '../../domain/tool-call.ts';
import type { Investigation } from '../ports.ts';

/** Characters of quoted memory; together about the 2,200 tokens memory may take in a prompt (design.md §6). */
const MAX_INCIDENT_CHARS = 600;
const MAX_RUNBOOK_CHARS = 1_500;
/** Characters of one tool output quoted to the surgeon. */
const MAX_OUTPUT_CHARS = 6_000;

/** The first user turn of a role: what it is about as labelled data, then what to do. */
export function incidentPrompt(work: Investigation, more: object, task: string): string {
  const data = { incident: incidentData(work), memory: memoryData(work), ...triedData(work), ...more };
  return `<incident_data>\n${quoted(data)}\n</incident_data>\n\n${task}`;
}

/** JSON in which nothing can close the surrounding tag. */
function quoted(data: object): string {
  return JSON.stringify(data, null, 1).replaceAll('<', '\\u003c');
}

function incidentData({ incident }: Investigation): object {
  return {
    id: incident.id,
    title: incident.title,
    alert: incident.alertName,
    severity: incident.severity,
    domain: incident.domain,
    target: incident.target,
    incident_type: incident.incidentType,
    labels: incident.labels,
    annotations: incident.annotations,
    opened_at: incident.openedAt,
    round: incident.round,
  };
}

function memoryData({ recall }: Investigation): object {
  return {
    note: 'Advisory: what was true then need not be true now.',
    past_incidents: recall.incidents.slice(0, 6).map((past) => ({
      id: past.incidentId,
      title: past.title,
      target: past.target,
      type: past.incidentType,
      stored_at: past.storedAt,
      text: past.document.slice(0, MAX_INCIDENT_CHARS),
    })),
    runbooks: recall.runbooks.slice(0, 3).map((hit) => ({
      id: hit.runbookId,
      title: hit.title,
      heading: hit.heading,
      text: hit.text.slice(0, MAX_RUNBOOK_CHARS),
    })),
    tried_before: recall.episodes.similar.slice(0, 6).map((episode) => ({
      error: episode.error.slice(0, 200),
      command: episode.command,
      success: episode.success,
    })),
    commands_that_failed_before: recall.episodes.failedCommands.slice(0, 10),
    could_not_be_asked: recall.missing,
  };
}

function triedData({ tried, guidance }: Investigation): object {
  return {
    tried_in_this_incident: tried.map((action) => ({
      command: action.command,
      target: action.target,
      state: action.state,
      outcome: action.outcome,
      denied_because: action.state === 'denied' ? action.decisionReason : null,
    })),
    people_said: guidance,
  };
}

export function triageData(triage: Triage): object {
  return { triage };
}

/** What the surgeon gets instead of reads: the diagnosis and the outputs that its evidence cites. */
export function diagnosisData(diagnosis: Diagnosis, cited: readonly ToolCall[]): object {
  return {
    diagnosis,
    evidence_outputs: cited.map((call) => ({
      tool_call_id: call.id,
      tool: call.tool,
      target: call.target,
      finished_at: call.finishedAt,
      output: call.output.slice(0, MAX_OUTPUT_CHARS),
    })),
  };
}
