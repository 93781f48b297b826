import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createChromaStore } from '../../../../src/infra/chroma/client.ts';
import { seedDomain } from '../../../../src/memory/sync/seed-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import type { VectorStore } from '../../../../src/search/ports.ts';
import { scratchChroma } from '../../../support/chroma.ts';
import { quiet } from '../../../support/quiet.ts';

const embedded: string[] = [];
const embedder = {
  fingerprint: 'test',
  embed: async (texts: readonly string[]) => {
    embedded.push(...texts);
    return texts.map((text) => [text.length, 1, 2]);
  },
  close: async () => undefined,
};
let host: string;
let vectors: VectorStore;
beforeAll(async () => {
  ({ host } = await scratchChroma());
});
beforeEach(() => {
  const store = createChromaStore({ host, log: quiet });
  const run = randomUUID().slice(0, 8);
  vectors = { collection: (name, fingerprint) => store.collection(`${run}-${name}`, fingerprint) };
  embedded.length = 0;
});

const runbook = (id: string, body: string, domain = 'postgres'): Runbook => ({
  id,
  title: `Title of ${id}`,
  domains: [domain],
  version: 1,
  type: 'locks',
  matches: { alerts: [], text: [], labels: {} },
  ignoreWhenHealthy: false,
  steps: [],
  verify: {},
  body,
  file: `${id}.md`,
});
const seed = (runbooks: readonly Runbook[], incomplete = false) =>
  seedDomain({ vectors, embedder }, 'postgres', runbooks, { incomplete });
const there = async () =>
  (await vectors.collection('runbooks-postgres', 'test').list(5_000)).map(({ id }) => id).toSorted();

const one = runbook('one', '## Look\n\nFirst.\n\n### Deeper\n\nSecond.\n\n## Mend\n\nThird.');
const two = runbook('two', '## Look\n\nElse.');

test('each section is a chunk under its titles; seeding again embeds nothing', async () => {
  expect(await seed([one, two, runbook('other', 'x', 'docker')])).toEqual({
    added: 6,
    changed: 0,
    removed: 0,
    unchanged: 0,
  });
  expect(embedded).toContain('Title of one › Look › Deeper\nSecond.');
  embedded.length = 0;
  expect(await seed([one, two])).toEqual({ added: 0, changed: 0, removed: 0, unchanged: 6 });
  expect(embedded).toEqual([]);
});

test('what changed is embedded again, what left is removed, and what was promoted stays', async () => {
  await seed([one, two]);
  const promoted = {
    id: 'doc_1#0',
    document: 'promoted',
    metadata: { source: 'promoted' },
    embedding: [1, 1, 2],
  };
  await vectors.collection('runbooks-postgres', 'test').upsert([promoted], 5_000);
  embedded.length = 0;
  const changed = { ...one, body: one.body.replace('Third', 'Fourth') };
  expect(await seed([changed])).toEqual({ added: 0, changed: 1, removed: 2, unchanged: 3 });
  expect(embedded).toEqual(['Title of one › Mend\nFourth.']);
  expect(await there()).toEqual(['doc_1#0', 'one#0', 'one#1', 'one#2', 'one#3']);
});

test('nothing is removed while files are missing from what is given', async () => {
  await seed([one, two]);
  expect(await seed([two], true)).toMatchObject({ removed: 0, unchanged: 2 });
  expect(await there()).toHaveLength(6);
});
