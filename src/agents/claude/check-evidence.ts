import { type Diagnosis, type Evidence, MEMORY_ONLY_CONFIDENCE } from '../../domain/diagnosis.ts';
import { asToolCallId, type IncidentId } from '../../domain/ids.ts';
import type { ToolCall } from '../../domain/tool-call.ts';
import type { DiagnosisReport } from './reports.ts';

export interface DroppedClaim {
  readonly claim: string;
  readonly reason: string;
}

export interface CheckedDiagnosis {
  readonly diagnosis: Diagnosis;
  readonly dropped: readonly DroppedClaim[];
}

/** Quotes shorter than this stand in nearly every output. */
const MIN_QUOTE = 3;

/**
 * Holds a model's diagnosis against the record: a claim stands only when every tool call it cites exists in this
 * incident and succeeded, and its quote stands in one of their outputs. Confidence falls with the share of claims
 * that fell; with none left it is what memory alone is worth, and a cause becomes *cannot tell*.
 */
export function checkEvidence(
  report: DiagnosisReport,
  record: {
    readonly incidentId: IncidentId;
    readonly toolCalls: ReadonlyMap<string, ToolCall>;
    readonly runbookIds: ReadonlySet<string>;
  },
): CheckedDiagnosis {
  const kept: Evidence[] = [];
  const dropped: DroppedClaim[] = [];
  for (const { claim, toolCallIds, quote } of report.evidence) {
    const reason = whyNot(toolCallIds, quote, record);
    if (reason === undefined) kept.push({ claim, toolCallIds: toolCallIds.map(asToolCallId), quote });
    else dropped.push({ claim, reason });
  }
  const share = kept.length / Math.max(1, kept.length + dropped.length);
  const confidence =
    kept.length === 0 ? Math.min(report.confidence, MEMORY_ONLY_CONFIDENCE) : report.confidence * share;
  const unproven = kept.length === 0 && report.verdict !== 'cannot_tell';
  const runbookId =
    report.runbookId !== null && record.runbookIds.has(report.runbookId) ? report.runbookId : null;
  return {
    dropped,
    diagnosis: {
      ...report,
      verdict: unproven ? 'cannot_tell' : report.verdict,
      rootCause: unproven ? `Unproven: ${report.rootCause}` : report.rootCause,
      unknown: unproven
        ? [...report.unknown, 'No claim was backed by a tool call of this incident.']
        : report.unknown,
      confidence: Math.round(confidence * 100) / 100,
      evidence: kept,
      runbookId,
    },
  };
}

function whyNot(
  ids: readonly string[],
  quote: string,
  record: { readonly incidentId: IncidentId; readonly toolCalls: ReadonlyMap<string, ToolCall> },
): string | undefined {
  const calls: ToolCall[] = [];
  for (const id of ids) {
    const call = record.toolCalls.get(id);
    if (call === undefined) return `${id} never happened`;
    if (call.incidentId !== record.incidentId) return `${id} belongs to another incident`;
    if (call.state !== 'ok') return `${id} did not succeed (${call.state})`;
    calls.push(call);
  }
  if (collapse(quote).length < MIN_QUOTE) return 'the quote is too short to show anything';
  return calls.some((call) => collapse(call.output).includes(collapse(quote)))
    ? undefined
    : `the quote does not stand in ${ids.join(', ')}`;
}

/** Models re-wrap lines; white space is not what a quote is about. */
function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
