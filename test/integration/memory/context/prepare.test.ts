import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { Incident } from '../../../../src/core/incident.ts';
import type { MemoryAsk, PreparedMemory } from '../../../../src/core/memory.ts';
import { findMemories } from '../../../../src/memory/context/find-memories.ts';
import { createPrepare, type PrepareDeps } from '../../../../src/memory/context/prepare.ts';
import { createRecordShown } from '../../../../src/memory/context/record-shown.ts';
import { createSearchMemories } from '../../../../src/memory/context/search-memories.ts';
import { documentSpacesOf } from '../../../../src/memory/context/spaces.ts';
import type { Reader } from '../../../../src/memory/documents/access.ts';
import {
  conventionsStore,
  conversationStore,
  noEntities,
  runbooksStore,
  type StoreRef,
  userStore,
} from '../../../../src/memory/documents/document.ts';
import type { NewDocument } from '../../../../src/memory/documents/new-document.ts';
import type { Writer } from '../../../../src/memory/documents/write-document.ts';
import { recallRunbooks } from '../../../../src/memory/recall-runbooks.ts';
import { syncDocuments } from '../../../../src/memory/sync/sync-documents.ts';
import { recordSystem, systemOf } from '../../../../src/memory/systems/systems.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { createRetrieval, type Retrieval } from '../../../../src/search/retrieval.ts';
import { everybodyReads } from '../../../support/audiences.ts';
import { anIncident } from '../../../support/incidents.ts';
import { PATIENT_MS } from '../../../support/patience.ts';
import { quiet } from '../../../support/quiet.ts';
import type { Row } from '../../../support/typed.ts';
import { type DocumentsRig, documentsRig, note } from '../documents/rig.ts';

let rig: DocumentsRig;
let retrieval: Retrieval;
let deps: PrepareDeps;
let here: IncidentId;
let elsewhere: IncidentId;

beforeAll(async () => {
  rig = await documentsRig();
  const { sql, documents } = rig;
  // Words alone: meaning has tests of its own.
  const embedder = { fingerprint: 'none', embed: async () => [], close: async () => undefined };
  const vectors = { collection: () => expect.unreachable('Chroma was asked') };
  retrieval = createRetrieval({ sql, vectors, embedder, log: quiet });
  deps = {
    sql,
    retrieval,
    documents,
    refresh: async () => void (await syncDocuments(sql, retrieval)),
    enabled: true,
    tokenBudget: 2_200,
    trustThreshold: 0.85,
    redact: (text) => text,
    audiences: everybodyReads,
    runbooks: () => [],
    log: quiet,
  };
});
afterAll(() => rig.close());
beforeEach(async () => {
  [here, elsewhere] = [await rig.incident(['UANN']), await rig.incident(['UBOB'])];
});

const workspace = (store: string): StoreRef => ({ store, incidentId: null });
const thread = (incidentId: IncidentId): StoreRef => ({ store: conversationStore, incidentId });
const admin: Writer = { kind: 'admin', userId: 'UADMIN' };
const agent = (incidentId: IncidentId): Writer => ({ kind: 'agent', role: 'detective', incidentId });

async function write(writer: Writer, place: StoreRef, document: Partial<NewDocument>): Promise<string> {
  const written = await rig.documents.write(writer, { place, document: note(document), sources: [] });
  if (!written.ok) throw new Error(written.reason);
  return written.document.id;
}

const incidentOf = (change: Partial<Incident> = {}) => anIncident({ id: here, ...change });

async function prepare(
  ask: Partial<MemoryAsk> = {},
  change: Partial<PrepareDeps> = {},
): Promise<PreparedMemory> {
  // A turn waits half a second for the index; a busy machine may need longer.
  if (!change.refresh) await deps.refresh();
  const prepared = await createPrepare({ ...deps, limitMs: PATIENT_MS, ...change })({
    incident: incidentOf(),
    role: 'detective',
    turn: 1,
    text: '',
    shown: [],
    ...ask,
  });
  if (prepared === null) throw new Error('memory is off');
  return prepared;
}
const pathsOf = ({ shown }: PreparedMemory) => shown.map(({ path }) => path);
const about = (word: string) => incidentOf({ title: word, alertName: null });

