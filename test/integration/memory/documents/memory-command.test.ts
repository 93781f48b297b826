import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createWorkspaceSettings } from '../../../../src/actions/policy/workspace-settings.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { conversationStore, runbooksStore, userStore } from '../../../../src/memory/documents/document.ts';
import { createOutbox } from '../../../../src/memory/outbox.ts';
import { syncDocuments } from '../../../../src/memory/sync/sync-documents.ts';
import { syncIncidents } from '../../../../src/memory/sync/sync-incidents.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { openVaultKey } from '../../../../src/safety/vault/vault-key.ts';
import { createRetrieval, type Retrieval } from '../../../../src/search/retrieval.ts';
import { sentry as runSentry } from '../../../support/product.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import type { Row } from '../../../support/typed.ts';
import { type DocumentsRig, documentsRig, note, wholeDatabase } from './rig.ts';

// Each command is a process of its own that opens the database anew.
vi.setConfig({ testTimeout: 180_000 });

let rig: DocumentsRig;
beforeAll(async () => {
  rig = await documentsRig();
});
afterAll(() => rig.close());

async function sentry(
  args: readonly string[],
  options: { url?: string; input?: string; env?: Readonly<Record<string, string>> } = {},
) {
  const env = { DATABASE_URL: options.url ?? rig.url, SENTRY_ADMINS: 'UADMIN', ...options.env };
  const { code, stdout, stderr } = await runSentry({ dataDir: scratchDir(), env }, args, options.input);
  return { code, out: stdout, err: stderr };
}

/** An ended incident with its word in everything that keeps text. */
async function worded(word: string): Promise<IncidentId> {
  const id = await rig.incident(['UANN']);
  await rig.sql`
    UPDATE incident SET state = 'resolved', title = ${word}, cause = ${word}, next_step = ${word},
      labels = ${rig.sql.json({ a: word })}, told = ${rig.sql.json({ text: word })} WHERE id = ${id}`;
  await rig.sql`
    INSERT INTO tool_call (id, incident_id, role, tool, state, input, output, output_sha256, truncated, started_at, finished_at)
    VALUES (${`tc_${word}`.toLowerCase().slice(0, 15)}, ${id}, 'detective', 't', 'ok', ${rig.sql.json({ a: word })}, ${word}, '', false, now(), now())`;
  await rig.sql`
    INSERT INTO episode (incident_id, error, diagnosis, command, result, success)
    VALUES (${id}, ${word}, ${word}, ${word}, ${word}, true)`;
  await rig.sql`
    INSERT INTO alert (incident_id, source, status, title, labels, annotations, fingerprint, delivery_key, url, starts_at)
    VALUES (${id}, 't', 'firing', ${word}, ${rig.sql.json({ a: word })}, ${rig.sql.json({ a: word })}, ${id}, ${id}, ${word}, now())`;
  await rig.sql`
    INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard, system_identifier,
                        timeline_id, why, blast_radius, preflight, undo, risk, verify, audit_only, expires_at,
                        decided_by, decision_reason)
    VALUES (${`act_${id}`}, ${id}, 1, 'succeeded', 't', 'shop-db', ${rig.sql.json({ a: word })}, ${word}, '',
            ${rig.sql.json({ a: word })}, '1', 1, ${word}, ${word}, ARRAY[${word}], ${word}, 'low',
            ${rig.sql.json({ a: word })}, false, now(), 'UANN', ${word})`;
  await rig.sql`
    INSERT INTO criterion_reading (incident_id, action_id, phase, state, lines, readings)
    VALUES (${id}, ${`act_${id}`}, 'watch', 'red', ARRAY[${word}], '[3]')`;
  await rig.sql`
    INSERT INTO denial (id, incident_id, action_id, scope, keys, kind, label, said_by, reason)
    VALUES (${`den_${id}`}, ${id}, ${`act_${id}`}, 'object', ARRAY['1/session/1'], 'session', ${word}, 'UANN', ${word})`;
  await rig.sql`
    INSERT INTO escalation_page (incident_id, level, pager, dedup_key, summary, reason, want, failure)
    VALUES (${id}, 1, 'pd', ${id}, ${word}, 'unsolved', 'resolve', ${word})`;
  await rig.sql`
    INSERT INTO turn_failure (incident_id, state, round, investigator, reason)
    VALUES (${id}, 'diagnosing', 1, 'playbook', ${word})`;
  await rig.sql`
    INSERT INTO question (id, incident_id, asked_by, text, channel, ts, thread_ts, direct, answer)
    VALUES (${`C1:${id}`}, ${id}, 'UANN', ${word}, 'C1', '1', '1', false, ${word})`;
  await rig.sql.begin((tx) => rig.events.append(tx, id, { type: 'hint.given', by: 'UANN', text: word }));
  await rig.sql`INSERT INTO memory_outbox (collection, id, document, metadata) VALUES ('incidents-postgres', ${id}, ${word}, '{}')`;
  await rig.documents.write(
    { kind: 'agent', role: 'detective', incidentId: id },
    {
      place: { store: conversationStore, incidentId: id },
      document: note({ path: `drafts/${id.toLowerCase()}`, title: word, content: word, docType: 'runbook' }),
      sources: [],
    },
  );
  const proposed = await rig.promotions.propose(
    { kind: 'agent', incidentId: id, userId: null },
    {
      ref: { store: conversationStore, incidentId: id, path: `drafts/${id.toLowerCase()}` },
      rationale: word,
      domain: 'postgres',
      by: 'detective',
    },
  );
  await rig.promotions.decide({
    jobId: proposed.ok ? proposed.jobId : '',
    by: 'UADMIN',
    decision: { kind: 'approve' },
  });
  return id;
}

