import jsonata from 'jsonata';
import { z } from 'zod';
import { severities } from '../../core/alert.ts';
import { type Commit, commitOf } from '../../core/change.ts';
import { messageOf } from '../../core/errors.ts';
import { jsonOf } from '../../core/json-of.ts';
import { LinearRegExp } from './linear-regexp.ts';
import { withoutEmpty } from './without-empty.ts';

/** A JSONata expression (https://docs.jsonata.org): `$` is the alert, `$payload` the whole delivery. */
const expression = z.string().superRefine((text, context) => {
  try {
    compile(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: `is no JSONata: ${messageOf(error)}` });
  }
});

const words = z.array(z.string().toLowerCase()).default([]);

/** How the alerts and changes of a sender are read: where its payload says what. */
const fields = z.strictObject({
  /** Kebab case: its route, its `--source`, its label in the metrics. */
  name: z.string().regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, { error: 'expected letters, digits and dashes' }),
  title: z.string().min(1),
  /** Where the sender describes what it sends. */
  docs: z.url(),
  /** Whether it tells of the end of every alert as well. */
  sendsEnds: z.boolean().default(true),
  /** Whether it tells again, at least every few days, of every alert that still fires. */
  repeats: z.boolean().default(false),
  /** Whether `startsAt` and `endsAt` are of one occurrence, which begins anew when it fires again: then an end may come before it. */
  ownTimes: z.boolean().default(false),
  /** How it signs what it sends: HMAC-SHA256 of the body in hexadecimal digits, behind `prefix` in this header. */
  signature: z.strictObject({ header: z.string().toLowerCase(), prefix: z.string().default('') }).optional(),
  /** The parts of a payload of which each may be an alert; the payload itself where it is left out. */
  each: expression.optional(),
  /** `Told`, of one such part; nothing: it tells of no alert. */
  alert: expression.optional(),
  /** The changes of one such part, of which each is read by itself; the part itself where it is left out. */
  eachChange: expression.optional(),
  /** `ToldChange`, of one of them, or a list of such; nothing: it tells of no change. */
  change: expression.optional(),
  /** `ToldPush`, of one such part: commits that are no change until they are deployed. */
  push: expression.optional(),
  /** The sender's words for a status beyond the common ones (`firing`, `ok`, …), in lower case. */
  status: z.strictObject({ firing: words, resolved: words }).default({ firing: [], resolved: [] }),
  /** What its words for a severity mean where ours (`severity.ts`) say otherwise or nothing, in lower case. */
  severity: z
    .record(z.string().toLowerCase(), z.enum(severities))
    .default({})
    // A sender's word is looked up in it: `constructor` is in every object.
    .transform((said) => new Map(Object.entries(said))),
});
export const Mapping = fields.refine(({ alert, change }) => alert !== undefined || change !== undefined, {
  path: ['alert'],
  error: 'expected this, `change` or both',
});
export type Mapping = z.infer<typeof Mapping>;

/** A text, number or boolean that says something; anything else says nothing. */
const said = z
  .unknown()
  .optional()
  .transform((value) => {
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  });

const noOther = ({ code, keys }: { readonly code?: string; readonly keys?: unknown }): string =>
  code === 'unrecognized_keys'
    ? `has no field ${(keys as readonly string[]).join(', ')}`
    : 'expected an object';

/** What says nothing is left out. */
const list = z
  .unknown()
  .optional()
  .transform((value) =>
    (Array.isArray(value) ? value : [value]).flatMap((item: unknown) => said.parse(item) ?? []),
  );

/** What `push` may tell. */
export const ToldPush = z.strictObject(
  {
    repository: said,
    branch: said,
    /** The revision that its commits come after; left out: not known, as after a forced push. */
    before: said,
    commits: toldCommits(),
  },
  { error: noOther },
);
export type ToldPush = z.infer<typeof ToldPush>;

function toldCommits() {
  return z
    .unknown()
    .optional()
    .transform((value) => (Array.isArray(value) ? value : [value]).flatMap(toCommit));
}