describe('a turn gets', () => {
  test('reviewed memory and drafts in two blocks, told apart by whether anybody has reviewed it [F9]', async () => {
    await write(admin, workspace(conventionsStore), {
      path: 'a/ibis',
      title: 'Ibis gateway',
      content: 'Drain the ibis first.',
    });
    await write(agent(here), thread(here), {
      path: 'd/ibis',
      title: 'Ibis draft',
      content: 'The ibis may leak.',
    });
    await write({ kind: 'user', userId: 'UANN', incidentId: here }, thread(here), {
      path: 'p/ibis',
      title: 'Ibis by Ann',
      content: 'Ann owns the ibis.',
    });
    const found = await prepare({ incident: about('ibis') });
    const [trusted = '', untrusted = ''] = found.text.split('<sentry_untrusted_memory_candidates>');
    expect(trusted).toContain('Drain the ibis first.');
    expect(trusted).not.toContain('Ann owns the ibis.');
    expect(untrusted).toContain('Ann owns the ibis.');
    expect(trusted).not.toContain('The ibis may leak.');
    expect(untrusted).toContain('The ibis may leak.');
    expect(found.shown.map(({ path, trust, trusted: yes }) => [path, trust, yes])).toEqual([
      ['a/ibis', 'admin_approved', true],
      ['p/ibis', 'user_authored', false],
      ['d/ibis', 'agent_draft', false],
    ]);
    // The threshold decides what is reviewed well enough, and can never make a draft or a person's word trusted.
    const loose = await prepare({ incident: about('ibis') }, { trustThreshold: 0.5 });
    expect(loose.shown.map(({ trusted: yes }) => yes)).toEqual([true, false, false]);
  });

  test('never more than the budget, and nothing at all for a budget of 0', async () => {
    const content =
      'The heron queue is read by the billing job; its consumers are restarted one by one. '.repeat(30);
    for (const n of [1, 2, 3])
      await write(admin, workspace(runbooksStore), {
        path: `r/heron-${n}`,
        title: `Heron queue ${n}`,
        content,
      });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 3_000 }), async (tokenBudget) => {
        const { tokens, text } = await prepare({ incident: about('heron queue') }, { tokenBudget });
        expect(tokens).toBeLessThanOrEqual(tokenBudget);
        expect(text === '').toBe(tokens === 0);
      }),
      { numRuns: 20 },
    );
    expect((await prepare({ incident: about('heron queue') })).tokens).toBeGreaterThan(1_000);
  });

  test('only memory of its incident’s domain, and its own incident not at all', async () => {
    for (const scope of ['postgres', 'docker'] as const)
      await retrieval.upsert({ kind: 'runbook', scope }, [
        { key: `egret-${scope}`, title: 'Egret', text: `The egret of ${scope}.` },
      ]);
    await rig.past('INC-900', 'Egret');
    await retrieval.upsert({ kind: 'incident', scope: 'postgres' }, [
      { key: 'INC-900', title: 'Egret', text: 'The egret stood still.' },
      { key: here, title: 'Egret', text: 'The egret stands still.' },
    ]);
    for (const domain of ['postgres', 'docker'] as const)
      await write(admin, workspace(runbooksStore), {
        path: `egret/${domain}`,
        title: 'Egret',
        content: 'Egret',
        domain,
      });
    await write(admin, workspace(runbooksStore), { path: 'egret/any', title: 'Egret', content: 'Egret' });
    const found = await prepare({ incident: about('egret') });
    expect(pathsOf(found).toSorted()).toEqual(['INC-900', 'egret-postgres', 'egret/any', 'egret/postgres']);
    // What an alert's own words made is nobody's reviewed knowledge.
    expect(found.shown.find(({ path }) => path === 'INC-900')).toMatchObject({
      trusted: false,
      store: 'incidents-postgres',
    });
  });

  test('in later turns only what is new to this history and fits well what was said', async () => {
    await write(admin, workspace(runbooksStore), {
      path: 'r/stork',
      title: 'Stork replication',
      content: 'Reseed the stork.',
    });
    const said = { incident: about('unknown thing'), turn: 2, text: 'stork replication is broken' };
    const first = await prepare(said);
    expect(pathsOf(first)).toEqual(['r/stork']);
    expect(await prepare({ ...said, turn: 3, shown: first.shown.map(({ id }) => id) })).toMatchObject({
      text: '',
      shown: [],
    });
    expect(await prepare({ ...said, text: 'all replicas are fine' })).toMatchObject({ shown: [] });
    expect(await prepare({ ...said, text: '' })).toMatchObject({ text: '', missing: null });
  });

  test('of what the alert says and of what is said beside it, each by itself', async () => {
    await write(admin, workspace(runbooksStore), {
      path: 'r/ruff',
      title: 'Ruff queue full',
      content: 'Drain the ruff.',
    });
    await write(admin, workspace(runbooksStore), {
      path: 'r/teal',
      title: 'Teal',
      content: 'The teal leaks now and then.',
    });
    const incident = incidentOf({ title: 'Ruff queue full', alertName: 'RuffQueueFull' });
    expect(pathsOf(await prepare({ incident }))).toEqual(['r/ruff']);
    const both = pathsOf(await prepare({ incident, text: 'could the teal be it?' }));
    expect(both.toSorted()).toEqual(['r/ruff', 'r/teal']);
  });

  test('prose without the steps that are for the playbook, and no secret that came in unscreened', async () => {
    const steps = '```yaml step\nid: look\ncall: postgres_locks\n```';
    await retrieval.upsert({ kind: 'runbook', scope: 'postgres' }, [
      {
        key: 'crane',
        title: 'Crane',
        text: `# Crane\nLook at the crane, password hunter2.\n\n## Steps\n${steps}\n\n## Crane alias`,
      },
    ]);
    const { text } = await prepare(
      { incident: about('crane') },
      { redact: (words) => words.replaceAll('hunter2', '***') },
    );
    expect(text).toContain('Look at the crane, password ***.');
    expect(text).not.toContain('postgres_locks');
    expect(text).not.toContain('alias');
  });
});