/** Tables with an incident's id that hold nothing anybody wrote: ids, states, numbers, times, hashes. */
const WORDLESS = [
  'alert_state',
  'credential',
  'escalation',
  'escalation_call',
  'grade',
  'memory_usage',
  'slack_lease',
  'slack_post',
  'spend_reservation',
  'usage',
];

/** Tables that know of incidents, and have nothing of this one with its word. */
async function tablesWithout(word: string, id: IncidentId): Promise<readonly string[]> {
  const tables = await rig.sql<{ name: string; text: string }>`
    SELECT c.relname AS name,
           query_to_xml(format('SELECT * FROM %I WHERE incident_id = %L', c.relname, ${id}::text), true, false, '')::text AS text
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname = 'incident_id'`;
  return tables.flatMap(({ name, text }) => (text.includes(word) ? [] : [name])).toSorted();
}

/** As the bot does from time to time: drafts, what was promoted, and incidents are in the search index. */
async function index(): Promise<Retrieval> {
  const embedder = { fingerprint: 'none', embed: async () => [], close: async () => undefined };
  const vectors = { collection: () => expect.unreachable('Chroma was asked') };
  const retrieval = createRetrieval({ sql: rig.sql, vectors, embedder, log: quiet });
  await syncDocuments(rig.sql, retrieval);
  await syncIncidents(rig.sql, retrieval, (id) => rig.events.load(id));
  return retrieval;
}

