import type { Json } from '../core/tool-call.ts';
import { checkExpression } from './expression.ts';
import type { RunbookProblem } from './runbook.ts';
import { actsOf, type StepBlock, type VerifyBlock } from './schema.ts';
import { templateParts } from './template.ts';
import type { LocatedYaml } from './yaml-part.ts';

type Path = readonly PropertyKey[];
type Report = (path: Path, message: string, offset?: number) => void;

/** Within one file: names of steps and verify blocks, and every expression and template. */
export function checkReferences(
  steps: readonly LocatedYaml<StepBlock>[],
  verifies: readonly LocatedYaml<VerifyBlock>[],
): readonly RunbookProblem[] {
  const problems: RunbookProblem[] = [];
  const stepIds = steps.map((step) => step.value.id);
  const verifyNames = verifies.map((verify) => verify.value.name);
  const lets = steps.flatMap((step) => step.value.checks.flatMap((check) => Object.keys(check.let ?? {})));
  const known = ['result', 'incident', 'neighbour', ...stepIds, ...lets];

  for (const [index, step] of steps.entries()) {
    const report: Report = (path, message, offset) => problems.push(step.problem(path, message, offset));
    const { id, checks } = step.value;
    if (stepIds.indexOf(id) !== index) report(['id'], `there are two steps "${id}"`);
    if (lets.includes(id)) report(['id'], `"${id}" is also the name of a "let"`);
    inValues(step.value.with, ['with'], known, report);
    for (const [at, check] of checks.entries()) {
      checkOneCheck(check, ['checks', at]);
      const later = stepIds.indexOf(check.go ?? '');
      if (check.go !== undefined && later === -1)
        report(['checks', at, 'go'], `there is no step "${check.go}"; steps: ${stepIds.join(', ')}`);
      // Only forward, so that every run ends.
      else if (check.go !== undefined && later <= index)
        report(['checks', at, 'go'], `"${check.go}" does not come after "${id}"`);
    }

    function checkOneCheck(check: StepBlock['checks'][number], path: Path): void {
      if (check.when !== undefined) inExpression(check.when, 'bool', [...path, 'when'], known, report);
      for (const [name, expression] of Object.entries(check.let ?? {}))
        inExpression(expression, 'any', [...path, 'let', name], known, report);
      for (const [at, claim] of (check.claim ?? []).entries()) {
        inTemplate(claim.says, [...path, 'claim', at, 'says'], known, report);
        for (const quote of claim.quote) inTemplate(quote, [...path, 'claim', at, 'quote'], known, report);
        if (claim.from !== undefined && !stepIds.includes(claim.from))
          report([...path, 'claim', at, 'from'], `there is no step "${claim.from}"`);
      }
      inValues([check.rules_out ?? '', check.healthy ?? ''], path, known, report);
      if (typeof check.use === 'object') {
        const { also_verify: also = null, says = '' } = check.use;
        if (also !== null && !verifyNames.includes(also))
          report([...path, 'use', 'also_verify'], `there is no verify block "${also}"`);
        inTemplate(says, [...path, 'use', 'says'], known, report);
      }
      const told = check.conclude;
      if (told === undefined) return;
      for (const key of ['cause', 'unexplained', 'blast_radius', 'remedy', 'would_change_my_mind'] as const)
        inTemplate(told[key] ?? '', [...path, 'conclude', key], known, report);
      inValues(told.ruled_out, [...path, 'conclude', 'ruled_out'], known, report);
      for (const [at, prevention] of (told.prevent ?? []).entries())
        checkActs(prevention, [...path, 'conclude', 'prevent', at]);
      for (const [at, proposal] of (told.propose ?? []).entries()) {
        const here = [...path, 'conclude', 'propose', at];
        checkActs(proposal, here);
        const verify = verifies.find(({ value }) => value.name === proposal.verify);
        if (proposal.verify !== undefined && verify === undefined)
          report([...here, 'verify'], `there is no verify block "${proposal.verify}"`);
        // Whether a change took effect says nothing about the problem.
        if (verify !== undefined && verify.value.checks.every(({ measure }) => measure === undefined))
          report(
            [...here, 'verify'],
            `"${proposal.verify}" reads no "measure", so nothing would show that the problem was there and is over`,
          );
      }
      if (told.confidence >= 0.9 && !checksClaim(check))
        report(
          [...path, 'conclude', 'confidence'],
          'a confidence of 0.9 or more needs a "claim" with a quote in the same check',
        );
    }

    function checkActs(plan: Parameters<typeof actsOf>[0], here: Path): void {
      for (const { act, path: below } of actsOf(plan)) {
        inValues(act.with, [...here, ...below, 'with'], known, report);
        inTemplate(act.why, [...here, ...below, 'why'], known, report);
      }
      if (plan.when !== undefined) inExpression(plan.when, 'bool', [...here, 'when'], known, report);
    }
  }

  for (const [index, verify] of verifies.entries()) {
    const report: Report = (path, message, offset) => problems.push(verify.problem(path, message, offset));
    if (verifyNames.indexOf(verify.value.name) !== index)
      report(['name'], `there are two verify blocks "${verify.value.name}"`);
    for (const [at, check] of verify.value.checks.entries()) {
      inValues(check.with, ['checks', at, 'with'], known, report);
      inTemplate(check.says, ['checks', at, 'says'], known, report);
      if (check.holds === undefined) continue;
      inTemplate(check.holds, ['checks', at, 'holds'], known, report);
      // What a template yields is only known when it runs; `result` is all that is left to name by then.
      const filled = templateParts(check.holds)
        .map((part) => (part.kind === 'text' ? part.text : 'dyn(null)'))
        .join('');
      const fault = checkExpression(filled, ['result'], 'bool');
      if (fault !== undefined)
        report(['checks', at, 'holds'], fault.message, filled === check.holds ? fault.offset : 0);
    }
  }
  return problems;
}

const checksClaim = (check: StepBlock['checks'][number]) => (check.claim ?? []).length > 0;

function inExpression(
  source: string,
  wanted: 'bool' | 'any',
  path: Path,
  known: readonly string[],
  report: Report,
): void {
  const fault = checkExpression(source, known, wanted);
  if (fault !== undefined) report(path, fault.message, fault.offset);
}

function inTemplate(template: string, path: Path, known: readonly string[], report: Report): void {
  for (const part of templateParts(template)) {
    if (part.kind === 'text') {
      const open = part.text.indexOf('${');
      if (open !== -1) report(path, '"${" without its "}"', open);
      continue;
    }
    const fault = checkExpression(part.expression, known, 'any');
    if (fault !== undefined) report(path, fault.message, part.offset + fault.offset);
  }
}

function inValues(value: Json, path: Path, known: readonly string[], report: Report): void {
  if (typeof value === 'string') inTemplate(value, path, known, report);
  else if (Array.isArray(value))
    for (const [at, item] of value.entries()) inValues(item as Json, [...path, at], known, report);
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value)) inValues(item, [...path, key], known, report);
}
