import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { conversationStore, runbooksStore } from '../../../../src/memory/documents/document.ts';
import { startTogether } from '../../../support/start-together.ts';
import type { Row } from '../../../support/typed.ts';
import { type DocumentsRig, documentsRig, note } from '../documents/rig.ts';

let rig: DocumentsRig;
beforeAll(async () => {
  rig = await documentsRig();
});
afterAll(() => rig.close());

const DRAFTS = 16;
const EDITS = 15;

async function bot(name: string): Promise<readonly string[]> {
  const args = [
    '--import',
    'tsx',
    join(import.meta.dirname, 'memory-process.ts'),
    rig.url,
    name,
    String(EDITS),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise((done) => child.on('exit', done));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({ code: await code, err }).toMatchObject({ code: 0 });
  return JSON.parse(out) as string[];
}

test('two processes deciding, editing and indexing at once: no job decided twice, no version lost, one entry a document', async () => {
  const id = await rig.incident();
  const reader = { kind: 'agent', incidentId: id, userId: null } as const;
  const jobs: string[] = [];
  for (let n = 0; n < DRAFTS; n += 1) {
    const path = `drafts/${n}`;
    const place = { store: conversationStore, incidentId: id };
    const document = note({ path, content: `Draft ${n} about the kite.` });
    await rig.documents.write(
      { kind: 'agent', role: 'detective', incidentId: id },
      { place, document, sources: [] },
    );
    const job = await rig.promotions.propose(reader, {
      ref: { ...place, path },
      rationale: 'Helps.',
      domain: 'postgres',
      by: 'detective',
    });
    if (!job.ok) throw new Error(job.reason);
    jobs.push(job.jobId);
  }
  const place = { store: runbooksStore, incidentId: null };
  const shared = note({ path: 'shared', content: 'start' });
  await rig.documents.write({ kind: 'admin', userId: 'UADMIN' }, { place, document: shared, sources: [] });

  const [one = [], two = []] = await startTogether(rig.url, 2, () => Promise.all(['UONE', 'UTWO'].map(bot)));
  expect([...one, ...two].toSorted()).toEqual(jobs.toSorted());
  // Both were at it, or the test shows nothing.
  expect(Math.min(one.length, two.length)).toBeGreaterThan(0);
  const decided = await rig.sql<Row>`
    SELECT state, count(*)::int AS jobs, count(v.number)::int AS versions FROM dream_job j
      JOIN dream_review_item i ON i.job_id = j.id
      LEFT JOIN memory_version v ON v.document_id = i.result_id AND v.number = i.result_version
     GROUP BY state ORDER BY state`;
  for (const { state, jobs: n, versions } of decided) expect(versions).toBe(state === 'approved' ? n : 0);
  const promoted = await rig.documents.list(
    { kind: 'operator' },
    { store: runbooksStore, prefix: 'drafts/' },
  );
  expect(promoted.every(({ version, trust }) => version === 1 && trust === 'admin_approved')).toBe(true);
  expect(promoted).toHaveLength(Number(decided.find(({ state }) => state === 'approved')?.['jobs']));

  const after = await rig.documents.read({ kind: 'operator' }, { ...place, path: 'shared' });
  expect(after?.version).toBe(1 + 2 * EDITS);
  const words = (after?.content ?? '').split(' ').slice(1);
  for (const name of ['UONE', 'UTWO'])
    expect(words.filter((word) => word.startsWith(name))).toEqual(
      Array.from({ length: EDITS }, (_, n) => `${name}${n}`),
    );

  const stale = await rig.sql`
    SELECT d.path FROM memory_document d LEFT JOIN search_entry e ON e.key = d.id
     GROUP BY d.id HAVING count(*) <> 1 OR min((e.metadata->>'version')::int) <> d.version OR count(e.key) = 0`;
  expect(stale).toEqual([]);
}, 120_000);