describe('nothing reaches a prompt that its reader may not read', () => {
  const secret = 'pelican';
  beforeEach(async () => {
    await rig.documents.ensureUserStore('UANN');
    await rig.documents.ensureUserStore('UBOB');
    for (const id of [here, elsewhere])
      await write(agent(id), thread(id), {
        path: `d/${id.toLowerCase()}`,
        title: 'Pelican',
        content: `pelican of ${id}`,
      });
    for (const userId of ['UANN', 'UBOB'])
      await write(
        { kind: 'user', userId, incidentId: null },
        { store: userStore(userId), incidentId: null },
        {
          path: `pelican/${userId.toLowerCase()}`,
          title: 'Pelican',
          content: `pelican of ${userId}`,
        },
      );
    await deps.refresh();
  });

  test('a role reads its own conversation, no other one, and no person’s store', async () => {
    expect(pathsOf(await prepare({ incident: about(secret) }))).toEqual([`d/${here.toLowerCase()}`]);
    const there = await prepare({ incident: { ...about(secret), id: elsewhere } });
    expect(pathsOf(there)).toEqual([`d/${elsewhere.toLowerCase()}`]);
  });

  const readers = (): readonly [Reader, readonly string[]][] => [
    [{ kind: 'person', userId: 'UANN', incidents: [here] }, [`d/${here.toLowerCase()}`, 'pelican/uann']],
    [{ kind: 'person', userId: 'UBOB', incidents: [here] }, [`d/${here.toLowerCase()}`, 'pelican/ubob']],
    [{ kind: 'person', userId: 'UEVE', incidents: [] }, []],
    [
      { kind: 'agent', incidentId: elsewhere, userId: 'UANN' },
      [`d/${elsewhere.toLowerCase()}`, 'pelican/uann'],
    ],
  ];

  test('crossed users and conversations find their own, by search too', async () => {
    const search = createSearchMemories(deps);
    for (const [reader, paths] of readers()) {
      const { found } = await search(reader, here, secret, 20);
      expect(found.map(({ path }) => path).toSorted(), JSON.stringify(reader)).toEqual(paths);
    }
  });

  test('not even when a search looks where it must not, or the index is behind', async () => {
    const reader: Reader = { kind: 'agent', incidentId: here, userId: null };
    const everywhere = await documentSpacesOf(rig.sql, { kind: 'operator' });
    const query = {
      reader,
      here,
      texts: [secret],
      entities: noEntities,
      domain: null,
      limit: 20,
      meaningWithinMs: 0,
    };
    const { found } = await findMemories(deps, { ...query, spaces: everywhere });
    expect(found.map(({ memory }) => memory.path)).toEqual([`d/${here.toLowerCase()}`]);

    const id = await write(admin, workspace(runbooksStore), {
      path: `r/${here.toLowerCase()}`,
      title: 'Pelican',
      content: 'pelican of all',
    });
    await deps.refresh();
    const stale = { refresh: async () => undefined };
    expect(pathsOf(await prepare({ incident: about(secret) }, stale))).toHaveLength(2);
    await rig.sql`UPDATE memory_document SET retired_at = now() WHERE id = ${id}`;
    expect(pathsOf(await prepare({ incident: about(secret) }, stale))).toEqual([`d/${here.toLowerCase()}`]);
    await rig.sql`UPDATE memory_document SET retired_at = NULL WHERE id = ${id}`;
    await write(admin, workspace(runbooksStore), {
      path: `r/${here.toLowerCase()}`,
      title: 'Pelican',
      content: 'edited pelican',
    });
    expect((await prepare({ incident: about(secret) }, stale)).text).toContain('edited pelican');
  });
});

