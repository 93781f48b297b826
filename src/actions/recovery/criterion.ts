import { type AlertRule, ruleBound } from '../../core/alert-rule.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { IncidentId, ToolCallId } from '../../core/ids.ts';
import { formatBound, type Measure, type Measured, readMeasure, staysAsItIs } from '../../core/measure.ts';
import {
  isSymptom,
  type Json,
  type ToolCall,
  type ToolCallRequest,
  type ToolCallResult,
  type VerifyPlan,
  type VerifyStep,
} from '../../core/tool-call.ts';
import { isUnreachable } from '../../core/unreachable.ts';
import type { Credential, CredentialVault } from '../../safety/vault/credentials.ts';
import type { TargetIdentity } from '../../targets/kind.ts';
import type { AnyTool, ShownBy } from '../../tools/define.ts';
import { checkVerifyStep, type VerifyCheck } from './check-verify-step.ts';
import { type Stranger, strangersIn } from './same-system.ts';

/** One look at a recovery criterion. */
export interface CriterionReading {
  /**
   * `red`: a measure is beyond its bound, so the problem is there. `green`: none is. `unread`: no measure is red and not all
   * could be read, so nothing may be concluded.
   */
  readonly state: 'red' | 'green' | 'unread';
  /** The same of what the alert itself is about; null where no step is surely about that. */
  readonly alert: 'red' | 'green' | 'unread' | null;
  /** Whether every step holds, those without a measure as well; null: cannot tell. */
  readonly holds: boolean | null;
  /**
   * Whether what the action touches, or what the diagnosis blames, shows the problem itself: false when only something else
   * does by now, null when it cannot be read. True where no step is about one thing.
   */
  readonly isToBlame: boolean | null;
  /** By step, whether it holds. */
  readonly steps: readonly (boolean | null)[];
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
  identity(target: string): Promise<TargetIdentity>;
  call(
    credential: Credential,
    request: ToolCallRequest,
    options: { readonly purpose?: string; readonly signal: AbortSignal },
  ): Promise<ToolCallResult>;
}

/**
 * Reads a criterion on the live system as the validator, through the gate like any other read. What stands for another system
 * by now is not read, and what became another one meanwhile is not believed.
 */
export async function readCriterion(
  deps: CriterionDeps,
  { incidentId, target, plan, purpose, signal }: CriterionQuestion,
): Promise<CriterionReading> {
  const credential = deps.vault.mint({ role: 'validator', incidentId, targets: [target] });
  const read: (VerifyCheck | null)[] = [];
  // Steps that ask the same are judged by one answer.
  const answers = new Map<string, ToolCallResult>();
  const before = await strangersIn(deps.identity, target, plan);
  try {
    for (const step of plan.steps) {
      const request = { tool: step.tool, target: step.target ?? target, input: step.input };
      if (before.get(request.target)?.isOther) {
        read.push(null);
        continue;
      }
      const key = readKey(step);
      const result = answers.get(key) ?? (await deps.call(credential, request, { purpose, signal }));
      answers.set(key, result);
      read.push(checkVerifyStep(step, result, measuresOf(deps.registry, step.tool)));
    }
  } finally {
    deps.vault.revoke(credential);
  }
  const after = await strangersIn(deps.identity, target, plan);
  const told = new Set<string>();
  const checks = plan.steps.map((step, at): VerifyCheck => {
    const name = step.target ?? target;
    const isFirst = !told.has(name);
    told.add(name);
    return believed(read[at] ?? null, [before.get(name), after.get(name)], isFirst);
  });
  const symptoms = (which: (step: VerifyStep) => boolean): readonly VerifyCheck[] =>
    checks.filter((_, at) => plan.steps.slice(at, at + 1).some((step) => isSymptom(step) && which(step)));
  const ofAlert = symptoms((step) => step.ofAlert === true);
  const blamed = symptoms((step) => step.ofAlert !== true);
  return {
    state: stateOf(symptoms(() => true)),
    alert: plan.steps.some((step) => step.ofAlert && !step.unsure) ? stateOf(ofAlert) : null,
    holds: allOf(checks),
    isToBlame: worse(
      areToBlame(deps.registry, plan.steps, checks),
      // Red for the alert's own problem alone: what is blamed for it has nothing to do with it any more.
      ofAlert.length === 0 || blamed.length === 0 ? true : not(allOf(blamed)),
    ),
    steps: checks.map(({ holds }) => holds),
    lines: checks.flatMap(({ line }) => (line === '' ? [] : [line])),
    values: checks.map(({ value }) => value),
    toolCallIds: [...answers.values()].map(({ toolCallId }) => toolCallId),
  };
}

/** A look counts when its target was the same system before it and after it. Why it does not is said once a target. */
function believed(
  check: VerifyCheck | null,
  seen: readonly (Stranger | undefined)[],
  isFirst: boolean,
): VerifyCheck {
  const stranger = seen.find((one) => one?.isOther) ?? seen.find((one) => one !== undefined);
  if (check !== null && (stranger === undefined || (!stranger.isOther && check.holds === false)))
    return check;
  return { holds: null, line: isFirst ? `Cannot tell: ${stranger?.line}` : '', value: null };
}

