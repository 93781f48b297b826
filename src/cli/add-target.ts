import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { isSeq, parse, parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import { examineTarget, type Finding } from '../app/doctor.ts';
import { targetsFile } from '../config/config.ts';
import { parseConfigFile } from '../config/config-file.ts';
import { entriesOf, everyTarget, type TargetsFile } from '../config/targets.ts';
import { canonicalJson } from '../core/canonical-json.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Json } from '../core/tool-call.ts';
import type { TargetKind } from '../targets/kind.ts';
import { kinds } from '../targets/kinds.ts';
import { kindOf } from '../targets/systems.ts';

interface Given {
  readonly kind?: string;
  readonly set: readonly string[];
  readonly untried: boolean;
}

/** A question on the terminal and its answer. Throws OpsError STOPPED when nobody answers any more. */
type Ask = (question: string) => Promise<string>;
type Entry = Readonly<Record<string, unknown>>;

export const addTargetCommand = new Command('add')
  .description(
    'Add a target to sentry.yaml: asks what it needs, tries the connection, writes it. With a name and --kind it asks nothing.',
  )
  .argument('[name]', 'how people, runbooks and models call it')
  .addOption(new Option('--kind <kind>', 'what it is').choices(kinds.map(({ name }) => name)))
  .option('--set <field=value>', 'a field of it, its value as in YAML; can be repeated', collect, [])
  .option('--untried', 'write it although it cannot be reached', false)
  .action(async (name: string | undefined, given: Given) => {
    const say = (text: string) => void process.stdout.write(text);
    const isWhole = name !== undefined && given.kind !== undefined;
    const asked = isWhole ? null : askOnTerminal();
    try {
      await addTarget(targetsFile(), { name, ...given }, asked?.ask ?? null, say);
    } finally {
      asked?.end();
    }
  });

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Writes one entry more. Throws before anything is written; what is written is whole. `ask` null: all is given. */
async function addTarget(
  file: TargetsFile,
  given: Given & { readonly name: string | undefined },
  ask: Ask | null,
  say: (text: string) => void,
): Promise<void> {
  const before = existsSync(file.path) ? readFileSync(file.path, 'utf8') : '';
  const others = entriesOf(parseConfigFile(before, file.path), file.env);
  const entry = ask
    ? await askForEntry(given, ask, say)
    : { name: given.name, kind: given.kind, ...fieldsGiven(given.set) };
  const text = withEntry(before, entry);
  const added = entriesOf(parseConfigFile(text, file.path), file.env).at(-1);
  if (!added) throw new Error('the entry is not in the file');
  const found = added.target
    ? await examineTarget(added.target)
    : { ok: false, says: added.problems.join('; '), todo: 'Set it where Sentry is started.' };
  say(`${found.ok ? '✓' : '✗'} ${added.name}: ${found.says}\n`);
  if (!found.ok && !given.untried && !(await wantsItAnyway(found, ask))) throw notWell(found);
  replaceFile(file.path, before, text);
  say(
    `${added.name} is in ${file.path}. ${
      others.length > 0
        ? 'A Sentry that runs takes it in by itself.'
        : 'Start Sentry again: it replaces the playground’s systems.'
    }\n`,
  );
}

const wantsItAnyway = async ({ todo }: Pick<Finding, 'todo'>, ask: Ask | null): Promise<boolean> =>
  ask !== null && /^y(es)?$/i.test((await ask(`${todo ?? ''}\nWrite it all the same? [y/N] `)).trim());

const notWell = ({ todo }: Pick<Finding, 'todo'>): OpsError =>
  new OpsError('NOT_WELL', 'It is not well, and nothing was written.', {
    hint: `${todo ?? ''} With --untried it is written all the same.`.trim(),
  });

/** `field=value`, as YAML; a value that is none is a text. */
function fieldsGiven(set: readonly string[]): Entry {
  return Object.fromEntries(
    set.map((each) => {
      const at = each.indexOf('=');
      if (at < 1)
        throw new OpsError('USAGE', `--set takes field=value, not ${JSON.stringify(each)}.`, {
          hint: 'For example --set "aliases=[db1.internal]".',
        });
      return [each.slice(0, at), asYaml(each.slice(at + 1))];
    }),
  );
}

async function askForEntry(
  given: Given & { readonly name: string | undefined },
  ask: Ask,
  say: (text: string) => void,
): Promise<Entry> {
  const names = kinds.map(({ name }) => name);
  const kind = given.kind ?? (await askFor(z.enum(names), `kind (${names.join(', ')})`, ask, say));
  const known: TargetKind = kindOf(kinds, { name: given.name ?? 'it', kind: String(kind) });
  const set = fieldsGiven(given.set);
  const entry: Record<string, unknown> = {};
  const { name: nameField, ...others } = everyTarget;
  const fields = { name: nameField, kind: null, ...others, ...known.fields };
  for (const [field, schema] of Object.entries(fields)) {
    const value =
      schema === null
        ? kind
        : (set[field] ??
          (field === 'name' ? given.name : undefined) ??
          (await askFor(schema as z.ZodType, field, ask, say)));
    if (value !== undefined) entry[field] = value;
  }
  return entry;
}

/** Asks until the answer fits; undefined: it is left out, which fits as well. */
async function askFor(
  schema: z.ZodType,
  field: string,
  ask: Ask,
  say: (text: string) => void,
): Promise<unknown> {
  const { description, example } = metaOf(schema);
  const usual = schema.safeParse(undefined);
  const hints = [
    ...(example ? [`like ${example}`] : []),
    ...(usual.success ? [`Enter: ${usual.data === undefined ? 'none' : stringifyInline(usual.data)}`] : []),
  ].join('; ');
  for (;;) {
    const answer = (
      await ask(`${field}${description ? `: ${description}` : ''}${hints ? ` (${hints})` : ''}\n> `)
    ).trim();
    if (answer === '' && usual.success) return undefined;
    // A text that YAML reads as something else, like 2026, may be meant as it stands.
    const fits = [asYaml(answer), answer].find((value) => schema.safeParse(value).success);
    if (answer !== '' && fits !== undefined) return fits;
    const issues = schema.safeParse(answer === '' ? undefined : asYaml(answer)).error?.issues ?? [];
    say(`  ${issues.map(({ path, message }) => [...path, message].join(': ')).join('; ')}\n`);
  }
}

/** What a field tells of itself. */
export function metaOf(schema: unknown): {
  readonly description?: string | undefined;
  readonly example?: string | undefined;
  readonly without?: string | undefined;
} {
  return (schema as z.ZodType).meta() ?? {};
}

function asYaml(text: string): unknown {
  try {
    return parse(text) ?? text;
  } catch {
    return text;
  }
}

const stringifyInline = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

/** The file as it was, to the byte, with the entry at the end of its list; made anew where its list cannot be continued so. */
function withEntry(before: string, entry: Entry): string {
  const document = parseDocument(before);
  const list = document.get('targets', true);
  const wanted = canonicalJson({ targets: [...(document.toJS()?.targets ?? []), entry] } as Json);
  if (isSeq(list) && list.range && !list.flow) {
    const indent = list.range[0] - (before.lastIndexOf('\n', list.range[0] - 1) + 1);
    const added = stringify([entry], { lineWidth: 0 }).replace(/^(?=.)/gm, ' '.repeat(indent));
    const text = `${before.trimEnd()}\n${added}`;
    if (says(text, wanted)) return text;
  }
  if (isSeq(list)) list.add(document.createNode(entry));
  else document.set('targets', document.createNode([entry]));
  return document.toString({ lineWidth: 0 });
}

function says(text: string, wanted: string): boolean {
  const document = parseDocument(text);
  return document.errors.length === 0 && canonicalJson(document.toJS() as Json) === wanted;
}

/** Whole or not at all, and never over what somebody else wrote meanwhile. */
function replaceFile(path: string, before: string, text: string): void {
  const place = existsSync(path) ? realpathSync(path) : path;
  const draft = `${place}.${randomUUID()}`;
  try {
    const mode = existsSync(place) ? statSync(place).mode & 0o777 : 0o644;
    writeFileSync(draft, text, { mode, flush: true });
    if ((existsSync(place) ? readFileSync(place, 'utf8') : '') !== before)
      throw new Error('somebody changed it meanwhile');
    renameSync(draft, place);
  } catch (error) {
    throw new OpsError('NOT_WRITTEN', `${path} was not written: ${messageOf(error)}`, {
      hint: 'Look at the file and its folder, and try again.',
      cause: error,
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Answers line by line, from a terminal or a pipe. Ctrl-C and the end of the input end the questions. */
function askOnTerminal(): { readonly ask: Ask; readonly end: () => void } {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  terminal.on('SIGINT', () => terminal.close());
  const lines = terminal[Symbol.asyncIterator]();
  return {
    end: () => terminal.close(),
    async ask(question) {
      terminal.setPrompt('');
      process.stdout.write(question);
      const { done, value } = await lines.next();
      if (!done) return value;
      process.stdout.write('\n');
      throw new OpsError('STOPPED', 'Nothing was written.', {
        hint: 'With a name, --kind and --set it asks nothing: sentry targets add --help.',
      });
    },
  };
}
