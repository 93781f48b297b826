import { z } from 'zod';
import { MAX_STEPS } from '../core/action.ts';
import { DomainName } from '../core/incident.ts';
import type { Json } from '../core/tool-call.ts';
import { isFree } from './expression.ts';

const kebab = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected lower-case words joined by "-", like blocked-sessions');
const snake = z
  .string()
  .regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, 'expected lower-case words joined by "_", like blocked_sessions');
/** Names that CEL can read as a variable. */
const variable = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, 'expected a lower-case name of letters, digits and "_", starting with a letter')
  .refine(
    (name) => name !== 'result' && name !== 'incident' && name !== 'neighbour',
    '"result", "incident" and "neighbour" are taken',
  )
  .refine(isFree, 'is a word of CEL, like "list" or "in"; take another');
const words = z.string().trim().min(1, 'expected some text');
const oneOrMore = <T extends z.ZodType>(item: T) =>
  z
    .union([item, z.array(item).min(1)])
    .transform((value) => (Array.isArray(value) ? value : [value]) as z.output<T>[]);
const given = z.record(z.string(), z.json());
const input = given.default({}) as unknown as z.ZodType<Json>;

const durationUnits = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** `500ms`, `10s`, `2m`, `1h` → milliseconds. */
const duration = z.string().transform((text, context) => {
  const [, amount, unit] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined)
    return Number(amount) * durationUnits[unit as keyof typeof durationUnits];
  context.addIssue(`"${text}" is not a duration; expected a number with ms, s, m or h, like 30s`);
  return z.NEVER;
});

/** The YAML between the `---` lines at the top. */
export const frontMatter = z.strictObject({
  id: kebab,
  title: words,
  domain: oneOrMore(DomainName),
  version: z.number().int().positive(),
  type: snake,
  matches: z.strictObject({
    alerts: z.array(words).default([]),
    text: z.array(words).default([]),
    labels: z.record(z.string(), words).default({}),
  }),
  requires: z
    .strictObject({
      step: variable,
      when: words,
      bad: z.enum(['high', 'low', 'present']),
      measure: snake.nullable().optional(),
      bound: z.number().optional(),
      inverse: z.array(words).default([]),
      opposite: z.array(words).default([]),
    })
    .optional(),
  ignore_when_healthy: z.boolean().default(false),
  conclusive: z.boolean().default(false),
});

const act = z.strictObject({ tool: words, with: input, why: words });

/** One act as it stands, or `steps` that only help together. */
const acts = z.strictObject({
  tool: words.optional(),
  with: (given as unknown as z.ZodType<Json>).optional(),
  why: words.optional(),
  steps: z
    .array(act)
    .min(2, 'a plan has at least two steps; one act is written without "steps"')
    .max(MAX_STEPS, `a plan has at most ${MAX_STEPS} steps`)
    .optional(),
  when: words.optional(),
});
type Acts = z.output<typeof acts>;

function checkActs({ tool, with: own, why, steps }: Acts, context: z.RefinementCtx): void {
  const say = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  if (steps === undefined) {
    if (tool === undefined) say('tool', 'expected the name of a tool, or "steps"');
    if (why === undefined) say('why', 'expected some text');
    return;
  }
  if (tool !== undefined) say('tool', 'the tools of a plan stand in its "steps"');
  if (own !== undefined) say('with', 'each of the "steps" has its own');
  if (why !== undefined) say('why', 'each of the "steps" says why it is there');
}

const proposal = acts
  .extend({ verify: words.optional() })
  .superRefine(checkActs)
  .superRefine(({ steps, verify }, context) => {
    if (steps !== undefined && verify === undefined)
      context.addIssue({
        code: 'custom',
        path: ['verify'],
        message: 'expected a verify block for the whole plan: no step alone tells whether it helped',
      });
  });

/** The acts of a proposal in order, and where each stands below it. */
export function actsOf({ tool, with: own, why, steps }: Acts) {
  return steps === undefined
    ? [{ path: [], act: { tool: tool ?? '', with: own ?? {}, why: why ?? '' } }]
    : steps.map((step, at) => ({ path: ['steps', at] as readonly PropertyKey[], act: step }));
}

const conclusion = z.strictObject({
  cause: words,
  unexplained: words.optional(),
  category: snake.optional(),
  confidence: z.number().min(0).max(1),
  blast_radius: words.optional(),
  remedy: words.optional(),
  ruled_out: z.array(words).default([]),
  would_change_my_mind: words.optional(),
  propose: oneOrMore(proposal).optional(),
  prevent: oneOrMore(acts.superRefine(checkActs)).optional(),
});

const claim = z.strictObject({ says: words, quote: oneOrMore(words), from: variable.optional() });

const turns = ['go', 'use', 'healthy', 'cannot_tell', 'conclude'] as const;

const check = z
  .strictObject({
    when: words.optional(),
    let: z.record(variable, words).optional(),
    claim: oneOrMore(claim).optional(),
    rules_out: words.optional(),
    go: variable.optional(),
    use: z
      .union([
        kebab,
        z.strictObject({ runbook: kebab, also_verify: variable.optional(), says: words.optional() }),
      ])
      .optional(),
    healthy: words.optional(),
    cannot_tell: z
      .union([
        words,
        z.strictObject({ says: words, next: words.optional(), look_again: z.boolean().optional() }),
      ])
      .optional(),
    conclude: conclusion.optional(),
  })
  .superRefine((value, context) => {
    const used = turns.filter((turn) => value[turn] !== undefined);
    if (used.length > 1)
      context.addIssue({
        code: 'custom',
        path: [used[1] ?? ''],
        message: `a check ends in one way, not in ${used.join(' and ')}`,
      });
    if (value.conclude !== undefined && value.when === undefined)
      context.addIssue({ code: 'custom', path: ['conclude'], message: 'a cause needs a test: add "when"' });
  });

/** One ```` ```yaml step ```` block. */
export const stepBlock = z.strictObject({
  id: variable,
  call: words,
  /** It reads the one neighbour of this kind, in place of the incident's own target. */
  neighbour: kebab.optional(),
  with: input,
  why: words.optional(),
  wait: duration
    .optional()
    .refine((ms) => ms === undefined || ms <= 30_000, 'at most 30s: a turn must not wait long'),
  optional: z.boolean().default(false),
  checks: z.array(check).default([]),
});
export type StepBlock = z.output<typeof stepBlock>;

/** A measure that the tool declares, which makes it the symptom; or a test of its own beside one. */
const verifyCheck = z
  .strictObject({
    call: words,
    with: input,
    measure: variable.optional(),
    bound: z.number().optional(),
    holds: words.optional(),
    says: words,
  })
  .refine((value) => (value.measure === undefined) !== (value.holds === undefined), {
    error: 'expected either "measure" (one of the tool\'s, for the symptom) or "holds" (a test of its own)',
  })
  .refine((value) => value.bound === undefined || value.measure !== undefined, {
    path: ['bound'],
    error: 'a bound belongs to a "measure"',
  });

/** One ```` ```yaml verify ```` block. */
export const verifyBlock = z
  .strictObject({
    name: variable.default('default'),
    for: duration,
    timeout: duration,
    checks: z.array(verifyCheck).min(1),
  })
  .refine((value) => value.timeout > value.for, {
    path: ['timeout'],
    error: 'expected longer than "for", or it can never be fixed',
  });
export type VerifyBlock = z.output<typeof verifyBlock>;