async function tried(runbookId: string, success: boolean): Promise<void> {
  const [action] = await rig.sql<Row>`
    INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard, system_identifier,
                        timeline_id, why, blast_radius, preflight, undo, risk, runbook_id, verify, audit_only, expires_at)
    VALUES (${`act_${Math.random().toString(36).slice(2, 14)}`}, ${here}, 1, 'succeeded', 't', 'shop-db', '{}', 'c', 'h', '{}', '1', 1,
            '', '', '{}', '', 'low', ${runbookId}, '{}', false, now()) RETURNING id`;
  await rig.sql`
    INSERT INTO episode (incident_id, action_id, error, diagnosis, command, result, success)
    VALUES (${here}, ${String(action?.['id'])}, 'e', 'd', 'c', 'r', ${success})`;
}

describe('a record of what helped', () => {
  test('orders what fits alike, and lifts nothing above what a better tier vouches for', async () => {
    const space = { kind: 'runbook', scope: 'postgres' } as const;
    const text = 'The bittern waits.';
    await retrieval.upsert(
      space,
      ['bittern-a', 'bittern-b'].map((key) => ({ key, title: 'Bittern', text })),
    );
    const document = { title: 'Bittern', content: text, docType: 'runbook', domain: 'postgres' } as const;
    await write(admin, workspace(runbooksStore), { ...document, path: 'bittern-c' });
    // The newer one of two comes first, and a millisecond may pass between them.
    await rig.sql`UPDATE search_entry SET updated_at = now() WHERE key LIKE 'bittern-%'`;
    const order = async () => pathsOf(await prepare({ incident: about('bittern') }));
    expect(await order()).toEqual(['bittern-c', 'bittern-a', 'bittern-b']);
    for (let n = 0; n < 20; n += 1) await tried('bittern-b', true);
    await tried('bittern-a', false);
    expect(await order()).toEqual(['bittern-c', 'bittern-b', 'bittern-a']);
  });
});

