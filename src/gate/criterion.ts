import { type AlertRule, ruleBound } from '../domain/alert-rule.ts';
import type { IncidentId, ToolCallId } from '../domain/ids.ts';
import { readMeasure } from '../domain/measure.ts';
import type { Json, ToolCall, ToolCallRequest, ToolCallResult, VerifyPlan } from '../domain/tool-call.ts';
import { isUnreachable } from '../domain/unreachable.ts';
import type { Credential, CredentialVault } from '../security/credentials.ts';
import type { AnyTool } from '../tools/define.ts';
import { checkVerifyStep, type VerifyCheck } from './check-verify-step.ts';

/** One look at a recovery criterion. */
export interface CriterionReading {
  /**
   * `red`: a measure is beyond its bound, so the problem is there. `green`: none is. `unread`: no measure is red and not all
   * could be read, so nothing may be concluded.
   */
  readonly state: 'red' | 'green' | 'unread';
  /** Whether every step holds, those without a measure as well; null: cannot tell. */
  readonly holds: boolean | null;
  /** A line a step, for people. */
  readonly lines: readonly string[];
  /** By step, what its measure read. */
  readonly values: readonly (number | null)[];
  readonly toolCallIds: readonly ToolCallId[];
}

export interface CriterionQuestion {
  readonly incidentId: IncidentId;
  readonly target: string;
  readonly plan: VerifyPlan;
  /** For the thread: why it is read. */
  readonly purpose: string;
  readonly signal: AbortSignal;
}

interface CriterionDeps {
  readonly vault: CredentialVault;
  readonly registry: { get(name: string): AnyTool | undefined };
  call(
    credential: Credential,
    request: ToolCallRequest,
    options: { readonly purpose?: string; readonly signal: AbortSignal },
  ): Promise<ToolCallResult>;
}

/** Reads a criterion on the live system as the validator, through the gate like any other read. */
export async function readCriterion(
  deps: CriterionDeps,
  { incidentId, target, plan, purpose, signal }: CriterionQuestion,
): Promise<CriterionReading> {
  const credential = deps.vault.mint({ role: 'validator', incidentId, targets: [target] });
  const checks: VerifyCheck[] = [];
  const toolCallIds: ToolCallId[] = [];
  try {
    for (const step of plan.steps) {
      const request = { tool: step.tool, target, input: step.input };
      const result = await deps.call(credential, request, { purpose, signal });
      toolCallIds.push(result.toolCallId);
      checks.push(checkVerifyStep(step, result, measuresOf(deps.registry, step.tool)));
    }
  } finally {
    deps.vault.revoke(credential);
  }
  const symptoms = checks.filter((_, at) => plan.steps[at]?.measure !== undefined);
  return {
    state: stateOf(symptoms),
    holds: allOf(checks),
    lines: checks.flatMap(({ line }) => (line === '' ? [] : [line])),
    values: checks.map(({ value }) => value),
    toolCallIds,
  };
}

function stateOf(symptoms: readonly VerifyCheck[]): CriterionReading['state'] {
  if (symptoms.some(({ holds }) => holds === false)) return 'red';
  return symptoms.length > 0 && symptoms.every(({ holds }) => holds === true) ? 'green' : 'unread';
}

function allOf(checks: readonly VerifyCheck[]): boolean | null {
  if (checks.some(({ holds }) => holds === false)) return false;
  return checks.length === 0 || checks.some(({ holds }) => holds === null) ? null : true;
}

/** What a recorded read shows red, the tool's most telling measure first. */
export interface RedMeasure {
  readonly tool: string;
  readonly input: Json;
  readonly measure: string;
  readonly bound: number;
}

/**
 * The measures of a read on record that are beyond their bounds, and tell of the problem itself. The bound is the alert
 * rule's where that is about the measure, else the measure's own. Of a read that failed because its system cannot be reached
 * that is red: the kind's own measure of it.
 */
export function redMeasures(
  registry: Registry,
  call: RecordedRead,
  rule: AlertRule | null,
): readonly RedMeasure[] {
  if (call.state === 'failed' && isUnreachable(call.code)) return reachableOf(registry, call);
  if (call.state !== 'ok') return [];
  return measuresOf(registry, call.tool)
    .filter((measure) => !measure.ofOneThing)
    .map((measure) => ({ measure, bound: ruleBound(measure, rule) ?? measure.bound }))
    .filter(({ measure, bound }) => readMeasure(measure, bound, call.result).isHealthy === false)
    .map(({ measure, bound }) => ({ tool: call.tool, input: call.input, measure: measure.name, bound }));
}

interface Registry {
  get(name: string): AnyTool | undefined;
  list?(): readonly AnyTool[];
}

export type RecordedRead = Pick<ToolCall, 'tool' | 'input' | 'state' | 'result' | 'code'>;

/** What tells of the failed read's kind of target whether it can be reached. */
function reachableOf(registry: Registry, { tool }: Pick<ToolCall, 'tool'>): readonly RedMeasure[] {
  const failed = registry.get(tool);
  const telling = registry
    .list?.()
    .find((each) => 'tellsReachable' in each && each.tellsReachable && each.domain === failed?.domain);
  return telling === undefined
    ? []
    : measuresOf(registry, telling.name)
        .slice(0, 1)
        .map(({ name, bound }) => ({ tool: telling.name, input: {}, measure: name, bound }));
}

export function measuresOf(registry: { get(name: string): AnyTool | undefined }, name: string) {
  const tool = registry.get(name);
  return (tool && 'measures' in tool ? tool.measures : undefined) ?? [];
}
