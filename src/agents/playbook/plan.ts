import type { Action } from '../../domain/action.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { type Diagnosis, MUTATION_CONFIDENCE, type SuggestedAction } from '../../domain/diagnosis.ts';
import type { Investigation, PlanOutcome } from '../ports.ts';

/**
 * Proposes the first suggested action that was not tried in this incident. The surgeon cannot read, so everything comes
 * from a diagnosis of the playbook; a model's names no exact call.
 */
export async function plan(work: Investigation, diagnosis: Diagnosis): Promise<PlanOutcome> {
  if (diagnosis.verdict !== 'cause_found') return none(`There is no cause to act on: ${diagnosis.rootCause}`);
  if (diagnosis.confidence < MUTATION_CONFIDENCE)
    return none(
      `Not sure enough to act (${diagnosis.confidence}): ${diagnosis.remedy ?? diagnosis.rootCause}`,
    );
  const suggested = diagnosis.suggested ?? [];
  if (suggested.length === 0) return none(diagnosis.remedy ?? 'The runbook names no action for this.');

  const tried = (action: SuggestedAction) =>
    work.tried.find((earlier) => isSame(earlier, action, work.incident.target));
  const fresh = suggested.filter((action) => tried(action) === undefined);
  let refusal = '';
  for (const [index, action] of fresh.entries()) {
    work.say(`Proposing ${action.tool}: ${action.why}`);
    const result = await work.durably(`playbook:plan:r${work.incident.round}:propose:${index}`, () =>
      work.callTool(
        {
          tool: action.tool,
          target: work.incident.target,
          input: action.input,
          proposal: { why: action.why, runbookId: diagnosis.runbookId, verify: action.verify },
        },
        action.why,
      ),
    );
    if (result.kind === 'proposed') return { kind: 'proposed', actionId: result.actionId };
    refusal =
      result.kind === 'ok'
        ? `${action.tool} is not an action that can be proposed.`
        : `${action.tool} could not be proposed: ${result.reason}`;
  }
  if (refusal !== '') return none(refusal);
  const before = suggested.flatMap((action) => tried(action) ?? []);
  return none(`No safe action is left: ${[...new Set(before.map(howItEnded))].join('; ')}.`);
}

/** Only what ran can have helped or not; what was denied was never tried. */
function howItEnded({ command, state, round }: Action): string {
  switch (state) {
    case 'denied':
      return `${command} was denied in round ${round}`;
    case 'failed':
      return `${command} failed in round ${round}`;
    case 'unknown':
      return `whether ${command} ran in round ${round} is not known`;
    case 'succeeded':
      return `${command} ran in round ${round}, and the problem is still there`;
    case 'proposed':
    case 'approved':
    case 'started':
    case 'void':
    case 'expired':
      return `${command} is already proposed`;
  }
}

const none = (reason: string): PlanOutcome => ({ kind: 'none', reason });

/** Nothing ran for a void or expired action, so it may be proposed again; a denied one may not. */
function isSame(earlier: Action, action: SuggestedAction, target: string | null): boolean {
  return (
    earlier.state !== 'void' &&
    earlier.state !== 'expired' &&
    earlier.tool === action.tool &&
    earlier.target === target &&
    canonicalJson(earlier.input) === canonicalJson(action.input)
  );
}
