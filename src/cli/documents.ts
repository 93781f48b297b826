import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { OpsError, type Refusal } from '../core/errors.ts';
import type { MemoryDocument, MemoryVersion } from '../memory/documents/document.ts';
import type { WriteResult } from '../memory/documents/write-document.ts';
import { systemLine } from '../memory/systems/system-facts.ts';
import { printList } from './print-list.ts';
import { notAdminHint, withWorkspace } from './with-workspace.ts';

const AS = [
  '--as <user>',
  'the Slack user id of the admin who does it; one of the admins of /sentry settings or SENTRY_ADMINS',
] as const;

interface Named {
  readonly as: string;
}

const list = new Command('list')
  .description('List what everybody’s memory says, by path, without what is retired.')
  .option('--store <store>', 'only of this store: workspace_conventions or workspace_runbooks')
  .option('--prefix <path>', 'only paths that begin with it')
  .option('--json', 'one JSON line a document', false)
  .action(async (options: { readonly store?: string; readonly prefix?: string; readonly json: boolean }) => {
    const { json, ...where } = options;
    const found = await withWorkspace(({ workspace }) => workspace.list(where));
    printList(found, json, line, 'No documents.\n');
  });

const show = new Command('show')
  .description('Show a workspace document with its history.')
  .argument('<id>', 'its id, doc_…')
  .option('--json', 'as one JSON document', false)
  .action(async (id: string, { json }: { readonly json: boolean }) => {
    const [document, versions] = await withWorkspace(({ workspace }) =>
      Promise.all([workspace.read(id), workspace.history(id)]),
    );
    if (!document) throw notFound(id);
    process.stdout.write(
      json
        ? `${JSON.stringify({ document, versions }, null, 2)}\n`
        : `${formatDocument(document, versions)}\n`,
    );
  });

const edit = new Command('edit')
  .description('Replace the text of a workspace document, as a new version.')
  .argument('<id>', 'its id, doc_…')
  .argument('<file>', 'the whole new text, in Markdown')
  .requiredOption(...AS)
  .requiredOption('--base <sha256>', 'of the text you have seen, as “show” says it')
  .action((id: string, file: string, { as, base }: Named & { readonly base: string }) => {
    const content = readFileSync(file, 'utf8');
    return tell(id, ({ workspace }) => workspace.edit({ by: as, documentId: id, content, base }));
  });

const rollback = new Command('rollback')
  .description('Say again what an older version said, as a new version; brings a retired document back.')
  .argument('<id>', 'its id, doc_…')
  .argument('<version>', 'its number, as “show” says it')
  .requiredOption(...AS)
  .action((id: string, version: string, { as }: Named) =>
    tell(id, ({ workspace }) => workspace.rollBack(as, id, Number(version))),
  );

const retire = new Command('retire')
  .description('Have a workspace document found by nobody any more; its history stays.')
  .argument('<id>', 'its id, doc_…')
  .requiredOption(...AS)
  .action(async (id: string, { as }: Named) => {
    const done = await withWorkspace(({ workspace }) => workspace.retire(as, id));
    if (!done.ok) throw refused(id, done);
    process.stdout.write(`Retired: ${id}. It leaves Chroma when the bot next reaches it.\n`);
  });

async function tell(
  id: string,
  change: (memory: Parameters<Parameters<typeof withWorkspace>[0]>[0]) => Promise<WriteResult>,
) {
  const written = await withWorkspace(change);
  if (!written.ok) throw refused(id, written);
  const { store, path, version, sha256 } = written.document;
  process.stdout.write(
    written.kind === 'unchanged'
      ? `${store}/${path} says so already, in version ${version}.\n`
      : `${store}/${path}, version ${version}, sha256 ${sha256}. It reaches Chroma when the bot next does.\n`,
  );
  if (written.warning !== undefined) process.stderr.write(`${written.warning}\n`);
}

const hints: Readonly<Record<string, string>> = {
  NOT_ADMIN: notAdminHint,
  MEMORY_DRY_RUN: 'Steps can only be tried where Sentry runs: edit it in Slack or over the admin API.',
};

function refused(id: string, { code, reason }: Refusal): OpsError {
  if (code === 'MEMORY_NOT_FOUND') return notFound(id, reason);
  return new OpsError(code, reason, {
    hint: hints[code] ?? `Nothing was changed. "sentry documents show ${id}" shows what stands there.`,
  });
}

function notFound(id: string, reason = `There is no workspace document "${id}".`): OpsError {
  return new OpsError('NOT_FOUND', reason, { hint: 'sentry documents list shows those that there are.' });
}

function line({ id, store, path, version, docType, trust, updatedAt, title }: MemoryDocument): string {
  return [
    id,
    updatedAt.slice(0, 16).replace('T', ' '),
    `v${version}`,
    docType,
    trust,
    `${store}/${path}`,
    title,
  ].join('  ');
}

function formatDocument(document: MemoryDocument, versions: readonly MemoryVersion[]): string {
  const { store, path, title, docType, trust, domain, sha256, system, retiredAt, content } = document;
  return [
    `${store}/${path}: ${title} (${docType}, ${trust}${domain ? `, for ${domain}` : ''})${retiredAt ? `, retired at ${retiredAt}` : ''}`,
    `sha256 ${sha256}`,
    ...(system ? [`Learnt on: ${systemLine(system)}`] : []),
    '',
    content.trimEnd(),
    '',
    'History:',
    ...versions.map(
      ({ number, at, author, sources }) =>
        `${String(number).padStart(3)}  ${at}  by ${author}  ${sources.map(({ kind, ref }) => `${kind} ${ref}`).join(', ')}`,
    ),
  ].join('\n');
}

export const documentsCommand = new Command('documents')
  .description('Look after what everybody’s memory says.')
  .addCommand(list, { isDefault: true })
  .addCommand(show)
  .addCommand(edit)
  .addCommand(rollback)
  .addCommand(retire);
