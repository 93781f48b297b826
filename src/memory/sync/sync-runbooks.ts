import type { Runbook } from '../../runbooks/runbook.ts';
import type { Retrieval } from '../../search/retrieval.ts';
import type { Entry, Space } from '../../search/types.ts';

/** Where an entry came from: a file, or an admin's approval. */
export type RunbookOrigin = 'file' | 'promoted';

/**
 * Makes the index say what the runbooks of one domain and origin say; those of the other are not touched. `incomplete`: some
 * are missing, and nothing is taken out.
 */
export async function syncRunbooks(
  retrieval: Pick<Retrieval, 'list' | 'upsert' | 'remove'>,
  domain: string,
  runbooks: readonly Runbook[],
  options: { readonly incomplete?: boolean; readonly origin?: RunbookOrigin } = {},
): Promise<void> {
  const { incomplete = false, origin = 'file' } = options;
  const space: Space = { kind: 'runbook', scope: domain };
  const own = runbooks.filter((runbook) => runbook.domains.includes(domain));
  const wanted = own.map((runbook) => runbookEntry(runbook, origin));
  const keys = new Set(wanted.map(({ key }) => key));
  const there = await retrieval.list(space);
  const gone = there.filter(({ key, metadata }) => metadata['origin'] === origin && !keys.has(key));
  await retrieval.upsert(space, wanted);
  if (incomplete) return;
  await retrieval.remove(
    space,
    gone.map(({ key }) => key),
  );
}

/** The alerts and words a runbook is known by are headings: they say what it is about as no sentence does. */
export function runbookEntry(
  { id, title, type, matches, body, file }: Runbook,
  origin: RunbookOrigin = 'file',
): Entry {
  const known = [...matches.alerts.map((name) => name.replaceAll('*', ' ').trim()), ...matches.text];
  const aliases = [type.replaceAll('_', ' '), ...known].map((name) => `## ${name.replaceAll('\n', ' ')}`);
  // By its file a promoted one is the document that it comes from.
  const metadata = origin === 'promoted' ? { origin, file } : { origin };
  return { key: id, title, text: `${body}\n\n${aliases.join('\n')}`, metadata };
}