describe('sentry memory forget', () => {
  test('removes an incident’s text from every table, takes it out of Chroma, and says so without the text', async () => {
    const id = await worded('platypus');
    const other = await worded('wombat');
    const retrieval = await index();
    // As what the playbook follows it is found once more.
    const file = `workspace:drafts/${id.toLowerCase()}.md`;
    const followed = {
      key: 'followed',
      title: 'platypus',
      text: 'platypus',
      metadata: { origin: 'promoted', file },
    };
    await retrieval.upsert({ kind: 'runbook', scope: 'postgres' }, [followed]);
    expect(await wholeDatabase(rig.sql)).toContain('platypus');
    // A table that is new must be forgotten too, or be one without words.
    expect(await tablesWithout('platypus', id)).toEqual(WORDLESS);
    expect(await rig.sql`SELECT FROM search_entry WHERE body LIKE '%platypus%'`).toHaveLength(4);
    const done = await sentry(['memory', 'forget', id, '--yes']);
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toContain('Removed 2 documents (2 versions) and 1 episode.');
    const left = await wholeDatabase(rig.sql);
    expect(left.toLowerCase().replaceAll('tc_platypus', '')).not.toContain('platypus');
    expect(left).toContain('wombat');
    const [entry] = await rig.sql<Row>`SELECT body FROM audit_entry ORDER BY seq DESC LIMIT 1`;
    expect(JSON.parse(String(entry?.['body']))).toMatchObject({
      kind: 'memory.forgotten',
      details: { incident: id, documents: 2 },
    });
    expect(await rig.sql`SELECT removal, document FROM memory_outbox WHERE id = ${id}`).toEqual([
      { removal: true, document: '' },
    ]);
    expect(await rig.events.load(other)).not.toBeNull();
    expect((await sentry(['why', id])).out).toContain('(forgotten)');
  });

  test('removes a person’s words, and keeps that they decided', async () => {
    const id = await worded('numbat');
    await rig.documents.ensureUserStore('UANN');
    await rig.documents.write(
      { kind: 'user', userId: 'UANN', incidentId: null },
      {
        place: { store: userStore('UANN'), incidentId: null },
        document: note({ content: 'I prefer quokkas.' }),
        sources: [],
      },
    );
    await rig.documents.write(
      { kind: 'user', userId: 'UANN', incidentId: id },
      {
        place: { store: conversationStore, incidentId: id },
        document: note({ content: 'Said quokkas in the thread.' }),
        sources: [],
      },
    );
    await rig.sql.begin((tx) =>
      rig.events.append(tx, id, { type: 'hint.given', by: 'UANN', text: 'look at the quokkas' }),
    );
    await rig.sql`
      INSERT INTO mute (matcher, by, reason, until) VALUES ('alertname="A"', 'UANN', 'quokkas at work', now() + interval '1 hour')`;
    const line = { label: 'In the thread', state: 'found', ms: 1 } as const;
    await rig.sql.begin((tx) =>
      rig.events.append(tx, id, {
        type: 'context.gathered',
        round: 1,
        parts: [
          { ...line, name: 'thread', line: 'ann: “it is the quokkas”', people: ['UBOB', 'UANN'] },
          { ...line, name: 'channels', line: 'ann in #deploys: “more quokkas”', people: ['UANN'] },
          { ...line, name: 'links', line: 'wiki' },
        ],
      }),
    );
    await rig.sql`UPDATE question SET text = 'quokkas?', answer = 'About quokkas: …' WHERE incident_id = ${id}`;
    expect((await sentry(['memory', 'forget', 'UANN', '--yes'])).code).toBe(0);
    expect(await wholeDatabase(rig.sql)).not.toContain('quokkas');
    expect(
      (await rig.events.load(id))?.events.findLast(({ type }) => type === 'context.gathered'),
    ).toMatchObject({
      parts: [{ line: '(forgotten)' }, { line: '(forgotten)' }, { line: 'wiki' }],
    });
    expect((await rig.events.load(id))?.events.filter(({ type }) => type === 'hint.given')).toHaveLength(2);
  });

  test('is refused while the incident is worked on, for what does not exist, and where nobody can be asked', async () => {
    const id = await rig.incident();
    expect(await sentry(['memory', 'forget', id, '--yes'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('being worked on'),
    });
    expect(await sentry(['memory', 'forget', 'INC-99999', '--yes'])).toMatchObject({ code: 3 });
    expect(await sentry(['memory', 'forget', 'nobody', '--yes'])).toMatchObject({ code: 2 });
    expect(await sentry(['memory', 'clear'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('nobody to ask'),
    });
  });
});

test('what has to leave the vector database is removed there, and never embedded', async () => {
  const removed: string[] = [];
  await rig.sql`DELETE FROM memory_outbox`;
  await rig.sql`SELECT memory_outbox_remove('incidents-postgres', 'INC-5')`;
  const outbox = createOutbox({
    sql: rig.sql,
    log: quiet,
    embedder: {
      fingerprint: 'f',
      embed: () => Promise.reject(new Error('embedded')),
      close: async () => undefined,
    },
    vectors: {
      collection: (name) => ({
        upsert: () => Promise.reject(new Error('written')),
        query: async () => [],
        list: async () => [],
        remove: async (ids) => void removed.push(...ids.map((id) => `${name} ${id}`)),
      }),
    },
  });
  expect(await outbox.flush()).toBe(1);
  expect(removed).toEqual(['incidents-postgres INC-5']);
  expect(await rig.sql`SELECT FROM memory_outbox`).toHaveLength(0);
});

describe('an export', () => {
  test('put into another deployment has every episode and every version, and twice is once', async () => {
    await worded('bilby');
    const exported = await sentry(['memory', 'export']);
    expect(exported.code).toBe(0);
    const other = await documentsRig();
    try {
      const first = await sentry(['memory', 'import'], { url: other.url, input: exported.out });
      expect(first).toMatchObject({ code: 0, err: '' });
      const again = await sentry(['memory', 'import'], { url: other.url, input: exported.out });
      expect(again.out).toMatch(/^0 added/);
      const back = await sentry(['memory', 'export'], { url: other.url });
      const lines = (text: string) =>
        text
          .split('\n')
          .filter((line) => line.includes('"document"'))
          .toSorted();
      expect(lines(back.out)).toEqual(lines(exported.out));
      const summary = await sentry(['memory', 'summary', '--json'], { url: other.url });
      expect(JSON.parse(summary.out)).toMatchObject({
        episodes: { succeeded: expect.any(Number), failed: 0 },
      });
    } finally {
      await other.close();
    }
  });

  test('with a secret in it is refused line by line, and says where', async () => {
    const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
    const version = {
      title: 't',
      content: secret,
      docType: 'note',
      trust: 'admin_approved',
      domain: null,
      entities: {},
      author: 'UADMIN',
      sources: [],
    };
    const line = {
      kind: 'document',
      store: runbooksStore,
      owner: null,
      incidentId: null,
      path: 'x',
      versions: [{ ...version, content: 'fine' }, version],
    };
    const file = join(scratchDir(), 'export.jsonl');
    writeFileSync(file, `${JSON.stringify(line)}\n`);
    const done = await sentry(['memory', 'import', file]);
    expect(done).toMatchObject({ code: 1, err: expect.stringMatching(/^line 1: Not written/) });
    expect(done.err + done.out).not.toContain(secret);
    expect(
      await rig.documents.read({ kind: 'operator' }, { store: runbooksStore, incidentId: null, path: 'x' }),
    ).toBeNull();
    expect(await sentry(['memory', 'import'], { input: 'no json\n' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('line 1'),
    });
  });
});

describe('sentry promotions', () => {
  test('lists, shows, approves by a named admin only, and says what came of it', async () => {
    const id = await rig.incident();
    await rig.documents.write(
      { kind: 'agent', role: 'detective', incidentId: id },
      {
        place: { store: conversationStore, incidentId: id },
        document: note({ path: 'drafts/cli' }),
        sources: [],
      },
    );
    const proposed = await rig.promotions.propose(
      { kind: 'agent', incidentId: id, userId: null },
      {
        ref: { store: conversationStore, incidentId: id, path: 'drafts/cli' },
        rationale: 'Good.',
        domain: 'postgres',
        by: 'detective',
      },
    );
    const jobId = proposed.ok ? proposed.jobId : '';
    expect((await sentry(['promotions'])).out).toContain(jobId);
    expect((await sentry(['promotions', 'show', jobId])).out).toContain(
      'The report job leaves a transaction open.',
    );
    expect(await sentry(['promotions', 'approve', jobId, '--as', 'UELSE'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Only admins'),
    });
    expect(await sentry(['promotions', 'approve', jobId, '--as', 'UADMIN'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Approved: workspace_runbooks/drafts/cli, version 1'),
    });
    expect(await sentry(['promotions', 'reject', jobId, '--as', 'UADMIN', '--reason', 'No.'])).toMatchObject({
      code: 1,
    });
    expect(await sentry(['promotions', 'show', 'dream_none'])).toMatchObject({ code: 3 });
  });
});

test('sentry documents lists, shows, edits and rolls back what everybody’s memory says, for a named admin', async () => {
  const written = await rig.documents.write(
    { kind: 'admin', userId: 'UADMIN' },
    {
      place: { store: runbooksStore, incidentId: null },
      document: note({ path: 'cli/ibis', content: 'Feed the ibis.' }),
      sources: [],
    },
  );
  if (!written.ok) throw new Error(written.reason);
  const { id, sha256 } = written.document;
  expect((await sentry(['documents', '--prefix', 'cli/'])).out).toMatch(
    new RegExp(`^${id}  .* workspace_runbooks/cli/ibis  Lock on orders\n$`),
  );
  const file = join(scratchDir(), 'ibis.md');
  writeFileSync(file, 'Leave the ibis alone.');
  const edit = (as: string) => sentry(['documents', 'edit', id, file, '--base', sha256, '--as', as]);
  expect(await edit('UELSE')).toMatchObject({ code: 1, err: expect.stringContaining('Only admins') });
  expect((await edit('UADMIN')).out).toContain('workspace_runbooks/cli/ibis, version 2');
  expect((await sentry(['documents', 'rollback', id, '1', '--as', 'UADMIN'])).out).toContain('version 3');
  const shown = await sentry(['documents', 'show', id]);
  expect(shown.out).toMatch(/Feed the ibis\.\n\nHistory:\n {2}3 .*\n {2}2 .*\n {2}1 /);
});

test('an admin who was set with /sentry settings is one at the command line, unless the environment says who is', async () => {
  const vaultKey = 'ab'.repeat(32);
  const settings = createWorkspaceSettings({
    sql: rig.sql,
    audit: createAuditLog(rig.sql),
    key: openVaultKey('', Buffer.from(vaultKey, 'hex')),
    fixed: {},
    team: () => 'T0TEST',
  });
  await settings.refresh();
  const admins = [{ kind: 'user', id: 'U0SET' } as const];
  expect(
    await settings.save({ by: 'U0SET', as: 'workspace admin', version: 0, settings: { admins } }),
  ).toEqual({ ok: true });
  const written = await rig.documents.write(
    { kind: 'admin', userId: 'UADMIN' },
    {
      place: { store: runbooksStore, incidentId: null },
      document: note({ path: 'cli/heron', content: 'Feed the heron.' }),
      sources: [],
    },
  );
  if (!written.ok) throw new Error(written.reason);
  const retire = (named: string) =>
    sentry(['documents', 'retire', written.document.id, '--as', 'U0SET'], {
      env: { SENTRY_ADMINS: named, SENTRY_VAULT_KEY: vaultKey },
    });
  expect(await retire('UADMIN')).toMatchObject({ code: 1, err: expect.stringContaining('/sentry settings') });
  expect(await retire('')).toMatchObject({ code: 0 });
});

test('sentry memory clear removes all but the conventions, audited', async () => {
  await worded('dingo');
  expect(await sentry(['memory', 'clear', '--yes'])).toMatchObject({ code: 0 });
  expect(await rig.sql`SELECT DISTINCT store FROM memory_document`).toEqual([
    { store: 'workspace_conventions' },
  ]);
  expect(await rig.sql`SELECT FROM episode`).toHaveLength(0);
  const [entry] = await rig.sql<Row>`SELECT body FROM audit_entry ORDER BY seq DESC LIMIT 1`;
  expect(String(entry?.['body'])).toContain('memory.forgotten');
  await createAuditLog(rig.sql).append({ kind: 'test', actor: 'test', details: {} });
});
