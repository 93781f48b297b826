import type { z } from 'zod';
import { checkReferences } from './check-references.ts';
import { checkRequirement } from './check-requirement.ts';
import { type MachineBlock, type MarkdownParts, splitMarkdown } from './markdown.ts';
import type {
  Runbook,
  RunbookCheck,
  RunbookPlan,
  RunbookProblem,
  RunbookStep,
  RunbookTurn,
  RunbookVerify,
} from './runbook.ts';
import { actsOf, frontMatter, type StepBlock, stepBlock, type VerifyBlock, verifyBlock } from './schema.ts';
import { type LocatedYaml, parseYamlPart } from './yaml-part.ts';

/** What a runbook's machine-readable parts are and where each stands, for checks that need more than one file. */
export interface ParsedRunbook {
  readonly runbook: Runbook;
  readonly top: LocatedYaml<z.output<typeof frontMatter>>;
  readonly steps: readonly LocatedYaml<StepBlock>[];
  readonly verifies: readonly LocatedYaml<VerifyBlock>[];
}

export type ParseOutcome =
  | { readonly ok: true; readonly parsed: ParsedRunbook }
  | { readonly ok: false; readonly problems: readonly RunbookProblem[] };

/**
 * Reads one runbook. All problems of a file are found in one go: shape, expressions, names of steps and verify blocks.
 * Tools and other runbooks are not known here: see `validateRunbooks`.
 */
export function parseRunbook(file: string, source: string): ParseOutcome {
  const parts = splitMarkdown(source);
  const problems: RunbookProblem[] = [];
  const say = (line: number, message: string) => problems.push({ file, line, column: 1, message });
  if (parts.unclosed !== null) say(parts.unclosed.line, `this ${parts.unclosed.what} is never closed`);
  if (parts.frontMatter === null) {
    if (parts.unclosed === null) say(1, 'expected front matter: a line "---", YAML, and a line "---"');
    return { ok: false, problems };
  }

  const top = parseYamlPart(file, parts.frontMatter, frontMatter);
  problems.push(...top.problems);
  const steps: { yaml: LocatedYaml<StepBlock>; heading: string }[] = [];
  const verifies: LocatedYaml<VerifyBlock>[] = [];
  for (const block of parts.blocks) readBlock(block);
  if (problems.length === 0) {
    const stepYaml = steps.map((step) => step.yaml);
    problems.push(...checkReferences(stepYaml, verifies));
    if (top.yaml !== null) problems.push(...checkRequirement(top.yaml, stepYaml));
  }
  if (problems.length > 0 || top.yaml === null) return { ok: false, problems };
  const runbook = assemble(file, parts, top.yaml.value, steps, verifies);
  return { ok: true, parsed: { runbook, top: top.yaml, steps: steps.map((step) => step.yaml), verifies } };

  function readBlock(block: MachineBlock): void {
    if (block.kind === 'step') {
      const read = parseYamlPart(file, block, stepBlock);
      problems.push(...read.problems);
      if (read.yaml !== null) steps.push({ yaml: read.yaml, heading: block.heading });
    } else if (block.kind === 'verify') {
      const read = parseYamlPart(file, block, verifyBlock);
      problems.push(...read.problems);
      if (read.yaml !== null) verifies.push(read.yaml);
    } else say(block.line - 1, `"yaml ${block.kind}" is neither "yaml step" nor "yaml verify"`);
  }
}

function assemble(
  file: string,
  parts: MarkdownParts,
  top: z.output<typeof frontMatter>,
  steps: readonly { readonly yaml: LocatedYaml<StepBlock>; readonly heading: string }[],
  verifies: readonly LocatedYaml<VerifyBlock>[],
): Runbook {
  return {
    id: top.id,
    title: top.title,
    domains: top.domain,
    version: top.version,
    type: top.type,
    matches: top.matches,
    requires: top.requires,
    ignoreWhenHealthy: top.ignore_when_healthy,
    conclusive: top.conclusive,
    steps: steps.map((step) => stepOf(step.yaml.value, step.heading, top.type)),
    verify: Object.fromEntries(verifies.map(({ value }) => [value.name, verifyOf(value)])),
    body: parts.body,
    file,
  };
}

function stepOf(block: StepBlock, heading: string, type: string): RunbookStep {
  return {
    id: block.id,
    call: block.call,
    neighbour: block.neighbour,
    with: block.with,
    why: block.why ?? heading.replace(/^\d+[.)]\s*/, ''),
    waitMs: block.wait ?? 0,
    optional: block.optional,
    checks: block.checks.map((check) => checkOf(check, block.id, type)),
  };
}

function checkOf(check: StepBlock['checks'][number], stepId: string, type: string): RunbookCheck {
  return {
    when: check.when,
    let: check.let,
    claims: (check.claim ?? []).map((claim) => ({
      says: claim.says,
      quote: claim.quote,
      from: claim.from ?? stepId,
    })),
    rulesOut: check.rules_out,
    turn: turnOf(check, type),
  };
}

function turnOf(check: StepBlock['checks'][number], type: string): RunbookTurn | undefined {
  if (check.go !== undefined) return { kind: 'go', step: check.go };
  if (check.use !== undefined)
    return typeof check.use === 'string'
      ? { kind: 'use', runbook: check.use, alsoVerify: null }
      : {
          kind: 'use',
          runbook: check.use.runbook,
          alsoVerify: check.use.also_verify ?? null,
          says: check.use.says,
        };
  if (check.healthy !== undefined) return { kind: 'healthy', says: check.healthy };
  if (check.cannot_tell !== undefined)
    return typeof check.cannot_tell === 'string'
      ? { kind: 'cannot_tell', says: check.cannot_tell }
      : {
          kind: 'cannot_tell',
          says: check.cannot_tell.says,
          next: check.cannot_tell.next,
          lookAgain: check.cannot_tell.look_again === true,
        };
  if (check.conclude === undefined) return undefined;
  const told = check.conclude;
  return {
    kind: 'conclude',
    conclusion: {
      cause: told.cause,
      unexplained: told.unexplained,
      category: told.category ?? type,
      confidence: told.confidence,
      blastRadius: told.blast_radius,
      remedy: told.remedy,
      ruledOut: told.ruled_out,
      wouldChangeMyMind: told.would_change_my_mind,
      propose: (told.propose ?? []).flatMap((one) =>
        plansOf(one).map((plan) => ({ ...plan, verify: one.verify ?? null })),
      ),
      prevent: (told.prevent ?? []).flatMap(plansOf),
    },
  };
}

function plansOf(one: Parameters<typeof actsOf>[0]): readonly RunbookPlan[] {
  const [first, ...then] = actsOf(one).map(({ act }) => act);
  return first === undefined ? [] : [{ steps: [first, ...then], when: one.when }];
}

function verifyOf(block: VerifyBlock): RunbookVerify {
  return { holdMs: block.for, timeoutMs: block.timeout, steps: block.checks };
}
