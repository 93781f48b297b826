import { z } from 'zod';
import type { Measure } from '../core/measure.ts';
import type { Json } from '../core/tool-call.ts';
import type { ParsedRunbook } from './parse-runbook.ts';
import type { RunbookProblem } from './runbook.ts';
import { actsOf, type StepBlock } from './schema.ts';
import { templateParts } from './template.ts';

/** The tool registry, as far as a runbook needs to know it. */
export interface KnownTools {
  get(name: string):
    | {
        readonly kind: 'read' | 'diagnostic' | 'docs' | 'changes' | 'active';
        readonly input: z.ZodType;
        readonly measures?: readonly Measure[];
        readonly repairsOnly?: true;
        readonly targetKinds?: readonly string[];
      }
    | undefined;
}

type Path = readonly PropertyKey[];

/** Are there such tools, may they stand there, and would they take the input. */
export function checkTools(parsed: ParsedRunbook, tools: KnownTools): readonly RunbookProblem[] {
  const problems: RunbookProblem[] = [];
  for (const step of parsed.steps) {
    const report = (path: Path, message: string) => problems.push(step.problem(path, message));
    const { requires } = parsed.runbook;
    const wanted = requires?.step === step.value.id ? 'judges' : 'reads';
    checkCall(tools, step.value.call, step.value.with, wanted, ['call'], ['with'], report);
    checkNeighbour(tools, step.value, requires?.step === step.value.id, report);
    if (requires?.step === step.value.id && requires.measure != null)
      checkMeasure(
        tools.get(step.value.call)?.measures ?? [],
        step.value.call,
        { name: requires.measure, bound: requires.bound },
        (message) => report(['call'], `as "requires" has it, ${message}`),
      );
    for (const [at, check] of step.value.checks.entries())
      for (const key of ['propose', 'prevent'] as const)
        for (const [n, plan] of (check.conclude?.[key] ?? []).entries())
          for (const { act, path } of actsOf(plan)) {
            const here = ['checks', at, 'conclude', key, n, ...path];
            checkCall(tools, act.tool, act.with, 'acts', [...here, 'tool'], [...here, 'with'], report);
            if (key === 'prevent' && tools.get(act.tool)?.repairsOnly)
              report(
                [...here, 'tool'],
                `"${act.tool}" only mends what is wrong; it keeps nothing from coming back`,
              );
          }
  }
  for (const verify of parsed.verifies) {
    const report = (path: Path, message: string) => problems.push(verify.problem(path, message));
    for (const [at, check] of verify.value.checks.entries()) {
      const here = ['checks', at];
      checkCall(tools, check.call, check.with, 'judges', [...here, 'call'], [...here, 'with'], report);
      if (check.measure !== undefined)
        checkMeasure(
          tools.get(check.call)?.measures ?? [],
          check.call,
          { name: check.measure, bound: check.bound },
          (message) => report([...here, 'measure'], message),
        );
    }
  }
  return problems;
}

/** Of a neighbour only what loads nothing is read, and the symptom is never its own: that it is ill says nothing of the target. */
function checkNeighbour(
  tools: KnownTools,
  { call, neighbour, checks }: StepBlock,
  isRequired: boolean,
  report: (path: Path, message: string) => void,
): void {
  if (neighbour === undefined) return;
  const tool = tools.get(call);
  if (isRequired) report(['neighbour'], 'what "requires" asks for is read of the incident’s own target');
  if (tool?.kind === 'diagnostic')
    report(['call'], `"${call}" may load a system; of a neighbour it is not let through`);
  for (const [at, { conclude }] of checks.entries())
    if (conclude && !conclude.cause.includes('${neighbour}'))
      report(['checks', at, 'conclude', 'cause'], 'it was read of a neighbour: say which by "${neighbour}"');
  if (tool?.targetKinds && !tool.targetKinds.includes(neighbour))
    report(['neighbour'], `"${call}" is for ${tool.targetKinds.join(' or ')}, and not for ${neighbour}`);
}

function checkMeasure(
  measures: readonly Measure[],
  call: string,
  { name, bound }: { readonly name: string; readonly bound?: number | undefined },
  report: (message: string) => void,
): void {
  const measure = measures.find((one) => one.name === name);
  if (measure && (bound !== undefined || Number.isFinite(measure.bound))) return;
  if (measure) return report(`"${name}" has no bound of its own: set one with "bound"`);
  const known = measures.map((measure) => measure.name).join(', ');
  report(`"${call}" has no measure "${name}"; it has ${known === '' ? 'none' : known}`);
}

function checkCall(
  tools: KnownTools,
  name: string,
  input: Json,
  wanted: 'reads' | 'judges' | 'acts',
  namePath: Path,
  inputPath: Path,
  report: (path: Path, message: string) => void,
): void {
  const tool = tools.get(name);
  if (tool === undefined) return report(namePath, `there is no tool "${name}"`);
  const acts = tool.kind === 'active';
  if (acts && wanted !== 'acts')
    return report(namePath, `"${name}" changes the system; steps and verify blocks only read`);
  if (tool.kind === 'changes' && wanted === 'judges')
    return report(namePath, `"${name}" reads no live system: it cannot tell whether a problem is there`);
  if (!acts && wanted === 'acts')
    return report(namePath, `"${name}" only reads; a proposal needs a tool that acts`);
  if (tool.input instanceof z.ZodObject)
    for (const key of Object.keys(input as object))
      if (!(key in tool.input.shape))
        report(
          [...inputPath, key],
          `"${name}" has no input "${key}"; it takes ${Object.keys(tool.input.shape).join(', ') || 'none'}`,
        );
  const parsed = tool.input.safeParse(input);
  for (const issue of parsed.error?.issues ?? []) {
    // What a template yields is known only when it runs; the gate parses it then.
    if (issue.code === 'unrecognized_keys' || hasTemplate(valueAt(input, issue.path))) continue;
    const key = issue.path.map(String).join('.');
    report(
      [...inputPath, ...issue.path],
      `"${name}" does not take this${key === '' ? '' : ` as "${key}"`}: ${issue.message}`,
    );
  }
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return found;
}

const hasTemplate = (value: unknown): boolean =>
  typeof value === 'string' && templateParts(value).some((part) => part.kind === 'expression');
