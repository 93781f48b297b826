import type { Runbook } from '../../runbooks/runbook.ts';
import type { Retrieval } from '../retrieval.ts';
import type { Entry, Space } from '../types.ts';

/** What came from a file; what else is in the space is not touched. */
const FILE = 'file';

/** Makes the index say what the files of one domain say. `incomplete`: some are missing, and nothing is taken out. */
export async function syncRunbooks(
  retrieval: Pick<Retrieval, 'list' | 'put' | 'remove'>,
  domain: string,
  runbooks: readonly Runbook[],
  { incomplete = false }: { readonly incomplete?: boolean } = {},
): Promise<void> {
  const space: Space = { kind: 'runbook', scope: domain };
  const wanted = runbooks.filter((runbook) => runbook.domain === domain).map(runbookEntry);
  const keys = new Set(wanted.map(({ key }) => key));
  const there = await retrieval.list(space);
  const gone = there.filter(({ key, metadata }) => metadata['origin'] === FILE && !keys.has(key));
  await retrieval.put(space, wanted);
  if (incomplete) return;
  await retrieval.remove(
    space,
    gone.map(({ key }) => key),
  );
}

/** The alerts and words a runbook is known by are headings: they say what it is about as no sentence does. */
export function runbookEntry({ id, title, type, matches, body }: Runbook): Entry {
  const known = [...matches.alerts.map((name) => name.replaceAll('*', ' ').trim()), ...matches.text];
  const aliases = [type.replaceAll('_', ' '), ...known].map((name) => `## ${name.replaceAll('\n', ' ')}`);
  return { key: id, title, text: `${body}\n\n${aliases.join('\n')}`, metadata: { origin: FILE } };
}
