import { Command, Option } from 'commander';
import type { Sql } from '../core/sql.ts';
import { documentSpace, syncDocuments } from '../memory/sync/sync-documents.ts';
import { countBehind, syncIncidents } from '../memory/sync/sync-incidents.ts';
import { syncRunbooks } from '../memory/sync/sync-runbooks.ts';
import { createRecords } from '../record/record.ts';
import { loadRunbooks } from '../runbooks/load-runbooks.ts';
import { bestPassage } from '../search/best-passage.ts';
import type { Retrieval } from '../search/retrieval.ts';
import { type SearchKind, type Space, searchKinds } from '../search/types.ts';
import { domainsOf } from '../targets/domains.ts';
import { kinds } from '../targets/kinds.ts';
import { type RankedHit, rankHits, rankLine } from './rank-hits.ts';
import { wholeNumber } from './whole-number.ts';
import { type CommandMemory, withMemory } from './with-memory.ts';

const domains = domainsOf(kinds);
/** A person at a terminal rather waits for the model to load than gets an answer without it. */
const MEANING_WITHIN_MS = 5_000;
/** A person at a terminal rather has an answer from what is indexed than waits for what is not. */
const INDEX_WITHIN_MS = 5_000;

interface Options {
  readonly domain?: string;
  readonly kind?: SearchKind;
  readonly limit: number;
  readonly explain: boolean;
  readonly json: boolean;
}

export const searchCommand = new Command('search')
  .description(
    'Search runbooks, past incidents and workspace documents, as the bot does before it investigates.',
  )
  .argument('<text>', "an alert's text, an error message, a question")
  .addOption(new Option('--domain <domain>', 'only of this domain').choices(domains))
  .addOption(new Option('--kind <kind>', 'only of this kind').choices(searchKinds))
  .option('--limit <n>', 'at most this many', wholeNumber(100), 10)
  .option(
    '--explain',
    'what words, title and meaning gave to each score, which words, and what trust and the rest make of it',
    false,
  )
  .option('--json', 'one JSON document on stdout', false)
  .action(async (text: string, options: Options) => {
    const { hits, meaning, behind } = await withMemory((memory) => find(memory, text, options));
    if (options.json) {
      process.stdout.write(`${JSON.stringify({ hits, meaning, behind })}\n`);
      return;
    }
    const note = NO_MEANING[meaning];
    const lines = hits.map((hit, i) => formatHit(hit, i + 1, options.explain)).join('');
    process.stdout.write(
      hits.length === 0
        ? 'Nothing was found.\n'
        : `${lines}${note === undefined ? '' : `Ranked by words alone: ${note}\n`}`,
    );
    if (behind > 0)
      process.stderr.write(
        `${behind} past ${behind === 1 ? 'incident is' : 'incidents are'} not indexed yet, so an answer may be missing. Sentry goes on indexing while it runs.\n`,
      );
  });

const NO_MEANING: Readonly<Record<string, string>> = {
  late: 'the vector database did not answer in time.',
  away: 'the vector database does not answer.',
};

async function find({ sql, config, retrieval }: CommandMemory, text: string, options: Options) {
  await bringUpToDate(sql, retrieval, config.runbooksDir);
  const spaces = await spacesOf(sql, options);
  const k = options.limit;
  const { hits, meaning } = await retrieval.search({
    text,
    spaces,
    // Documents carry their domain, they are not kept by it.
    k: options.domain === undefined ? k : 3 * k,
    meaningWithinMs: MEANING_WITHIN_MS,
  });
  const fitting = hits.filter(({ metadata }) => (metadata['domain'] ?? options.domain) === options.domain);
  const shown = (options.domain === undefined ? hits : fitting).slice(0, k);
  const behind = await countBehind(sql);
  return { behind, hits: options.explain ? await rankHits(sql, text, shown) : shown, meaning };
}

/** The bot may not have run since files or rows changed. */
async function bringUpToDate(sql: Sql, retrieval: Retrieval, runbooksDir: string): Promise<void> {
  const { runbooks } = await loadRunbooks(runbooksDir);
  for (const domain of domains) await syncRunbooks(retrieval, domain, runbooks);
  const late = AbortSignal.timeout(INDEX_WITHIN_MS);
  await syncDocuments(sql, retrieval, null, late);
  await syncIncidents(sql, retrieval, (id) => createRecords(sql).load(id), null, late);
}

/** An operator reads the workspace's documents here, not people's and threads' own. */
async function spacesOf(sql: Sql, { domain, kind }: Options): Promise<readonly Space[]> {
  const wanted = domain === undefined ? domains : [domain];
  const stores = await sql<{ slug: string }>`SELECT slug FROM memory_store WHERE scope = 'workspace'`;
  const all: readonly Space[] = [
    ...wanted.map((scope): Space => ({ kind: 'runbook', scope })),
    ...wanted.map((scope): Space => ({ kind: 'incident', scope })),
    ...stores.map(({ slug }) => documentSpace(slug, null)),
  ];
  return all.filter((space) => kind === undefined || space.kind === kind);
}

function formatHit(hit: RankedHit, place: number, explain: boolean): string {
  const { space, key, title, score, shares } = hit;
  const { heading } = bestPassage(hit);
  const head = `${String(place).padStart(2)}. ${score.toFixed(3)}  ${space.kind} ${space.scope}/${key}: ${title}${heading ? ` › ${heading}` : ''}\n`;
  if (!explain) return head;
  const parts = `text ${shares.body.toFixed(3)} + title ${shares.title.toFixed(3)} + meaning ${shares.meaning.toFixed(3)}`;
  const terms = shares.terms.slice(0, 8).map(({ term, share }) => `${term} ${share.toFixed(3)}`);
  return `${head}      ${parts}\n      ${terms.join(', ')}\n${rankLine(hit)}`;
}
