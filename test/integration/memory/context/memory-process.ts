// `tsx memory-process.ts <database url> <name> <edits>`: one of two bots on one database, as fast as it can. Decides every
// pending proposal, edits the one shared workspace document, keeps the search index. Prints the jobs that it decided.
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { runbooksStore } from '../../../../src/memory/documents/document.ts';
import { asWrite, createDocuments } from '../../../../src/memory/documents/documents.ts';
import { createPromotions } from '../../../../src/memory/promotion/promotions.ts';
import { syncDocuments } from '../../../../src/memory/sync/sync-documents.ts';
import { createRecords } from '../../../../src/record/record.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { createRetrieval } from '../../../../src/search/retrieval.ts';
import { quiet } from '../../../support/quiet.ts';
import { startingTogether } from '../../../support/start-together.ts';
import { domains } from '../../../support/targets.ts';

const [url = '', name = '', edits = '0'] = process.argv.slice(2);
const { sql, close } = openDatabase(url, { max: 4 });
const deps = { sql, events: createRecords(sql), audit: createAuditLog(sql), enabled: true, domains };
const documents = createDocuments(deps);
const promotions = createPromotions({
  ...deps,
  documents,
  isAdmin: async () => true,
  runbooks: { tools: { get: () => undefined }, domains, sources: [] },
  dryRun: null,
});
const embedder = { fingerprint: 'none', embed: async () => [], close: async () => undefined };
const retrieval = createRetrieval({
  sql,
  vectors: { collection: () => null as never },
  embedder,
  log: quiet,
});

await startingTogether(sql);
const decided: string[] = [];
async function decideAll(): Promise<void> {
  // In an order of its own: in the same one, whoever is first is first every time.
  const pending = (await promotions.list({ pending: true })).map((job) => ({ ...job, at: Math.random() }));
  for (const { jobId } of pending.toSorted((a, b) => a.at - b.at)) {
    const reject = Math.random() < 0.4;
    const answer = await promotions.decide({
      jobId,
      by: name,
      decision: reject ? { kind: 'reject', reason: 'No.' } : { kind: 'approve' },
    });
    if (answer.ok) decided.push(jobId);
    else if (answer.code !== 'MEMORY_DECIDED') throw new Error(answer.reason);
  }
}

async function editShared(): Promise<void> {
  for (let n = 0; n < Number(edits); ) {
    const ref = { store: runbooksStore, incidentId: null, path: 'shared' };
    const now = await documents.read({ kind: 'operator' }, ref);
    if (!now) throw new Error('there is no document');
    const write = asWrite(now);
    const content = `${now.content} ${name}${n}`;
    const answer = await documents.write(
      { kind: 'admin', userId: name },
      { ...write, document: { ...write.document, content } },
    );
    if (answer.ok) n += 1;
    else if (answer.code !== 'MEMORY_STALE') throw new Error(answer.reason);
  }
}

let done = false;
async function keepIndex(): Promise<void> {
  do await syncDocuments(sql, retrieval);
  while (!done);
}

const keeping = keepIndex();
await Promise.all([decideAll(), editShared()]);
done = true;
await keeping;
// What was decided while the last round was under way.
await syncDocuments(sql, retrieval);
await close();
process.stdout.write(JSON.stringify(decided));