test('runbooks recalled for the playbook are of the domain, promoted ones by their own id, what helped first', async () => {
  const space = { kind: 'runbook', scope: 'postgres' } as const;
  const text = 'The curlew is late.';
  await retrieval.upsert(
    space,
    ['curlew-a', 'curlew-b'].map((key) => ({ key, title: 'Curlew', text })),
  );
  await retrieval.upsert({ kind: 'runbook', scope: 'docker' }, [{ key: 'curlew-d', title: 'Curlew', text }]);
  const promoted = { title: 'Curlew', docType: 'runbook' } as const;
  const content = `---\nid: curlew-promoted\ntitle: Curlew\n---\n${text}`;
  await write(admin, workspace(runbooksStore), {
    ...promoted,
    path: 'c/postgres',
    content,
    domain: 'postgres',
  });
  await write(admin, workspace(runbooksStore), {
    ...promoted,
    path: 'c/docker',
    content: text,
    domain: 'docker',
  });
  await write(admin, workspace(runbooksStore), { title: 'Curlew', path: 'c/note', content: text });
  await deps.refresh();
  const order = async () =>
    (await recallRunbooks(deps, about('curlew'), null, 0)).map(({ runbookId }) => runbookId);
  expect(await order()).toEqual(['curlew-promoted', 'curlew-a', 'curlew-b']);
  await tried('curlew-b', true);
  expect(await order()).toEqual(['curlew-promoted', 'curlew-b', 'curlew-a']);
  await tried('curlew-b', false);
  await tried('curlew-b', false);
  expect(await order()).toEqual(['curlew-promoted', 'curlew-a', 'curlew-b']);
});

test('an incident of another system counts less than one of this system', async () => {
  const put = (key: string, postgresql: string) =>
    retrieval.upsert({ kind: 'incident', scope: 'postgres' }, [
      {
        key,
        title: 'Avocet',
        text: 'The avocet fell.',
        metadata: { system_fingerprint: JSON.stringify({ postgresql }) },
      },
    ]);
  await recordSystem(rig.sql, 'shop-db', { postgresql: '17.2' });
  await rig.past('INC-701', 'Avocet', { target: 'old-db' });
  await rig.past('INC-702', 'Avocet', { target: 'new-db' });
  await put('INC-701', '12.1');
  await put('INC-702', '17.2');
  expect(pathsOf(await prepare({ incident: about('avocet') }))).toEqual(['INC-702', 'INC-701']);
  await recordSystem(rig.sql, 'shop-db', { postgresql: '12.1' });
  expect(pathsOf(await prepare({ incident: about('avocet') }))).toEqual(['INC-701', 'INC-702']);
});

test('a document of another system counts less, for a role’s turn and for the playbook, and says which', async () => {
  const runbook = async (path: string, target: string) => {
    const incidentId = await rig.incident();
    await rig.sql`UPDATE incident SET target = ${target} WHERE id = ${incidentId}`;
    const draft = note({
      path,
      title: 'Godwit',
      content: 'The godwit rests.',
      docType: 'runbook',
      domain: 'postgres',
    });
    const place = thread(incidentId);
    const written = await rig.documents.write(agent(incidentId), { place, document: draft, sources: [] });
    const ref = { id: written.ok ? written.document.id : '' };
    const asked = { ref, rationale: 'It helped.', domain: 'postgres', by: 'detective' } as const;
    const proposed = await rig.promotions.propose({ kind: 'agent', incidentId, userId: null }, asked);
    const jobId = proposed.ok ? proposed.jobId : '';
    await rig.promotions.decide({ jobId, by: 'UADMIN', decision: { kind: 'approve' } });
  };
  await recordSystem(rig.sql, 'old-db', { postgresql: '12.1' });
  await recordSystem(rig.sql, 'new-db', { postgresql: '17.2' });
  await runbook('g/old', 'old-db');
  await runbook('g/new', 'new-db');
  await deps.refresh();
  const asked = async (target: string) => {
    const incident = incidentOf({ title: 'godwit', alertName: null, target });
    const system = await systemOf(rig.sql, target);
    const followed = await recallRunbooks(deps, incident, null, 0, system);
    return { prepared: await prepare({ incident }), followed: followed.map(({ runbookId }) => runbookId) };
  };
  const before = await asked('new-db');
  expect(pathsOf(before.prepared)).toEqual(['g/new', 'g/old']);
  expect(before.followed).toEqual(['g/new', 'g/old']);
  expect(before.prepared.text).toMatch(/path="g\/old"[^>]* learnt_on="postgresql 12\.1"/);
  const after = await asked('old-db');
  expect(pathsOf(after.prepared)).toEqual(['g/old', 'g/new']);
  expect(after.followed).toEqual(['g/old', 'g/new']);
});

