import type { Scenario } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import { createBotMemory } from '../../../../src/app/bot-memory.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { IncidentState } from '../../../../src/core/incident.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import type { Audiences } from '../../../../src/memory/audiences.ts';
import { runbooksStore } from '../../../../src/memory/documents/document.ts';
import { createDocuments } from '../../../../src/memory/documents/documents.ts';
import { createPromotions } from '../../../../src/memory/promotion/promotions.ts';
import { createRecords } from '../../../../src/record/record.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { redact, redactJson } from '../../../../src/safety/screen/redact.ts';
import type { Embedder, VectorStore } from '../../../../src/search/ports.ts';
import type { Tool } from '../../../../src/tools/define.ts';
import { memoryToolset } from '../../../../src/tools/memory/memory-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { everybodyReads } from '../../../support/audiences.ts';
import { boxAlert, type Core, createCore } from '../../../support/core.ts';
import { PATIENT_MS } from '../../../support/patience.ts';
import { scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { domains } from '../../../support/targets.ts';
import { waitFor } from '../../../support/wait-for.ts';

const away = () => Promise.reject(new Error('no Chroma'));
/** Memory by words alone: nothing here needs the vector database. */
const noVectors = {
  vectors: { collection: () => ({ upsert: away, query: away, list: away, remove: away }) },
  embedder: { fingerprint: 'none', embed: async () => [], close: async () => undefined },
};

/**
 * The real engine, gate, record and memory over one database, in front of a scripted model that refuses any history that
 * did not only grow. A start is a process: stopped half-way, the next one goes on.
 */
export async function memoryRig(options: {
  readonly scenario?: Scenario;
  readonly tools: readonly Tool[];
  readonly enabled?: boolean;
  /** Left out: none, and memory goes by words alone. */
  readonly vectors?: VectorStore;
  readonly embedder?: Embedder;
  readonly audiences?: Audiences;
  readonly runbooks?: () => readonly Runbook[];
}) {
  const { enabled = true, tools } = options;
  const scratch = await scratchDatabase({ migrate: true });
  const { sql, close } = openDatabase(scratch.url, { max: 6 });
  const records = createRecords(sql);
  const audit = createAuditLog(sql);
  const documents = createDocuments({ sql, events: records, audit, enabled, domains });
  const memory = createBotMemory({
    vectors: options.vectors ?? noVectors.vectors,
    embedder: options.embedder ?? noVectors.embedder,
    sql,
    records,
    audit,
    documents,
    domains,
    settings: { enabled, tokenBudget: 2_200, trustThreshold: 0.85 },
    redact: (text) => text,
    audiences: options.audiences ?? everybodyReads,
    runbooks: options.runbooks ?? (() => []),
    log: quiet,
    // Nothing here is about memory that comes too late.
    limitMs: PATIENT_MS,
  });
  await memory.seedStores();
  const promotions = createPromotions({
    sql,
    documents,
    events: records,
    audit,
    enabled,
    isAdmin: async (user) => user === 'UADMIN',
    runbooks: { tools: { get: () => undefined }, domains, sources: [] },
    dryRun: null,
  });
  const claude: ScriptedClaude | null = options.scenario
    ? await createScriptedClaude({ scenario: options.scenario })
    : null;
  const all = [...tools, ...memoryToolset];
  let core: Core;

  async function start(): Promise<void> {
    core = await createCore({
      url: scratch.url,
      tools,
      memory,
      gate: {
        registry: createRegistry(all),
        memory: { documents, search: memory.search, promotions },
        redact,
        redactJson: (value) => redactJson(value),
      },
      ...(claude && {
        claude: createClaude({
          llm: createModelGateway({
            backend: createAnthropicBackend({ apiKey: 'test-key', baseUrl: claude.url }),
            retry: { baseDelayMs: 1 },
          }),
          tools: all,
          targets: ['box'],
          toolCalls: async (id) => (await records.load(id))?.toolCalls ?? [],
        }),
      }),
    });
    await core.start();
  }
  await start();

  return {
    sql,
    records,
    documents,
    promotions,
    memory,
    get claude(): ScriptedClaude {
      if (!claude) throw new Error('no model in this rig');
      return claude;
    },
    get core(): Core {
      return core;
    },
    async restart(): Promise<void> {
      await core.stop();
      await start();
    },
    async open(overrides: Parameters<typeof boxAlert>[0] = {}): Promise<IncidentId> {
      const { incidentId } = await core.accept(boxAlert(overrides));
      if (!incidentId) throw new Error('not accepted');
      return incidentId;
    },
    async until(id: IncidentId, state: IncidentState) {
      let seen: unknown;
      await waitFor(
        `${id} to be ${state}`,
        async () => {
          seen = (await records.incident(id))?.state;
          return seen === state;
        },
        { seen: () => seen },
      );
      const record = await records.load(id);
      if (!record) throw new Error('no record');
      return record;
    },
    /** Reviewed knowledge. */
    async knows(path: string, title: string, content: string): Promise<void> {
      const written = await documents.write(
        { kind: 'admin', userId: 'UADMIN' },
        {
          place: { store: runbooksStore, incidentId: null },
          document: { path, title, content, docType: 'checklist' },
          sources: [],
        },
      );
      if (!written.ok) throw new Error(written.reason);
    },
    async close(): Promise<void> {
      claude?.release();
      await core.stop();
      await memory.stop();
      await claude?.close();
      await close();
      await scratch.drop();
    },
  };
}

export type MemoryRig = Awaited<ReturnType<typeof memoryRig>>;
