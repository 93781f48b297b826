import { Command } from 'commander';
import { examineTarget } from '../app/doctor.ts';
import { targetsFile } from '../config/config.ts';
import { readConfigFile } from '../config/config-file.ts';
import { entriesOf, everyTarget, type ReadEntry } from '../config/targets.ts';
import { canonicalJson } from '../core/canonical-json.ts';
import type { Json } from '../core/tool-call.ts';
import { addTargetCommand, metaOf } from './add-target.ts';
import { exitCodes } from './fail.ts';

interface Listed {
  readonly name: string;
  readonly kind: string;
  readonly environment: string;
  /** What may be read and done there, as its kind puts it. */
  readonly may: { readonly [key: string]: Json };
  readonly ok: boolean;
  readonly says: string;
  /** What to do about it; null when it is well. */
  readonly todo: string | null;
  readonly missing: readonly Missing[];
}

/** What its entry leaves out, and the line that would add it. */
interface Missing {
  readonly without: string;
  readonly line: string;
}

export const targetsCommand = new Command('targets')
  .description(
    'List the targets of sentry.yaml: how each is, what may be done to it, what is missing; exit code 1 when one is not well.',
  )
  .option('--json', 'the list as JSON', false)
  .action(async ({ json }: { readonly json: boolean }) => {
    const file = targetsFile();
    const listed = await Promise.all(entriesOf(readConfigFile(file), file.env).map(examineEntry));
    process.stdout.write(json ? `${JSON.stringify(listed, null, 2)}\n` : formatTargets(listed, file.path));
    if (listed.some(({ ok }) => !ok)) process.exitCode = exitCodes.failed;
  })
  .addCommand(addTargetCommand);

async function examineEntry(entry: ReadEntry): Promise<Listed> {
  const { name, kind, fields, target, problems } = entry;
  const { ok, says, todo } =
    target === null
      ? {
          ok: false,
          says: problems.join('; '),
          todo: 'Correct the entry, or set what it names and start Sentry again.',
        }
      : await examineTarget(target);
  return {
    name,
    kind: kind.name,
    environment: String(fields['environment']),
    may: target === null ? {} : kind.settings(target),
    ok,
    says,
    todo,
    missing: missingOf(entry),
  };
}

/** Fields that are as if they had been left out, where their kind says what is missing without them. */
function missingOf({ name, kind, fields }: ReadEntry): readonly Missing[] {
  return Object.entries({ ...everyTarget, ...kind.fields }).flatMap(([field, schema]) => {
    const { without, example = '…' } = metaOf(schema);
    const usual = schema.safeParse(undefined);
    const inFile = fields[field.replace(/_env$/, '_file')];
    const isUsual =
      usual.success &&
      shown(usual.data) === shown(fields[field]) &&
      (inFile ?? null) === (fields[field] ?? null);
    // Two targets that copy one example would share a variable.
    const own = field.endsWith('_env') ? example.replace(/^[A-Z]+/, variableOf(name)) : example;
    return without && isUsual ? [{ without, line: `${field}: ${own}` }] : [];
  });
}

const variableOf = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');

const shown = (value: unknown): string => canonicalJson((value ?? null) as Json);

function formatTargets(listed: readonly Listed[], path: string): string {
  if (listed.length === 0)
    return `${path} names no target: the playground's are the systems under care. sentry targets add writes one.\n`;
  const width = Math.max(...listed.map(({ name }) => name.length));
  return listed
    .map(({ name, kind, environment, may, ok, says, todo, missing }) =>
      [
        `${ok ? '✓' : '✗'} ${name.padEnd(width)}  ${kind}  ${environment}  ${formatMay(may)}`.trimEnd(),
        `  ${says}`,
        ...(todo ? [`  → ${todo}`] : []),
        ...missing.map(({ without, line }) => `  ${without}; to change that: ${line}`),
      ].join('\n'),
    )
    .join('\n')
    .concat('\n');
}

/** `acts: no, only: {"a":"b"}`; what is empty is left out. */
function formatMay(may: Listed['may']): string {
  return Object.entries(may)
    .filter(([, value]) => !['[]', '{}', 'null'].includes(JSON.stringify(value)))
    .map(([name, value]) => `${name}: ${formatValue(value)}`)
    .join(', ');
}

function formatValue(value: Json): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(' ') : JSON.stringify(value);
}
