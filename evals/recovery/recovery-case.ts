import { z } from 'zod';
import { alertSources, defaultSource } from '../../src/sources/registry.ts';
import { RecordedOutput } from '../replay/scenario.ts';

/** How an incident ended, by its record. */
export const endings = [
  'fixed',
  'over_by_source',
  'done_as_asked',
  'not_fixed',
  'cannot_tell',
  'nothing_ran',
  'unfinished',
] as const;
export type Ending = (typeof endings)[number];

/** From this moment on the system's reads are these; what is not among them stays as it was. */
const Moment = z.strictObject({
  after_seconds: z.number().min(0).default(0),
  /** The truth that no tool tells: whether the problem is gone, and not away for a moment only. As before when left out. */
  is_gone: z.boolean().optional(),
  /** A recorded incident whose reads these are. */
  recorded: z.string().optional(),
  /** In those: what was recorded as one thing is another here (a session that comes back under a new pid). */
  replaced: z.record(z.string(), z.string()).default({}),
  /** Every read fails so, from this moment on until the next one. */
  fails: z.strictObject({ code: z.string(), reason: z.string() }).optional(),
  /** Over those. */
  reads: z.array(RecordedOutput).default([]),
});
export type Moment = z.infer<typeof Moment>;

/** What the tool's own look at the state came to when it was recorded. */
const Preflight = z.union([
  z.strictObject({
    guard: z.json(),
    about: z.json().optional(),
    lines: z.array(z.string()),
    blast_radius: z.string(),
    undo: z.string(),
    risk: z.enum(['low', 'medium', 'high']),
    /** What speaks against it: it takes two people. */
    objection: z.string().optional(),
  }),
  z.strictObject({ code: z.string(), reason: z.string() }),
]);

/** One change that can be made to the recorded system, and what comes of it. */
const Change = z.strictObject({
  tool: z.string().min(1),
  input: z.record(z.string(), z.json()),
  /** Whether a good planner proposes it. */
  is_right: z.boolean(),
  preflight: Preflight,
  outcome: z.strictObject({ kind: z.enum(['succeeded', 'failed']), text: z.string() }),
  /** Before that other change it takes effect, and changes nothing. */
  only_after: z.string().optional(),
  /** From when it ran. */
  afterwards: z.array(Moment).default([]),
});
export type Change = z.infer<typeof Change>;

/** What a given planner says and proposes in each of its rounds. */
const GivenPlan = z.strictObject({
  reads: z
    .array(z.strictObject({ tool: z.string(), input: z.record(z.string(), z.json()).default({}) }))
    .min(1),
  cause: z.string(),
  healthy: z.boolean().default(false),
  /** Names of changes, the best first; several of one entry are one plan, in their order. */
  proposes: z
    .array(
      z.union([
        z.string().transform((name): readonly [string, ...string[]] => [name]),
        z.tuple([z.string()], z.string()).readonly(),
      ]),
    )
    .default([]),
});
export type GivenPlan = z.infer<typeof GivenPlan>;

/** `gone`: since the problem is really gone, and while it is. */
const Word = z.strictObject({ after: z.enum(['alert', 'ran', 'gone']), seconds: z.number().min(0) });

/**
 * One incident from its alert to its truthful ending: the recorded system over time, what its source says and when, what
 * people decide, and which changes may be proposed. docs/evals.md describes each field.
 */
export const RecoveryCase = z
  .strictObject({
    id: z.string().min(1),
    title: z.string(),
    /** The recorded incident whose alert and target it has. */
    alert: z.string(),
    /** From the alert on, the first at once. */
    world: z.array(Moment).min(1),
    changes: z.record(z.string(), Change).default({}),
    /** Who sends it: one that sends ends as well and is waited for, or a chat message, where our own check stands alone. */
    source: z.enum(alertSources.map(({ name }) => name)).default(defaultSource.name),
    /** When the source says that it is over; truthfully when left out, and never when empty. */
    source_says_over: z.array(Word).default([{ after: 'gone', seconds: 30 }]),
    /** Decisions, card by card; cards beyond them are approved. */
    people: z
      .array(
        z.strictObject({
          decides: z.enum(['approve', 'deny']),
          after_seconds: z.number().min(0).default(20),
          another_way: z.boolean().default(false),
        }),
      )
      .default([]),
    planners: z.strictObject({ oracle: GivenPlan, wrong: GivenPlan }),
    /** How it ends when everybody does what is right and nothing untrue is said. */
    ends: z.array(z.enum(endings)).min(1),
    why: z.string(),
  })
  .superRefine(({ changes, planners }, context) => {
    for (const [planner, { proposes }] of Object.entries(planners))
      for (const name of proposes.flat())
        if (!(name in changes))
          context.addIssue({
            code: 'custom',
            message: `there is no change "${name}"`,
            path: ['planners', planner],
          });
  });
export type RecoveryCase = z.infer<typeof RecoveryCase>;