/** What a sender tells of one commit: the first line of its message is its title. What says nothing is left out. */
function toCommit(value: unknown): readonly Commit[] {
  const text = said.parse(value);
  if (text !== null) return [commitOf(text)];
  const told = ToldCommit.safeParse(value);
  if (!told.success) return [];
  const { sha, title, by, files } = told.data;
  return sha === null && title === null ? [] : [{ sha, title: title?.split('\n', 1)[0] ?? null, by, files }];
}

const ToldCommit = z.object({ sha: said, title: said, by: said, files: list });

/** What `change` may tell. */
export const ToldChange = z.strictObject(
  {
    /** The sender's own id of it: the same in all that it tells of this change. */
    id: said,
    /** What its id names a version of, with which the id begins: a version that comes back after another one is another change. */
    versionOf: said,
    /** One of `changeKinds`; another word: `other`. */
    kind: said,
    /** Whether it started, succeeded (also when it does not say) or failed. */
    status: said,
    /** “shop-api 1.4.2 deployed”. */
    title: said,
    /** The name of what it touched, or several. */
    where: list,
    environment: said,
    startedAt: said,
    /** When it took effect. */
    at: said,
    by: said,
    from: said,
    to: said,
    /** Texts (“4f2a91c Title”), or objects with `sha`, `title`, `by` and `files`; the newest last. */
    commits: toldCommits(),
    url: said,
  },
  { error: noOther },
);
export type ToldChange = z.infer<typeof ToldChange>;

/** What `alert` may tell. */
export const Told = z.strictObject(
  {
    /** The sender's own id of this alert on this thing: the same from its beginning to its end. */
    id: said,
    /** Where there is no such id: what names the rule or monitor. With `target` and `labels` it tells problems apart. */
    rule: said,
    /** The rule's name as other notifications of the same alert have it. */
    name: said,
    title: said,
    summary: said,
    severity: said,
    status: said,
    /** What it says of itself; values that are no text, number or boolean are left out. */
    labels: z.record(z.string(), said).catch({}),
    target: said,
    /** ISO 8601, or seconds or milliseconds since 1970. */
    startsAt: said,
    endsAt: said,
    url: said,
    /** The sender's group, whose alerts of one rule on one thing are one incident; `labels` are those that it groups by. */
    group: z.object({ key: said, labels: z.record(z.string(), said).catch({}) }).nullish(),
    /** What tells one delivery from the next, where the sender numbers them. */
    delivery: said,
  },
  { error: noOther },
);
export type Told = z.infer<typeof Told>;

/** For one part of a payload, which is read in a millisecond; who needs more has a mapping that loops. */
const TIMEOUT_MS = 1_000;
const STACK = 200;

export function compile(text: string): jsonata.Expression {
  const compiled = jsonata(text, {
    timeout: TIMEOUT_MS,
    stack: STACK,
    RegexEngine: LinearRegExp as unknown as RegExpConstructor,
  });
  // JSONata makes its patterns only when it comes to them.
  for (const pattern of patternsIn(compiled.ast())) new LinearRegExp(pattern);
  compiled.registerFunction('json', (text: string) => withoutEmpty(jsonOf(text)));
  compiled.registerFunction('tags', tags);
  compiled.registerFunction('pairs', pairs);
  return compiled;
}

/** JSONata's code for a time that was up. */
export const isOutOfTime = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === 'D1012';

function patternsIn(part: unknown): readonly RegExp[] {
  if (part instanceof RegExp) return [part];
  return part !== null && typeof part === 'object' ? Object.values(part).flatMap(patternsIn) : [];
}

/** `$tags("env:prod,host:web-1")`, or a list of such: `{env: "prod", host: "web-1"}`. What has no colon is left out. */
function tags(given: unknown): Record<string, string> {
  const list = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given.map(String) : [];
  return Object.fromEntries(
    list.flatMap((tag) => {
      const at = tag.indexOf(':');
      return at > 0 ? [[tag.slice(0, at).trim(), tag.slice(at + 1).trim()]] : [];
    }),
  );
}

/** `$pairs(list, "key", "value")`: the object that such a list of objects stands for. */
function pairs(list: unknown, key: string, value: string): Record<string, unknown> {
  return Object.fromEntries(
    (Array.isArray(list) ? list : [list]).flatMap((item: Record<string, unknown> | null | undefined) =>
      typeof item?.[key] === 'string' ? [[item[key], item[value]]] : [],
    ),
  );
}
