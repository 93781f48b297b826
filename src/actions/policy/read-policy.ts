import { isMap, isPair, isSeq, type Node } from 'yaml';
import { z } from 'zod';
import { closestName } from '../../core/closest-name.ts';
import { matchesGlob } from '../../core/glob.ts';
import { HoursFields } from '../../core/hours.ts';
import { channelPrincipal, type Principal } from '../../core/principal.ts';
import { readYaml } from '../../safety/inputs/read-yaml.ts';
import { EffortFields, type EffortRule } from './effort-rules.ts';
import type { ApproverWord, Rule } from './rule.ts';

/** What is wrong with the file, where. */
export interface PolicyProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** What there is here for a rule to be about; a pattern that matches none of it is a slip. */
export interface PolicySubjects {
  /** Those that change something. */
  readonly tools: readonly string[];
  /** Of those, the ones that no autonomy can be earned with. */
  readonly neverUnasked: readonly string[];
  readonly targets: readonly string[];
  readonly environments: readonly string[];
}

const MAX_BYTES = 256 * 1024;
const names = z
  .array(
    z
      .string()
      .min(1)
      .max(200)
      .refine((text) => (text.match(/\*/g)?.length ?? 0) <= 5, 'at most 5 "*"'),
  )
  .min(1);
const cap = z.strictObject({ actions: z.int().min(1).max(10_000), minutes: z.int().min(1).max(43_200) });

const rule = z
  .strictObject({
    name: z.string().min(1).max(100),
    tools: names.optional(),
    targets: names.optional(),
    environments: names.optional(),
    risks: z
      .array(z.enum(['low', 'medium', 'high']))
      .min(1)
      .optional(),
    runbooks: names.optional(),
    never: z.boolean().default(false),
    approvals: z.int().min(1).max(10).optional(),
    approvers: z.array(z.string()).min(1).optional(),
    self_approval: z.boolean().optional(),
    expires_minutes: z.int().min(1).max(1_440).optional(),
    hours: HoursFields.optional(),
    at_most: cap.optional(),
    at_most_everywhere: cap.optional(),
    autonomy: z
      .strictObject({
        after: z.int().min(1).max(1_000),
        actions: z.int().min(1).max(100),
        minutes: z.int().min(1).max(43_200),
        veto_minutes: z.int().min(1).max(1_440),
      })
      .optional(),
  })
  .refine((one) => !(one.autonomy && (one.never || (one.approvals ?? 1) > 1)), {
    path: ['autonomy'],
    error: 'what nobody or only several people may approve cannot run without asking',
  })
  .refine((one) => !(one.autonomy && one.runbooks === undefined), {
    path: ['autonomy'],
    error: 'name the runbooks it is for, under "runbooks"',
  });

const file = z.strictObject({
  rules: z.array(rule).max(200),
  effort: z.array(EffortFields).max(200).default([]),
});

/** What a policy file says. */
export interface ReadPolicy {
  readonly rules: readonly Rule[];
  readonly effort: readonly EffortRule[];
}

/**
 * Reads the text of a policy file: its rules, or everything that is wrong with it, with line numbers. Never throws.
 *
 * @param subjects what a rule can be about; null where that is not known, and no name is looked up
 */
