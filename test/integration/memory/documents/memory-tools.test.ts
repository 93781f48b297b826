import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mayUse } from '../../../../src/actions/access.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { type Role, roles } from '../../../../src/core/incident.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createSearchWords } from '../../../../src/memory/context/search-memories.ts';
import { createDocuments } from '../../../../src/memory/documents/documents.ts';
import { seedStores } from '../../../../src/memory/documents/seed-stores.ts';
import { createPromotions } from '../../../../src/memory/promotion/promotions.ts';
import { createRecords } from '../../../../src/record/record.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { memoryTools } from '../../../../src/tools/memory/memory-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { boxAlert, type Core, createCore } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { domains } from '../../../support/targets.ts';

let scratch: ScratchDatabase;
let pool: ReturnType<typeof openDatabase>;
let core: Core;
let incidentId: IncidentId;
const signal = new AbortController().signal;

beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  pool = openDatabase(scratch.url, { max: 4 });
  const { sql } = pool;
  await seedStores(sql);
  const parts = { sql, events: createRecords(sql), audit: createAuditLog(sql), enabled: true, domains };
  const documents = createDocuments(parts);
  const promotions = createPromotions({
    ...parts,
    documents,
    isAdmin: async () => false,
    runbooks: { tools: { get: () => undefined }, domains, sources: [] },
    dryRun: null,
  });
  core = await createCore({
    url: scratch.url,
    tools: [],
    gate: {
      registry: createRegistry(memoryTools),
      memory: { documents, search: createSearchWords(documents), promotions },
    },
  });
  incidentId = await newIncident();
});
afterAll(async () => {
  await core.stop();
  await pool.close();
  await scratch.drop();
});

async function newIncident(): Promise<IncidentId> {
  const { incidentId: id } = await core.accept(boxAlert());
  if (id === null) throw new Error('no incident');
  return id;
}

function call(
  tool: string,
  input: Json,
  options: { role?: Role; loaded?: boolean; in?: IncidentId; target?: string } = {},
) {
  const credential = core.vault.mint({
    role: options.role ?? 'detective',
    incidentId: options.in ?? incidentId,
    targets: ['box'],
    toolsets: options.loaded === false ? [] : ['memory'],
  });
  return core.gate.call(credential, { tool, target: options.target ?? null, input }, { signal });
}

const draft = { path: 'drafts/box', title: 'The box', content: 'It breaks on Mondays.' };

describe('through the gate', () => {
  test('the seven tools remember, read, list, search, patch, tell history and propose, without a target', async () => {
    const made = await call('memory_remember', draft);
    expect(made).toMatchObject({ kind: 'ok', data: { version: 1, trust: 'agent_draft' } });
    const { sha256, id } = (made as unknown as { data: { sha256: string; id: string } }).data;
    expect(await call('memory_read', { path: draft.path })).toMatchObject({
      kind: 'ok',
      data: { content: draft.content },
    });
    expect(await call('memory_list', { store: 'conversation_memory' })).toMatchObject({
      data: [{ path: draft.path }],
    });
    expect(await call('memory_search', { query: 'breaks mondays' })).toMatchObject({
      data: [{ path: draft.path }],
    });
    const patch = { id, base_sha256: sha256, content: 'It breaks on Tuesdays.' };
    expect(await call('memory_patch', patch)).toMatchObject({ kind: 'ok', data: { version: 2 } });
    expect(await call('memory_patch', { ...patch, content: 'Never.' })).toMatchObject({
      kind: 'refused',
      code: 'MEMORY_STALE',
    });
    const history = await call('memory_history', { id });
    expect(history).toMatchObject({ data: [{ number: 2 }, { number: 1, author: 'detective' }] });
    const rationale = { path: draft.path, rationale: 'Saves an hour.', domain: 'postgres' };
    expect(await call('memory_propose_promotion', rationale)).toMatchObject({ kind: 'ok' });
    expect((await core.records.load(incidentId))?.actions).toEqual([]);
  });

  test('a draft names the call that wrote it, and the calls it cites', async () => {
    const looked = await call('memory_search', { query: 'anything' });
    const made = await call('memory_remember', {
      ...draft,
      path: 'drafts/cited',
      tool_call_ids: [looked.toolCallId],
    });
    const [version] = (await call('memory_history', { path: 'drafts/cited' }).then(
      (one) => (one as { data: Json }).data,
    )) as {
      sources: string[];
    }[];
    expect(version?.sources).toEqual([
      `incident ${incidentId}`,
      `run ${made.toolCallId}`,
      `tool_call ${looked.toolCallId}`,
    ]);
    expect(
      await call('memory_remember', { ...draft, path: 'drafts/lied', tool_call_ids: ['tc_000000000000'] }),
    ).toMatchObject({ kind: 'refused', code: 'MEMORY_UNKNOWN_SOURCE' });
  });

  test('writing is refused until the toolset is loaded; reading is not', async () => {
    const writes = memoryTools.filter(({ kind }) => kind === 'memory_write');
    expect(writes.map(({ name }) => name)).toEqual([
      'memory_remember',
      'memory_patch',
      'memory_propose_promotion',
    ]);
    expect(await call('memory_remember', draft, { loaded: false })).toMatchObject({
      code: 'TOOLSET_NOT_LOADED',
    });
    expect(await call('memory_list', {}, { loaded: false })).toMatchObject({ kind: 'ok' });
  });

  test('what the scanner or the policy refuses is a refusal, and the next call goes on', async () => {
    const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
    const blocked = await call('memory_remember', {
      ...draft,
      path: 'drafts/secret',
      content: `use ${secret}`,
    });
    expect(blocked).toMatchObject({ kind: 'refused', code: 'MEMORY_WRITE_BLOCKED' });
    expect(await call('memory_remember', { ...draft, doc_type: 'note', user: 'UNOBODY' })).toMatchObject({
      kind: 'refused',
      code: 'MEMORY_POLICY_DENIED',
    });
    expect(await call('memory_list', {})).toMatchObject({ kind: 'ok' });
    const types = (await core.records.load(incidentId))?.events.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['memory.write.blocked', 'memory.policy.denied']));
  });

  test('another incident’s conversation is not there', async () => {
    const other = await newIncident();
    expect(await call('memory_read', { path: draft.path }, { in: other })).toMatchObject({
      code: 'MEMORY_NOT_FOUND',
    });
    expect(await call('memory_search', { query: 'tuesdays' }, { in: other })).toMatchObject({ data: [] });
  });

  test('a target that is named all the same is not on record: memory is no evidence of a live system', async () => {
    const { toolCallId } = await call('memory_list', {}, { target: 'box' });
    expect(await core.records.toolCall(toolCallId)).toMatchObject({ state: 'ok', target: null });
  });
});

test('roles have the memory tools that the table of the design gives them', () => {
  const table = Object.fromEntries(
    roles.map((role) => [
      role,
      (['memory_read', 'memory_write'] as const).filter((kind) => mayUse(role, kind)),
    ]),
  );
  expect(table).toEqual({
    supervisor: ['memory_read', 'memory_write'],
    triage: ['memory_read'],
    detective: ['memory_read', 'memory_write'],
    surgeon: [],
    validator: [],
    mcp: ['memory_read'],
  });
});