describe('what an admin approved about the very service', () => {
  const entities = (service: string, ...resource: string[]) => ({
    namespace: [],
    resource,
    environment: [],
    service: [service],
  });
  const labels = { service: 'jacana-api' };

  test('is there however badly it fits, and what is about another of a like name is not', async () => {
    await write(admin, workspace(runbooksStore), {
      path: 'j/queue',
      title: 'Jacana vrooms',
      content: 'Wake the jacana.',
    });
    const said = {
      title: 'Weekdays',
      content: 'Never on Fridays; ask whoever looks after the jacana first, whatever has happened there.',
    };
    for (const [path, service] of [
      ['j/api', 'Jacana-API'],
      ['j/plain', 'jacana'],
      ['j/longer', 'jacana-api-v2'],
    ] as const)
      await write(admin, workspace(runbooksStore), { ...said, path, entities: entities(service) });
    await write(agent(here), thread(here), { ...said, path: 'j/draft', entities: entities('jacana-api') });
    // Not a word in common with the alert.
    await write(admin, workspace(conventionsStore), {
      path: 'j/silent',
      title: 'Freeze',
      content: 'Nothing is changed in December.',
      entities: entities('other', 'shop-db'),
    });
    await write(admin, workspace(runbooksStore), {
      path: 'j/docker',
      title: 'Freeze there',
      content: 'Nothing is changed there.',
      domain: 'docker',
      entities: entities('jacana-api'),
    });
    const incident = { ...about('Jacana vrooms'), labels, target: 'shop-db' };
    const found = pathsOf(await prepare({ incident }));
    expect(found[0]).toBe('j/queue');
    expect(found.filter((path) => path.startsWith('j/')).toSorted()).toEqual([
      'j/api',
      'j/queue',
      'j/silent',
    ]);
    // Neither the limit nor the budget ends before it.
    const more = Array.from({ length: 9 }, (_, n) => `j/more-${n}`);
    for (const path of more)
      await write(admin, workspace(runbooksStore), {
        path,
        title: `Jacana vrooms (${path})`,
        content: 'The jacana vrooms and has to be drained. '.repeat(25),
      });
    expect(
      pathsOf(await prepare({ incident }))
        .slice(1, 3)
        .toSorted(),
    ).toEqual(['j/api', 'j/silent']);
    for (const path of more)
      await rig.sql`UPDATE memory_document SET retired_at = now() WHERE path = ${path}`;
    await rig.sql`UPDATE memory_document SET retired_at = now() WHERE path = 'j/silent'`;
    expect(pathsOf(await prepare({ incident }))).not.toContain('j/silent');
  });

  test('is bounded to the newest 20, and says how many are left out', async () => {
    const service = 'godwit-api';
    const incident = { ...about('Godwits'), labels: { service }, target: null };
    const writeRules = async (from: number, to: number, domain?: 'docker') => {
      for (let n = from; n < to; n++)
        await write(admin, workspace(runbooksStore), {
          path: `gw/${n}`,
          title: `Rule ${n}`,
          content: 'Ask first.',
          entities: entities(service),
          ...(domain === undefined ? {} : { domain }),
        });
    };
    await writeRules(0, 20);
    expect((await prepare({ incident }))?.text).not.toContain('not looked at');
    await writeRules(30, 35, 'docker');
    expect((await prepare({ incident }))?.text).not.toContain('not looked at');
    await writeRules(20, 22);
    expect((await prepare({ incident }))?.text).toContain(
      '2 older documents about this service not looked at',
    );
    await rig.sql`UPDATE memory_document SET retired_at = now() WHERE path LIKE 'gw/%'`;
  });

  test('is there once: a later turn gets what fits what was said', async () => {
    const incident = { ...about('Jacana vrooms'), labels, target: 'shop-db' };
    expect(pathsOf(await prepare({ incident, turn: 2, text: 'the jacana vrooms' }))).toEqual(['j/queue']);
  });

  test('by its title alone, too', async () => {
    for (const path of ['t/one', 't/two'])
      await write(admin, workspace(runbooksStore), {
        path,
        title: 'Lapwing stalls',
        content: 'The lapwing stalls: wake the lapwing.',
      });
    for (const [path, title] of [
      ['t/very', 'What lapwing-db is for'],
      ['t/other', 'What lapwing-db-2 is for'],
    ] as const)
      await write(admin, workspace(runbooksStore), {
        path,
        title,
        content: 'It is for many things of every kind.',
      });
    const incident = { ...about('Lapwing stalls'), target: 'lapwing-db' };
    const found = pathsOf(await prepare({ incident }));
    expect(found).toContain('t/very');
    expect(found).not.toContain('t/other');
  });
});

