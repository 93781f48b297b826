import { type Diagnosis, type Evidence, MEMORY_ONLY_CONFIDENCE } from '../domain/diagnosis.ts';
import type { ToolCall } from '../domain/tool-call.ts';

/** A diagnosis after its claims were held against the record. */
export interface CheckedDiagnosis {
  readonly diagnosis: Diagnosis;
  readonly dropped: readonly { readonly claim: string; readonly reason: string }[];
  /** At least one claim stands on a tool call made after the alert: what a mutation needs. */
  readonly live: boolean;
}

/** What a dropped claim costs: an investigator that cites what is not there is not to be trusted with the rest either. */
const CUT_PER_DROPPED_CLAIM = 0.25;

/**
 * Promise 5 by code: every claim must cite tool calls of this incident that succeeded, and its quote must stand in one of
 * their outputs. Claims that do not hold are dropped and the confidence is cut; with none left it is worth what memory is.
 */
export function checkEvidence(
  diagnosis: Diagnosis,
  toolCalls: readonly ToolCall[],
  alertedAt: string,
): CheckedDiagnosis {
  const calls = new Map(toolCalls.map((call) => [call.id as string, call]));
  const dropped: { claim: string; reason: string }[] = [];
  const kept: Evidence[] = [];
  for (const evidence of diagnosis.evidence) {
    const reason = problemWith(evidence, calls);
    if (reason) dropped.push({ claim: evidence.claim, reason });
    else kept.push(evidence);
  }
  const live = kept.some((evidence) =>
    evidence.toolCallIds.some((id) => (calls.get(id)?.finishedAt ?? '') > alertedAt),
  );
  const cut = diagnosis.confidence - CUT_PER_DROPPED_CLAIM * dropped.length;
  const confidence = Math.max(0, Math.min(1, live ? cut : Math.min(cut, MEMORY_ONLY_CONFIDENCE)));
  return { diagnosis: { ...diagnosis, evidence: kept, confidence }, dropped, live };
}

function problemWith(evidence: Evidence, calls: ReadonlyMap<string, ToolCall>): string | undefined {
  if (evidence.toolCallIds.length === 0) return 'It cites no tool call.';
  const cited = evidence.toolCallIds.map((id) => calls.get(id));
  const missing = evidence.toolCallIds.find((id) => !calls.has(id));
  if (missing) return `It cites ${missing}, which is no tool call of this incident.`;
  if (cited.some((call) => call?.state !== 'ok')) return 'It cites a tool call that did not succeed.';
  const { quote } = evidence;
  if (quote !== null && !cited.some((call) => call && flat(call.output).includes(flat(quote))))
    return 'What it quotes does not stand in the output it cites.';
  return undefined;
}

/** White space apart: tables are re-wrapped when quoted. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