const readKey = ({ tool, target = '', input }: Pick<VerifyStep, 'tool' | 'target' | 'input'>): string =>
  `${target} ${tool} ${canonicalJson(input)}`;

/** Each thing that is acted on has to show the problem itself; one thing about it that is wrong is enough. */
function areToBlame(
  registry: CriterionDeps['registry'],
  steps: readonly VerifyStep[],
  checks: readonly VerifyCheck[],
): boolean | null {
  const things = new Map<string, VerifyCheck[]>();
  for (const [at, step] of steps.entries()) {
    const check = checks[at];
    if (!check || !(step.own || measureOf(registry, step)?.ofOneThing)) continue;
    things.set(readKey(step), [...(things.get(readKey(step)) ?? []), check]);
  }
  return [...things.values()].map((own) => not(allOf(own))).reduce(worse, true);
}

const not = (holds: boolean | null): boolean | null => (holds === null ? null : !holds);

function worse(one: boolean | null, other: boolean | null): boolean | null {
  if (one === false || other === false) return false;
  return one === null || other === null ? null : true;
}

/** Whether a step asks just what shows the thing that is acted on. */
export function isAboutThing(step: VerifyStep, things: readonly ShownBy[]): boolean {
  return step.measure !== undefined && things.some((thing) => readKey(thing) === readKey(step));
}

/**
 * A criterion with all that has to be watched beside it: what is started again and again looks healthy each time, so counters
 * of the same read must stay as they are.
 */
export function withWatched(plan: VerifyPlan, measures: (tool: string) => readonly Measure[]): VerifyPlan {
  const symptoms = plan.steps.filter(({ measure }) => measure !== undefined);
  const watched = symptoms.flatMap((step) =>
    measures(step.tool)
      .filter(staysAsItIs)
      .map((measure) => stepOf(step, measure)),
  );
  return withSteps(plan, watched);
}

/** What the read about the touched thing itself could show, whether or not it does. */
export function ownSteps(
  about: ShownBy,
  measures: (tool: string) => readonly Measure[],
): readonly VerifyStep[] {
  return measures(about.tool)
    .filter(({ name }) => about.measures.includes(name))
    .map((measure) => ({ ...stepOf(about, measure), own: true }));
}

/** Whoever named a measure first keeps its bound and words. */
export function withSteps(plan: VerifyPlan, more: readonly VerifyStep[]): VerifyPlan {
  const steps = [...plan.steps];
  for (const step of more) if (!steps.some((each) => asksTheSame(each, step))) steps.push(step);
  return { ...plan, steps };
}

/** Whether two steps judge the same of one read. */
export function asksTheSame(one: VerifyStep, other: VerifyStep): boolean {
  const key = (step: VerifyStep): string => `${readKey(step)} ${step.measure?.name ?? step.holds}`;
  return key(one) === key(other);
}

function stepOf(
  { tool, target, input }: Pick<VerifyStep, 'tool' | 'target' | 'input'>,
  measure: Measure,
): VerifyStep {
  const { name, bound } = measure;
  const of = { tool, ...(target === undefined ? {} : { target }), input };
  return { ...of, measure: { name, bound }, says: formatBound(measure, bound) };
}

function measureOf(registry: CriterionDeps['registry'], { tool, measure }: VerifyStep): Measure | undefined {
  return measuresOf(registry, tool).find(({ name }) => name === measure?.name);
}

function stateOf(symptoms: readonly VerifyCheck[]): CriterionReading['state'] {
  if (symptoms.some(({ holds }) => holds === false)) return 'red';
  return symptoms.length > 0 && symptoms.every(({ holds }) => holds === true) ? 'green' : 'unread';
}

function allOf(checks: readonly VerifyCheck[]): boolean | null {
  if (checks.some(({ holds }) => holds === false)) return false;
  return checks.length === 0 || checks.some(({ holds }) => holds === null) ? null : true;
}

/** What a recorded read says of a step with a measure; null: it asked something else, or failed. Runs nothing. */
export function readRecorded(
  registry: CriterionDeps['registry'],
  step: VerifyStep,
  call: Pick<ToolCall, 'tool' | 'input' | 'state' | 'result'>,
): Measured | null {
  const measure = measureOf(registry, step);
  if (!measure || call.state !== 'ok' || call.tool !== step.tool) return null;
  // On record it stands as the tool has read it, with what was left out filled in.
  const asked = registry.get(step.tool)?.input.safeParse(step.input);
  if (!asked?.success || canonicalJson(asked.data as Json) !== canonicalJson(call.input)) return null;
  return { measure, ...readMeasure(measure, step.measure?.bound ?? measure.bound, call.result) };
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

export function measuresOf(
  registry: { get(name: string): AnyTool | undefined },
  name: string,
): readonly Measure[] {
  const tool = registry.get(name);
  return (tool && 'measures' in tool ? tool.measures : undefined) ?? [];
}