describe('what a model was shown', () => {
  test('is an event, a usage row a memory and an audit entry, without its words, and once', async () => {
    const id = await write(admin, workspace(runbooksStore), {
      path: 'r/rail',
      title: 'Rail',
      content: 'Only the rail knows.',
    });
    const prepared = await prepare({ incident: about('rail') });
    const record = createRecordShown({ ...rig, events: rig.events });
    for (const _ of [1, 2]) await record(here, 'detective', prepared);
    const loaded = (await rig.events.load(here))?.events.filter(
      ({ type }) => type === 'memory.context.loaded',
    );
    expect(loaded).toMatchObject([
      {
        role: 'detective',
        turn: 1,
        tokens: prepared.tokens,
        documents: [
          { id, store: runbooksStore, path: 'r/rail', version: 1, trust: 'admin_approved', trusted: true },
        ],
      },
    ]);
    expect(
      await rig.sql`SELECT document_id, version, trust, run FROM memory_usage WHERE incident_id = ${here}`,
    ).toEqual([{ document_id: id, version: 1, trust: 'admin_approved', run: prepared.run }]);
    const audited = (await rig.sql<Row>`SELECT body FROM audit_entry`).map(({ body }) => String(body));
    expect(audited.filter((body) => body.includes(prepared.run))).toHaveLength(1);
    expect(JSON.stringify([loaded, audited])).not.toContain('Only the rail knows');
  });

  test('is on record when it was nothing, but not for a later turn', async () => {
    const record = createRecordShown({ ...rig, events: rig.events });
    const nothing = await prepare({ incident: about('zzzz') });
    await record(here, 'triage', nothing);
    await record(here, 'triage', { ...nothing, run: 'mem_2', turn: 2 });
    const loaded = (await rig.events.load(here))?.events.filter(
      ({ type }) => type === 'memory.context.loaded',
    );
    expect(loaded).toMatchObject([{ turn: 1, documents: [], tokens: 0, missing: null }]);
  });
});

