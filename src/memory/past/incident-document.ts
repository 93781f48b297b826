import type { Action } from '../../core/action.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isModels, label } from '../../core/model-words.ts';
import { isMemoryToolName } from '../../core/tool-call.ts';
import { hasFallen, undoneOf } from '../../core/undone.ts';
import { outwardJson, outwardText } from '../../safety/screen/boundary.ts';
import type { VectorMetadata } from '../../search/ports.ts';
import type { SystemFacts } from '../systems/system-facts.ts';
import { endOf, formatEnds } from './incident-end.ts';

/** Of the analysis; the seed's number. */
const ANALYSIS_CHARACTERS = 1_500;

/** What memory keeps of an incident (design.md §6): the text it is found by and shown as, and what it is filtered by. */
export function incidentDocument(
  record: IncidentRecord,
  storedAt: Date,
  system: SystemFacts | null = null,
): { readonly document: string; readonly metadata: VectorMetadata } {
  const { incident } = record;
  const type = kindOf(record);
  const lines = [
    `Title: ${incident.title}`,
    `Type: ${type || 'unknown'}`,
    `Target: ${incident.target ?? 'unknown'}`,
    `Severity: ${incident.severity}`,
    '',
    analysisOf(record).slice(0, ANALYSIS_CHARACTERS),
  ];
  return {
    document: outwardText(lines.join('\n').trim()),
    metadata: outwardJson({
      incident_id: incident.id,
      title: incident.title,
      target: incident.target ?? '',
      severity: incident.severity,
      incident_type: type,
      alert_name: incident.alertName ?? '',
      state: incident.state,
      tools_used: [...new Set(record.toolCalls.map(({ tool }) => tool))]
        .filter((tool) => !isMemoryToolName(tool))
        .join(','),
      stored_at: storedAt.toISOString(),
      // What its target ran, as JSON: Chroma takes no nested metadata.
      ...(system === null ? {} : { system_fingerprint: JSON.stringify(system) }),
    }) as VectorMetadata,
  };
}

/** The triage's word for the kind of problem, else the diagnosis's; empty when neither said. */
function kindOf(record: IncidentRecord): string {
  return record.incident.incidentType ?? lastDiagnosis(record)?.category ?? '';
}

function lastDiagnosis(record: IncidentRecord) {
  return record.events.findLast((event) => event.type === 'diagnosis.concluded')?.diagnosis ?? null;
}

function analysisOf(record: IncidentRecord): string {
  const diagnosis = lastDiagnosis(record);
  const { incident } = record;
  // Whoever recalls it must not take what a model said for what was seen.
  const said = (title: string): string =>
    label(title, diagnosis !== null && isModels(diagnosis, record.events));
  const ran = record.actions.filter(({ startedAt }) => startedAt !== null);
  const parts = [
    diagnosis
      ? `${said(causeTitle(diagnosis))}${diagnosis.rootCause}`
      : incident.cause
        ? `Cause: ${incident.cause}`
        : 'No cause was found.',
    ...(diagnosis?.evidence ?? []).map(({ claim }) => `${said('Shown by')}${claim}`),
    ...(diagnosis?.remedy ? [`${said('Remedy')}${diagnosis.remedy}`] : []),
    ...ran.map((action) => `Done: ${action.command} (${action.state}${undoneSince(record, action)})`),
    ...ended(record),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** Who undid it is nobody's business who is reminded of it. */
function undoneSince({ actions }: IncidentRecord, action: Action): string {
  const undone = undoneOf(actions, [action]);
  if (action.undoes !== null) return ', to undo what was done before';
  return hasFallen(undone)
    ? undone?.kind === 'unknown'
      ? ', perhaps undone since'
      : ', undone since by a person'
    : '';
}

/** What nobody could tell, or found wrong, is no cause. */
const causeTitle = ({ verdict, unexplained }: Diagnosis): string =>
  verdict === 'cause_found'
    ? unexplained === undefined
      ? 'Cause'
      : 'What was wrong; why is not known'
    : verdict === 'healthy'
      ? 'Nothing wrong was seen'
      : 'No cause was found';

/** Nothing while it goes on: it is remembered when it is diagnosed, too. */
function ended({ incident }: IncidentRecord): readonly string[] {
  const end = endOf(incident);
  return end === 'unknown' ? [] : [`End: ${formatEnds([end])}.`];
}
