import { z } from 'zod';
import { domainFault } from '../core/incident.ts';
import { isObject } from '../core/json-of.ts';
import { redact } from '../safety/screen/redact.ts';
import { readPublicKey } from '../safety/secrets/public-key.ts';
import { domainOfLabels, domainsOf } from '../targets/domains.ts';
import type { TargetConfig, TargetKind } from '../targets/kind.ts';
import { kinds } from '../targets/kinds.ts';
import { kindOf } from '../targets/systems.ts';
import { type ConfigFile, type ConfigPath, readConfigFile } from './config-file.ts';
import { correlationFields } from './correlation.ts';
import { escalationFields } from './escalation.ts';
import { maintenanceFields } from './maintenance.ts';
import { mcpFields } from './mcp.ts';
import { repositoryFields } from './repositories.ts';
import { statusPageFields } from './status-pages.ts';
import { wrong } from './wrong.ts';

type Env = Readonly<Record<string, string | undefined>>;

type Entry = Omit<TargetConfig, 'domain' | 'changesFrom'> &
  Partial<Pick<TargetConfig, 'domain'>> & { readonly changes_from?: readonly string[] };

const targetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'lower-case letters, digits, ".", "_", "-"; at most 63');

// A key called `__proto__` would be dropped without a word, and the rule would fit more than it says.
const labelRule = z.strictObject({
  labels: z
    .custom<unknown>((given) => !isObject(given) || !Object.hasOwn(given, '__proto__'), {
      error: '"__proto__" is no label',
      abort: true,
    })
    .pipe(
      z.record(
        z.string().min(1),
        z.string('expected a text; put a number or true in quotes').min(1, 'expected a value; "*" is any'),
        'expected labels, like { namespace: shop }',
      ),
    )
    .refine((labels) => Object.keys(labels).length > 0, 'name at least one label'),
});

/** The fields of every target. */
export const everyTarget = {
  name: targetName.meta({ description: 'how people, runbooks and models call it', example: 'orders-db' }),
  environment: z
    .string()
    .min(1)
    .default('production')
    .meta({ description: 'where it stands; the policy and people go by it', example: 'staging' }),
  aliases: z
    .array(z.string().min(1))
    .default([])
    .meta({ description: 'what alerts call it in their labels', example: '[db1.internal, orders]' }),
  alerts: z.array(labelRule).max(100).optional().meta({
    description: 'labels that only its alerts have, where no label names it',
    example: '[{ labels: { namespace: shop, container: "orders-*" } }]',
  }),
  neighbours: z.array(targetName).max(5).optional().meta({
    description: 'other targets that its incidents may read, too',
    example: '[prom-1, db-host]',
  }),
  changes_from: z.array(z.string().min(1)).max(20).optional().meta({
    description:
      'the sources whose changes may put its incidents together with others; every source when left out',
    example: '[argo-cd, github]',
  }),
};

/** The file of targets, and the variables that its entries may name. */
export interface TargetsFile extends ConfigPath {
  readonly env: Env;
}