describe('memory that fails', () => {
  test('or hangs leaves the turn without it, in time, and says so', async () => {
    const broken = { search: async () => Promise.reject(new Error('no database')) };
    const hanging = { search: () => new Promise<never>(() => undefined) };
    for (const search of [broken, hanging]) {
      const prepared = await prepare({}, { retrieval: search, limitMs: 300 });
      expect(prepared).toMatchObject({ text: '', shown: [], missing: 'Memory did not answer.' });
    }
  });

  test('to be brought up to date still answers with what it has', async () => {
    await write(admin, workspace(runbooksStore), {
      path: 'r/snipe',
      title: 'Snipe',
      content: 'The snipe hides.',
    });
    await deps.refresh();
    for (const refresh of [
      () => Promise.reject(new Error('locked')),
      () => new Promise<never>(() => undefined),
    ])
      expect(pathsOf(await prepare({ incident: about('snipe') }, { refresh, limitMs: 4_000 }))).toEqual([
        'r/snipe',
      ]);
  });

  test('to be on is not asked at all', async () => {
    const never = { search: () => expect.unreachable('memory was asked') };
    const ask = { incident: incidentOf(), role: 'detective', turn: 1, text: '', shown: [] } as const;
    expect(await createPrepare({ ...deps, enabled: false, retrieval: never })(ask)).toBeNull();
  });
});

describe('a runbook that the alert names', () => {
  const runbook: Runbook = {
    id: 'whimbrel',
    title: 'Whimbrel',
    domains: ['postgres'],
    version: 1,
    type: 'whimbrel_stuck',
    matches: { alerts: ['WhimbrelStuck*'], text: [], labels: {} },
    ignoreWhenHealthy: false,
    steps: [],
    verify: {},
    body: 'Set the whimbrel free.',
    file: 'postgres/whimbrel.md',
  };
  const named = incidentOf({ title: 'WhimbrelStuckHard', alertName: 'WhimbrelStuckHard' });
  const known = { runbooks: () => [runbook] };

  test('comes first, before a hundred and more of one past problem and others, and each past problem once', async () => {
    const put = async (key: string, title: string, cause: string) => {
      await rig.past(key, title, { target: 'shop-db', cause, type: 'whimbrel_stuck' });
      await retrieval.upsert({ kind: 'incident', scope: 'postgres' }, [
        { key, title, text: `Title: ${title}\nWhimbrelStuckHard whimbrel stuck hard\nCause: ${cause}` },
      ]);
    };
    for (let n = 0; n < 120; n += 1)
      await put(
        `INC-${5_000 + n}`,
        'WhimbrelStuckHard',
        `Session ${7_000 + n} of the loader holds the whimbrel.`,
      );
    await put('INC-5999', 'WhimbrelStuckHard', 'Autovacuum waits for a backup that never ends.');
    await retrieval.upsert({ kind: 'runbook', scope: 'postgres' }, [
      { key: 'whimbrel', title: 'Whimbrel', text: 'Set the whimbrel free.' },
      { key: 'curlew-x', title: 'Curlew', text: 'A whimbrel is no curlew: whimbrel stuck, hard to see.' },
    ]);
    const found = await prepare({ incident: incidentOf({ ...named, id: here }) }, known);
    const paths = pathsOf(found);
    expect(paths[0]).toBe('whimbrel');
    expect(paths).toContain('curlew-x');
    expect(paths.filter((path) => path.startsWith('INC-5'))).toHaveLength(2);
    expect(paths).toContain('INC-5999');
    expect(found.text).toMatch(/Seen 1\d\d times/);
  });

  test('is there, with what its words find, when memory does not answer; and that it did not is said', async () => {
    const dead = { retrieval: { search: () => new Promise<never>(() => undefined) }, limitMs: 50 };
    const found = await prepare({ incident: incidentOf({ ...named, id: here }) }, { ...known, ...dead });
    expect(found).toMatchObject({
      missing: 'Memory did not answer.',
      shown: [{ id: 'whimbrel', trusted: true }],
    });
    expect(found.text).toContain('Set the whimbrel free.');
    const later = await prepare({ incident: named, turn: 2, text: 'whimbrel' }, { ...known, ...dead });
    expect(later.text).toBe('');
  });
});
