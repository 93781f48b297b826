import { undoOf } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { describeAct } from '../../core/describe-act.ts';
import { type Diagnosis, MUTATION_CONFIDENCE, type SuggestedAction } from '../../core/diagnosis.ts';
import type { PlanStep, ToolCallRequest } from '../../core/tool-call.ts';
import type { Investigation, PlanOutcome, TriedAction } from '../ports.ts';

/**
 * Proposes the first suggested action that was not run in this incident; what did not help the last time, in another one, comes after
 * all others. What a person denied the gate keeps back for as long
 * as that No is this round's; in a later one it is asked with the No on its card. The surgeon cannot read, so everything comes
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
    actsOf(action).flatMap(({ tool, input }) =>
      work.tried.filter(
        (one) => RAN.includes(one.state) && isSame(one, { tool, target: work.incident.target, input }),
      ),
    );
  const fresh = failedBeforeLast(
    work,
    suggested.filter((action) => tried(action).length === 0),
  );
  const refusals: string[] = [];
  for (const [index, action] of fresh.entries()) {
    const acts = actsOf(action);
    const tools = acts.map(({ tool }) => tool).join(', then ');
    const why = acts.map((act) => act.why).join(' ');
    work.say(`Proposing ${tools}: ${why}`);
    const result = await work.durably(`playbook:plan:r${work.incident.round}:propose:${index}`, () =>
      work.callTool(
        {
          tool: action.tool,
          target: work.incident.target,
          input: action.input,
          proposal: {
            why: action.why,
            runbookId: diagnosis.runbookId,
            verify: action.verify,
            ...(action.andThen === undefined ? {} : { andThen: action.andThen }),
          },
        },
        why,
      ),
    );
    if (result.kind === 'proposed') return { kind: 'proposed', actionId: result.actionId };
    // For people: “restart service”, not what its tool is called.
    const act = `“${tools.replaceAll('_', ' ')}”`;
    refusals.push(
      result.kind === 'ok'
        ? `${act} is not an action that can be proposed.`
        : result.code === 'DENIED'
          ? result.reason
          : `${act} could not be proposed: ${result.reason}`,
    );
  }
  const ended = suggested.flatMap((action) => tried(action).map((each) => howItEnded(each, work.tried)));
  return none([...new Set([...ended, ...refusals])].join(' '));
}

/** What is on record of it, and no more: that it did not help is said only where the live system showed that. */
function howItEnded(action: TriedAction, all: readonly TriedAction[]): string {
  const what = `“${describeAct(action)}”`;
  const { round, state, verdict } = action;
  if (state === 'failed') return `${what} failed in round ${round}.`;
  if (state === 'unknown') return `${what} in round ${round}: nobody knows whether it ran.`;
  const done = `${what} was done in round ${round}`;
  if (undoOf(all, action)) return `${done} and taken back.`;
  return verdict === 'not_fixed' ? `${done} and did not help.` : `${done}.`;
}

const none = (reason: string): PlanOutcome => ({ kind: 'none', reason });

/** What is proposed as one, a single act or several in order. */
function actsOf(action: SuggestedAction): readonly PlanStep[] {
  return [action, ...(action.andThen ?? [])];
}

/** In the runbook's order, but for what memory knows not to have helped the last time it was done here. */
function failedBeforeLast(
  { recall, incident }: Investigation,
  actions: readonly SuggestedAction[],
): readonly SuggestedAction[] {
  const { failedActs = [] } = recall.episodes;
  const hasFailed = (action: SuggestedAction): boolean =>
    actsOf(action).some(({ tool, input }) =>
      failedActs.some((one) => isSame(one, { tool, target: incident.target, input })),
    );
  return [...actions.filter((action) => !hasFailed(action)), ...actions.filter(hasFailed)];
}

/** Nothing ran for anything else, so it may be asked for. */
const RAN: readonly TriedAction['state'][] = ['succeeded', 'failed', 'unknown'];

/** Whatever the order in which its arguments are written. */
function isSame(one: ToolCallRequest, other: ToolCallRequest): boolean {
  return (
    one.tool === other.tool &&
    one.target === other.target &&
    canonicalJson(one.input) === canonicalJson(other.input)
  );
}