/** An entry of the file by itself: its target, or what is wrong with what it names, a line each. */
export interface ReadEntry {
  readonly name: string;
  readonly kind: TargetKind;
  /** As it is written, with what its fields are when they are left out. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly target: TargetConfig | null;
  readonly problems: readonly string[];
}

/** The targets of the file as it is now. Throws OpsError CONFIG naming every wrong field, with its line. */
export function readTargets(
  file: TargetsFile,
  known: readonly TargetKind[] = kinds,
): readonly TargetConfig[] {
  return targetsOf(readConfigFile(file), file.env, known);
}

/** The same of a file that has been read. */
export function targetsOf(
  file: ConfigFile,
  env: Env,
  known: readonly TargetKind[] = kinds,
): readonly TargetConfig[] {
  return allGood(entriesOf(file, env, known));
}

/** Targets that stand in no file. `where`: for the errors. */
export function parseTargets(
  raw: unknown,
  env: Env,
  where: string,
  known: readonly TargetKind[] = kinds,
): readonly TargetConfig[] {
  return targetsOf({ raw, placeOf: () => where }, env, known);
}

function allGood(entries: readonly ReadEntry[]): readonly TargetConfig[] {
  const problems = entries.flatMap((entry) => entry.problems);
  if (problems.length > 0) throw wrong(problems);
  return entries.flatMap(({ target }) => target ?? []);
}

/** Every entry, where one may be wrong without the others. Throws OpsError CONFIG for what is wrong with the file itself. */
export function entriesOf(
  { raw, placeOf }: ConfigFile,
  env: Env,
  known: readonly TargetKind[] = kinds,
): readonly ReadEntry[] {
  const parsed = fileOf(known).safeParse(raw);
  const issues = [...(parsed.error?.issues ?? []), ...secretsIn(raw)];
  if (!parsed.success || issues.length > 0)
    throw wrong(
      issues.map(({ path, message }) =>
        [placeOf(path), ...(path.length > 0 ? [path.join('.')] : []), message].join(': '),
      ),
    );
  const entries = (parsed.data.targets ?? []) as unknown as readonly Entry[];
  return entries.map((entry, at) => {
    const { name } = entry;
    const place = placeOf(['targets', at]);
    if (entries.findIndex((each) => each.name === name) < at)
      throw wrong([`${place}: two targets are called "${name}"`]);
    const kind = kindOf(known, entry);
    const domain = entry.domain ?? kind.domains[0]?.name ?? domainOfLabels(known)({});
    const fault = domainFault(domain, domainsOf(known));
    const faults = [...(fault ? [fault] : []), ...neighbourFaults(entry, entries)];
    const { changes_from: changesFrom, ...own } = entry;
    const given = { ...own, ...(changesFrom ? { changesFrom } : {}), domain };
    const read = faults.length > 0 ? faults : kind.read(given as never, env);
    const said = { name, kind, fields: { ...entry } };
    return 'name' in read
      ? { ...said, target: read, problems: [] }
      : { ...said, target: null, problems: read.map((line) => `${place}: target "${name}": ${line}`) };
  });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Deeper than any field goes; an anchor may hold itself. */
const DEEPEST = 12;

/** Texts that are a secret, or hold one. Never with what they hold: errors are logged and told. */
function secretsIn(value: unknown, path: readonly PropertyKey[] = []): readonly Issue[] {
  if (typeof value === 'string')
    return redact(value) === value || readPublicKey(value)
      ? []
      : [
          {
            path,
            message: 'that looks like a secret: put it into an environment variable or a file, and name that',
          },
        ];
  if (typeof value !== 'object' || value === null || path.length >= DEEPEST) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    secretsIn(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function neighbourFaults({ name, neighbours = [] }: Entry, entries: readonly Entry[]): readonly string[] {
  return neighbours.flatMap((neighbour) => {
    if (neighbour === name) return ['neighbours: it names itself'];
    return entries.some((other) => other.name === neighbour)
      ? []
      : [`neighbours: there is no target called "${neighbour}"`];
  });
}

/** `sentry.yaml` as a schema: an entry has the fields of its kind, and no others. */
function fileOf(known: readonly TargetKind[]) {
  const entries = known.map(({ name, fields }) =>
    z.strictObject({ ...everyTarget, ...fields, kind: z.literal(name) }),
  );
  const [first, ...others] = entries;
  if (!first) throw new Error('no kind of system is registered');
  const target = z.discriminatedUnion('kind', [first, ...others], {
    error: ({ code }) =>
      code === 'invalid_union' ? `expected one of ${known.map(({ name }) => name).join(', ')}` : undefined,
  });
  return z
    .strictObject({
      targets: z.array(target).nullish(),
      ...mcpFields,
      ...repositoryFields,
      ...escalationFields,
      ...maintenanceFields,
      ...correlationFields,
      ...statusPageFields,
    })
    .prefault({});
}
