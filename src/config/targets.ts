import { existsSync, readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { messageOf, OpsError } from '../core/errors.ts';
import { domainFault } from '../core/incident.ts';
import { domainOfLabels, domainsOf } from '../targets/domains.ts';
import type { TargetConfig, TargetKind } from '../targets/kind.ts';
import { kinds } from '../targets/kinds.ts';
import { kindOf } from '../targets/systems.ts';

type Env = Readonly<Record<string, string | undefined>>;

type Entry = Omit<TargetConfig, 'domain'> & Partial<Pick<TargetConfig, 'domain'>>;

const targetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'lower-case letters, digits, ".", "_", "-"; at most 63');

const everyTarget = {
  name: targetName,
  environment: z.string().min(1).default('production'),
  aliases: z.array(z.string().min(1)).default([]),
  neighbours: z.array(targetName).max(5).optional(),
};

/** The targets that `sentry.yaml` names. Throws OpsError CONFIG naming every wrong field. */
export function readTargets(
  path: string | undefined,
  env: Env,
  known: readonly TargetKind[] = kinds,
): readonly TargetConfig[] {
  const where = path ?? 'sentry.yaml';
  if (!existsSync(where)) {
    if (path) throw wrong([`SENTRY_CONFIG: ${path} does not exist`]);
    return [];
  }
  let raw: unknown;
  try {
    raw = parseYaml(readFileSync(where, 'utf8')) ?? undefined;
  } catch (error) {
    throw wrong([`${where}: not valid YAML: ${messageOf(error)}`]);
  }
  return parseTargets(raw, env, where, known);
}

/** What a file of targets says. `where`: for its errors. */
export function parseTargets(
  raw: unknown,
  env: Env,
  where: string,
  known: readonly TargetKind[] = kinds,
): readonly TargetConfig[] {
  const parsed = fileOf(known).safeParse(raw);
  if (!parsed.success)
    throw wrong(parsed.error.issues.map((issue) => `${where}: ${issue.path.join('.')}: ${issue.message}`));
  const targets: TargetConfig[] = [];
  const domains = domainsOf(known);
  for (const entry of parsed.data.targets as unknown as readonly Entry[]) {
    const { name } = entry;
    if (targets.some((target) => target.name === name))
      throw wrong([`${where}: two targets are called "${name}"`]);
    const kind = kindOf(known, entry);
    const domain = entry.domain ?? kind.domains[0]?.name ?? domainOfLabels(known)({});
    const fault = domainFault(domain, domains);
    const read = fault ? [fault] : kind.read({ ...entry, domain } as never, env);
    if (!('name' in read)) throw wrong(read.map((problem) => `${where}: target "${name}": ${problem}`));
    targets.push(read);
  }
  const problems = targets.flatMap((target) => neighbourProblems(target, targets));
  if (problems.length > 0) throw wrong(problems.map((problem) => `${where}: ${problem}`));
  return targets;
}

function neighbourProblems(
  { name, neighbours = [] }: TargetConfig,
  targets: readonly TargetConfig[],
): readonly string[] {
  return neighbours.flatMap((neighbour) => {
    if (neighbour === name) return [`target "${name}": neighbours: it names itself`];
    return targets.some((other) => other.name === neighbour)
      ? []
      : [`target "${name}": neighbours: there is no target called "${neighbour}"`];
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
  return z.strictObject({ targets: z.array(target).default([]) }).default({ targets: [] });
}

/** A fault of the configuration, a line each. */
export function wrong(lines: readonly string[]): OpsError {
  return new OpsError(
    'CONFIG',
    `The configuration is wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    {
      hint: 'Correct the variables named above; docs/settings.md lists them all.',
    },
  );
}
