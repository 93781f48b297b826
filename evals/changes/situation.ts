import { z } from 'zod';
import { changeKinds, changeStates } from '../../src/core/change.ts';

/** Kinds of changes that are a cause; every other `about` is of a change that must not be blamed. */
export const causes = [
  'deploy',
  'rollback',
  'config',
  'migration',
  'flag',
  'infrastructure',
  'setting',
  'container',
  'rollout',
  'package',
  'file',
] as const;
const innocents = [
  'harmless',
  'after',
  'around',
  'neighbour',
  'environment',
  'failed',
  'other-object',
  'skew',
  'source-down',
  'nothing',
  'two',
  'undone',
  'untrusted',
  'wide',
  'healthy',
] as const;

const Titles = z.array(z.string().min(1));

/** A change, and who tells Sentry of it. Times are minutes before the problem began, negative after it. */
const Told = z.strictObject({
  /** `own-look`: Sentry saw it by itself; the others by their webhook or the HTTP API. */
  by: z.enum(['github', 'generic', 'api', 'own-look']),
  /** When it took effect; of an own look, when that was made, unless `took` is 0: then the system itself tells of that time. */
  before: z.number(),
  /** So long it took; of an own look, so long the look before was ago. Not told when left out. */
  took: z.number().min(0).optional(),
  /** Of an own look: what the thing is called that is another one now. */
  title: z.string(),
  kind: z.enum(changeKinds).default('deployment'),
  status: z.enum(changeStates).default('succeeded'),
  /** Of an own look: names of the one thing inside the system, if it is not of the whole system. */
  where: Titles.default([]),
  environment: z.string().optional(),
  who: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  commits: Titles.default([]),
  /** Of an own look: how it is told that it is gone. */
  went: z.string().optional(),
});
export type Told = z.infer<typeof Told>;

/** What a scripted Claude reads and says. It is stubborn: asked again, it says the same. */
const Script = z.strictObject({
  /** A part of the title of the change that it calls the cause. */
  blames: z.string(),
  reads: z
    .array(z.strictObject({ tool: z.string(), args: z.record(z.string(), z.json()).default({}) }))
    .min(1),
  /** A part of the line of its last read that it quotes. */
  line: z.string(),
  cause: z.string(),
  /**
   * What may stand on record of that change. `named`: a suspect or the cause, where no code can tell that what is read is its doing.
   * `not_cause`: a suspect at most. `none`: not even that. Left out: anything.
   */
  part: z.enum(['cause', 'named', 'not_cause', 'none']).optional(),
  /** All of these are on record as suspects: there is no winner. */
  both: Titles.default([]),
  /** Must not stand in the cause that is on record. */
  never: Titles.default([]),
});
export type Script = z.infer<typeof Script>;

/** A recorded incident, what was changed around it, and what is right to say of that. */
export const Situation = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  about: z.enum([...causes, ...innocents]),
  /** One of evals/incidents: what the system shows. */
  recorded: z.string(),
  /** The target beyond what was recorded of it, as sentry.yaml says it. */
  target: z
    .strictObject({
      aliases: Titles.default([]),
      neighbours: Titles.default([]),
      changes_from: Titles.optional(),
    })
    .prefault({}),
  /** So many minutes ago it began. */
  began: z.number().positive().default(5),
  told: z.array(Told),
  /** The record of changes cannot be read. */
  broken: z.boolean().default(false),
  /** What `what_changed` finds, by parts of titles; what is left out may be anything. */
  found: z.strictObject({
    answer: z.enum(['changed', 'nothing', 'could_not_look']).optional(),
    /** All that are suspects, those of the very thing and of neighbours. */
    suspects: Titles.optional(),
    around: Titles.default([]),
    after: Titles.default([]),
    /** Neither a suspect nor told of otherwise. */
    not: Titles.default([]),
    /** A neighbour's, if it is told of at all. */
    not_it: Titles.default([]),
    seen: Titles.default([]),
    unseen: Titles.default([]),
    /** False: nobody could be asked, and nothing of it is on record. */
    asked: z.boolean().default(true),
  }),
  verdict: z.enum(['cause_found', 'healthy', 'cannot_tell']).optional(),
  claude: z.array(Script).default([]),
});
export type Situation = z.infer<typeof Situation>;

/** Whether its change is the cause, so that whoever looks into it has to name it. */
export const mustBeNamed = ({ about }: Pick<Situation, 'about'>): boolean =>
  (causes as readonly string[]).includes(about);
