import { z } from 'zod';
import { severities } from '../core/alert.ts';
import { closestName } from '../core/closest-name.ts';
import { hasHours, hoursFields, noHours } from '../core/hours.ts';
import {
  type EscalationConfig,
  type EscalationLevel,
  escalationReasons,
  type Mention,
  type PagerConfig,
  type ScheduleConfig,
} from '../escalation/escalation-config.ts';
import { duration, headerKey, type keyFields } from '../escalation/fields.ts';
import { opsgenieEntry } from '../escalation/pagers/opsgenie/schema.ts';
import { integrationKey, pagerDutyEntry } from '../escalation/pagers/pagerduty/schema.ts';
import { signingKey, webhookEntry } from '../escalation/pagers/webhook/schema.ts';
import { opsgenieScheduleEntry } from '../escalation/schedules/opsgenie/schema.ts';
import { pagerDutyScheduleEntry } from '../escalation/schedules/pagerduty/schema.ts';
import { rotationEntry } from '../escalation/schedules/rotation/schema.ts';
import { readSecret } from '../safety/named-secret.ts';
import type { ConfigFile } from './config-file.ts';
import { wrong } from './wrong.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** By the name that levels call it. */
const named = <E extends z.ZodType>(entry: E) =>
  z
    .record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,38}$/), entry, {
      error: ({ code }) =>
        code === 'invalid_key'
          ? 'expected a name of lower-case letters, digits, "-" and "_"; at most 39'
          : undefined,
    })
    .default({});

const mention = z.string().transform((text, context): Mention => {
  const [, kind, name = ''] = /^(group|schedule):(.{1,80})$/.exec(text) ?? [];
  if (kind === 'group' || kind === 'schedule') return { kind, name: name.replace(/^@/, '') };
  if (/^[UW][A-Z0-9]{2,20}$/.test(text)) return { kind: 'user', id: text };
  context.addIssue('expected a Slack user id (U…), group:<handle> or schedule:<name>');
  return z.NEVER;
});

const levelEntry = z
  .strictObject({
    after: duration,
    mention: z.array(mention).max(20).default([]),
    page: z.array(z.string()).max(20).default([]),
  })
  .refine((calls) => calls.mention.length + calls.page.length > 0, {
    error: 'it calls nobody: say whom to mention, or which pager to page',
  });

/** Of `sentry.yaml`. */
export const escalationFields = {
  escalation: z
    .strictObject({
      pagers: named(z.discriminatedUnion('type', [pagerDutyEntry, opsgenieEntry, webhookEntry])),
      schedules: named(
        z.discriminatedUnion('type', [pagerDutyScheduleEntry, opsgenieScheduleEntry, rotationEntry]),
      ),
      levels: z
        .array(levelEntry)
        .min(1, 'there is no level, so nobody would be called: add one, or leave escalation out')
        .max(10),
      reasons: z
        .array(z.enum(escalationReasons))
        .min(1)
        .default([...escalationReasons]),
      unacknowledged: duration.prefault('15m'),
      approval_expiry: duration.prefault('5m'),
      quiet_hours: z
        .array(
          z
            .strictObject({ severities: z.array(z.enum(severities)).min(1), ...hoursFields })
            .refine(hasHours, noHours),
        )
        .default([]),
    })
    .optional(),
};

/**
 * Of a file whose form has been checked with its targets; null: it has no such section. Throws OpsError CONFIG naming all that is
 * wrong, with its line, and no secret.
 */
export function readEscalation({ raw, placeOf }: ConfigFile, env: Env): EscalationConfig | null {
  const { escalation: section } = z.object(escalationFields).parse(raw ?? {});
  if (section === undefined) return null;
  const keyProblems: Problem[] = [];
  const keyOf = (path: readonly PropertyKey[], of: string, named: NamedKey, form: z.ZodType<string>) => {
    const { key, faults } = readKey(named, env, form);
    keyProblems.push(...faults.map((fault) => ({ path, message: `${of}: ${fault}` })));
    return key;
  };
  const pagers = Object.entries(section.pagers).map(
    ([name, { key, key_env, key_file, ...entry }]): PagerConfig => {
      const named = { key, key_env, key_file };
      return {
        ...entry,
        name,
        key: keyOf(['pagers', name], `pager "${name}"`, named, pagerKeys[entry.type]),
      };
    },
  );
  const schedules = Object.entries(section.schedules).map(([name, given]): ScheduleConfig => {
    if (given.type === 'rotation') return { ...given, name };
    const { key, key_env, key_file, ...entry } = given;
    const named = { key, key_env, key_file };
    return { ...entry, name, key: keyOf(['schedules', name], `schedule "${name}"`, named, headerKey) };
  });
  const levels = section.levels.map(({ after, ...calls }): EscalationLevel => ({ ...calls, afterMs: after }));
  const problems = [...keyProblems, ...levels.flatMap((_, at) => levelFaults(levels, at, pagers, schedules))];
  if (problems.length > 0)
    throw wrong(problems.map(({ path, message }) => `${placeOf(['escalation', ...path])}: ${message}`));
  return {
    pagers,
    schedules,
    levels,
    reasons: section.reasons,
    unacknowledgedMs: section.unacknowledged,
    approvalExpiryMs: section.approval_expiry,
    quietHours: section.quiet_hours,
  };
}