export function readPolicy(
  text: string,
  subjects: PolicySubjects | null,
): ReadPolicy | { readonly problems: readonly PolicyProblem[] } {
  if (text.length > MAX_BYTES) return { problems: [{ line: 1, message: `over ${MAX_BYTES} characters` }] };
  const read = readYaml(text, 0);
  if (!read.ok) return { problems: read.faults.map(({ line, message }) => ({ line, message })) };
  const { document, lines } = read;
  const at = (offset: number): number => lines.linePos(offset).line;
  const parsed = file.safeParse(read.value);
  const lineOf = (path: readonly PropertyKey[]): number => at(offsetOf(document.contents, path));
  if (!parsed.success)
    return {
      problems: parsed.error.issues.map((issue) => ({
        line: lineOf(issue.path),
        message: `${issue.path.join('.') || 'the file'}: ${issue.message}`,
      })),
    };
  const problems: PolicyProblem[] = [];
  const rules = parsed.data.rules.map((one, index): Rule => {
    const wrong = (field: string, message: string): void =>
      void problems.push({
        line: lineOf(['rules', index, field]),
        message: `rules.${index}.${field}: ${message}`,
      });
    if (parsed.data.rules.findIndex((other) => other.name === one.name) < index)
      wrong('name', `there is another rule called "${one.name}"`);
    if (subjects) for (const [field, message] of slipsIn(one, subjects)) wrong(field, message);
    const approvers = one.approvers?.flatMap((who) => approverOf(who, (why) => wrong('approvers', why)));
    return {
      name: one.name,
      tools: one.tools ?? null,
      targets: one.targets ?? null,
      environments: one.environments ?? null,
      risks: one.risks ?? null,
      runbooks: one.runbooks ?? null,
      never: one.never,
      approvals: one.approvals ?? null,
      approvers: approvers ?? null,
      selfApproval: one.self_approval ?? null,
      expiresMinutes: one.expires_minutes ?? null,
      hours: one.hours ?? null,
      perTarget: one.at_most ?? null,
      everywhere: one.at_most_everywhere ?? null,
      autonomy: one.autonomy
        ? {
            after: one.autonomy.after,
            atMost: { actions: one.autonomy.actions, minutes: one.autonomy.minutes },
            vetoMinutes: one.autonomy.veto_minutes,
          }
        : null,
    };
  });
  const effort = parsed.data.effort.map(({ match, effort: one }) => ({ matcher: match, effort: one }));
  return problems.length > 0 ? { problems } : { rules, effort };
}

function approverOf(who: string, wrong: (why: string) => void): readonly (Principal | ApproverWord)[] {
  if (who === 'oncall' || who === 'admins') return [who];
  if (/^group:.+/.test(who)) return [{ kind: 'group', name: who.slice(6) }];
  if (/^channel:.+/.test(who)) {
    const channel = channelPrincipal(who.slice(8));
    if (!('wrong' in channel)) return [channel];
    wrong(channel.wrong);
    return [];
  }
  if (/^[UW][A-Z0-9]{2,}$/.test(who)) return [{ kind: 'user', id: who }];
  wrong(
    `"${who.slice(0, 80)}" is neither oncall, admins, a Slack user id (U…), group:<handle> nor channel:<id>`,
  );
  return [];
}

/** Patterns that match nothing there is, by field; and autonomy where nothing can earn any. */
function slipsIn(
  one: z.infer<typeof rule>,
  { tools, targets, environments, neverUnasked }: PolicySubjects,
): readonly (readonly [string, string])[] {
  const slips = (field: 'tools' | 'targets' | 'environments', known: readonly string[], what: string) =>
    (one[field] ?? [])
      .filter((pattern) => !known.some((name) => matchesGlob(pattern, name)))
      .map(
        (pattern) => [field, `"${pattern.slice(0, 80)}" matches ${what}${nearest(pattern, known)}`] as const,
      );
  const patch =
    one.autonomy && neverUnasked.find((tool) => one.tools?.some((pattern) => matchesGlob(pattern, tool)));
  return [
    ...slips('tools', tools, 'no tool that changes something'),
    ...slips('targets', targets, 'no configured target'),
    ...slips('environments', environments, 'no environment of a configured target'),
    ...(patch
      ? [['autonomy', `nothing earns it for ${patch}: what that does is written anew each time`] as const]
      : []),
  ];
}

function nearest(pattern: string, known: readonly string[]): string {
  const near = closestName(pattern, known);
  if (near !== null) return `; did you mean "${near}"?`;
  return known.length > 0 && known.length <= 12 ? `; there is ${known.join(', ')}` : '';
}

/** Of the deepest part of the path that is in the file. */
function offsetOf(root: Node | null, path: readonly PropertyKey[]): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && String(item.key) === String(key));
      if (!pair) return offset;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === 'number') {
      node = node.items[key];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
