import { existsSync, readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { messageOf, OpsError } from '../core/errors.ts';
import { type HostTargetConfig, hostFields, hostProblems } from '../core/host-target.ts';
import type { PostgresTargetConfig } from '../targets/postgres/config.ts';

const targetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'lower-case letters, digits, ".", "_", "-"; at most 63');

const everyTarget = {
  name: targetName,
  environment: z.string().min(1).default('production'),
  aliases: z.array(z.string().min(1)).default([]),
};

const file = z
  .strictObject({
    targets: z
      .array(
        z.discriminatedUnion('kind', [
          z.strictObject({
            ...everyTarget,
            kind: z.literal('postgres'),
            /** Names of environment variables, so that no credential stands in the file. */
            read_url_env: z.string().min(1),
            act_url_env: z.string().min(1).optional(),
          }),
          z.strictObject({ ...everyTarget, ...hostFields }),
        ]),
      )
      .default([]),
  })
  .default({ targets: [] });

/** The targets that `sentry.yaml` names. Throws OpsError CONFIG naming every wrong field. */
export function readTargets(
  path: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): { readonly targets: readonly PostgresTargetConfig[]; readonly hosts: readonly HostTargetConfig[] } {
  const where = path ?? 'sentry.yaml';
  if (!existsSync(where)) {
    if (path) throw wrong([`SENTRY_CONFIG: ${path} does not exist`]);
    return { targets: [], hosts: [] };
  }
  let raw: unknown;
  try {
    raw = parseYaml(readFileSync(where, 'utf8')) ?? undefined;
  } catch (error) {
    throw wrong([`${where}: not valid YAML: ${messageOf(error)}`]);
  }
  const parsed = file.safeParse(raw);
  if (!parsed.success)
    throw wrong(parsed.error.issues.map((issue) => `${where}: ${issue.path.join('.')}: ${issue.message}`));
  const names = new Set<string>();
  const targets: PostgresTargetConfig[] = [];
  const hosts: HostTargetConfig[] = [];
  for (const target of parsed.data.targets) {
    if (names.has(target.name)) throw wrong([`${where}: two targets are called "${target.name}"`]);
    names.add(target.name);
    if (target.kind === 'host') hosts.push(hostOf(target, where));
    else targets.push(postgresOf(target, where, env));
  }
  return { targets, hosts };
}

type TargetIn<K> = Extract<z.infer<typeof file>['targets'][number], { kind: K }>;

function hostOf({ curl_hosts: curlHosts, ...host }: TargetIn<'host'>, where: string): HostTargetConfig {
  const problems = hostProblems(host);
  if (problems.length > 0)
    throw wrong(problems.map((problem) => `${where}: target "${host.name}": ${problem}`));
  return { ...host, curlHosts };
}

function postgresOf(
  target: TargetIn<'postgres'>,
  where: string,
  env: Readonly<Record<string, string | undefined>>,
): PostgresTargetConfig {
  const readUrl = env[target.read_url_env];
  if (!readUrl)
    throw wrong([
      `${target.read_url_env}: not set; ${where} names it as the read URL of target "${target.name}"`,
    ]);
  const actUrl = target.act_url_env ? env[target.act_url_env] : undefined;
  if (target.act_url_env && !actUrl)
    throw wrong([
      `${target.act_url_env}: not set; ${where} names it as the acting URL of target "${target.name}"`,
    ]);
  return {
    name: target.name,
    kind: target.kind,
    environment: target.environment,
    aliases: target.aliases,
    readUrl,
    actUrl: actUrl ?? null,
  };
}

/** A fault of the configuration, a line each. */
export function wrong(lines: readonly string[]): OpsError {
  return new OpsError(
    'CONFIG',
    `The configuration is wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    {
      hint: 'Correct the variables named above; the README lists them all.',
    },
  );
}