interface Problem {
  /** Within the section. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const pagerKeys: Readonly<Record<PagerConfig['type'], z.ZodType<string>>> = {
  pagerduty: integrationKey,
  opsgenie: headerKey,
  webhook: signingKey,
};

type NamedKey = { readonly [field in keyof typeof keyFields]?: string | undefined };

/** What is wrong tells the variable or the file, and never what it holds. */
function readKey(
  { key: before, key_env, key_file }: NamedKey,
  env: Env,
  form: z.ZodType<string>,
): { readonly key: string; readonly faults: readonly string[] } {
  if (before !== undefined && (key_env ?? key_file) !== undefined)
    return { key: '', faults: ['name its key once: by key_env or key_file'] };
  const read = readSecret(
    'key',
    { key_env: key_env ?? before, key_file },
    env,
    (secret) => form.safeParse(secret.trim()).error?.issues[0]?.message,
  );
  const missing = read.secret === null && read.problems.length === 0;
  return {
    key: read.secret?.trim() ?? '',
    faults: missing ? ['name its key by key_env, a variable, or key_file, a file'] : read.problems,
  };
}

function levelFaults(
  levels: readonly EscalationLevel[],
  at: number,
  pagers: readonly PagerConfig[],
  schedules: readonly ScheduleConfig[],
): readonly Problem[] {
  const level = levels[at];
  if (!level) return [];
  const before = levels[at - 1];
  const of = `level ${at + 1}`;
  const problem = (message: string, ...path: readonly PropertyKey[]): Problem => ({
    path: ['levels', at, ...path],
    message: `${of}: ${message}`,
  });
  return [
    ...(before && level.afterMs <= before.afterMs
      ? [
          problem(
            `after is counted from the beginning, so it must be longer than that of level ${at}`,
            'after',
          ),
        ]
      : []),
    ...level.mention.flatMap((one, n) =>
      one.kind === 'schedule' && !schedules.some(({ name }) => name === one.name)
        ? [problem(unknownName('schedule', one.name, schedules), 'mention', n)]
        : [],
    ),
    ...level.page.flatMap((name, n) => {
      const pager = pagers.find((one) => one.name === name);
      if (!pager) return [problem(unknownName('pager', name, pagers), 'page', n)];
      const twin = pagedEarlier(levels, at, n, pager, pagers);
      return twin === null ? [] : [problem(twin, 'page', n)];
    }),
  ];
}

function unknownName(
  what: 'pager' | 'schedule',
  name: string,
  known: readonly { readonly name: string }[],
): string {
  const meant = closestName(
    name,
    known.map((one) => one.name),
  );
  return `there is no ${what} called "${name.slice(0, 80)}"${meant === null ? '' : `; did you mean "${meant}"?`}`;
}

/** The receiver already has the incident's page: a second would be another incident there. */
function pagedEarlier(
  levels: readonly EscalationLevel[],
  at: number,
  place: number,
  pager: PagerConfig,
  pagers: readonly PagerConfig[],
): string | null {
  for (const [n, { page }] of levels.slice(0, at + 1).entries())
    for (const name of n === at ? page.slice(0, place) : page) {
      const other = pagers.find((one) => one.name === name);
      if (!other || receiverOf(other) !== receiverOf(pager)) continue;
      const same = other.name === pager.name ? '' : `, which is the same receiver as "${other.name}"`;
      return `it pages "${pager.name}"${same}, and level ${n + 1} has done so: an incident pages a receiver once`;
    }
  return null;
}

const receiverOf = (pager: PagerConfig): string =>
  `${pager.type} ${pager.type === 'webhook' ? pager.url : pager.key}`;
