import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockedSessions } from '../../playground/claude/blocked-sessions.ts';
import type { MessagesRequest, ScriptedReply } from '../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../playground/claude/scripted-claude.ts';
import { type Product, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { type IncidentThread, nextThread } from './incident-thread.ts';
import { openShopDb, type ShopDb } from './shop-db.ts';

const require = createRequire(import.meta.url);

// A public server from npm, as docs/mcp.md declares one: approved at the terminal, then used by Claude. In this order.
describe('a public MCP server whose tools Claude uses', () => {
  const dataDir = scratchDir();
  const notes = join(dataDir, 'notes.jsonl');
  const server = require.resolve('@modelcontextprotocol/server-memory/dist/index.js');
  const env = { SENTRY_CONFIG: join(dataDir, 'sentry.yaml'), NOTES_FILE: notes };
  const run = (args: readonly string[]) => sentry({ dataDir, env }, args);
  let claude: ScriptedClaude;
  let product: Product;
  let shop: ShopDb;
  let thread: IncidentThread;

  /** The demonstration, whose detective also looks into the team's notes. */
  function alsoReadsNotes(request: MessagesRequest): ScriptedReply {
    const reply = blockedSessions(request);
    const offered = (request.tools ?? []).some(({ name }) => name === 'mcp_notes_search_nodes');
    const looks = (reply.blocks ?? []).some((block) => 'tool' in block && /block/.test(block.tool));
    if (!offered || !looks) return reply;
    return {
      ...reply,
      blocks: [...(reply.blocks ?? []), { tool: 'mcp_notes_search_nodes', input: { query: 'backoffice' } }],
    };
  }

  beforeAll(async () => {
    writeFileSync(
      notes,
      `${JSON.stringify({ type: 'entity', name: 'shop-backoffice', entityType: 'service', observations: ['leaves transactions open over lunch'] })}\n`,
    );
    writeFileSync(
      env.SENTRY_CONFIG,
      JSON.stringify({
        mcp_servers: [
          {
            name: 'notes',
            command: process.execPath,
            args: [server],
            env: { MEMORY_FILE_PATH: 'NOTES_FILE' },
            read: ['search_nodes', 'read_graph'],
            act: ['create_entities'],
          },
        ],
      }),
    );
    claude = await createScriptedClaude({ scenario: alsoReadsNotes });
  });

  afterAll(async () => {
    await shop?.close();
    await product?.stop();
    await claude?.close();
  });

  it('has no tool on before an operator has approved it', async () => {
    const { code, stdout } = await run(['mcp', 'servers']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^notes: answers, with \d+ tools$/m);
    expect(stdout).toMatch(/^ {2}off {2}reads {2}search_nodes: it waits to be approved$/m);
    expect(stdout).toMatch(/^ {2}off {2}acts {3}create_entities: it waits to be approved$/m);
    expect(stdout).toMatch(/^ {2}not allowed: .*delete_entities/m);
  });

  it('is approved by whoever types its name, or says so; that is in the audit log', async () => {
    expect(await run(['mcp', 'approve', 'notes'])).toMatchObject({ code: 2 });
    expect(await run(['mcp', 'approve', 'others'])).toMatchObject({ code: 3 });
    const approved = await run(['mcp', 'approve', 'notes', '--yes']);
    expect(approved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('it says: "Search for nodes'),
    });
    expect((await run(['mcp', 'servers'])).stdout).toMatch(
      /^ {2}on {3}acts {3}create_entities, approved by /m,
    );
    expect((await run(['mcp', 'approve', 'notes'])).stdout).toBe('There is nothing to approve.\n');
    expect((await run(['audit', 'tail'])).stdout).toContain('mcp.approved');
    expect((await run(['doctor'])).stdout).toMatch(/MCP server notes.*answers; 3 tools on/);
  });

  it('is asked by Claude, through the gate; what it says is on record', async () => {
    product = await startProduct({
      dataDir,
      env: { ...env, ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: claude.url },
    });
    shop = openShopDb(dataDir);
    await shop.fault('blocked_sessions', 'cause');
    thread = await nextThread(slackOf(product));
    await thread.card();
    const { stdout } = await run(['incident', thread.id, '--json']);
    const { toolCalls } = JSON.parse(stdout) as { toolCalls: readonly Record<string, unknown>[] };
    expect(toolCalls).toContainEqual(
      expect.objectContaining({
        tool: 'mcp_notes_search_nodes',
        state: 'ok',
        target: null,
        role: 'detective',
        output: expect.stringContaining('over lunch'),
      }),
    );
  });

  it('is offered by role: triage sees nothing of it, and nobody what was not allowed', () => {
    const tools = claude.requests.map(({ body }) => (body.tools ?? []).map(({ name }) => name));
    const of = (report: string) => tools.find((names) => names.includes(report)) ?? [];
    const foreign = (names: readonly string[]) => names.filter((name) => name.startsWith('mcp_')).toSorted();
    expect(foreign(of('report_triage'))).toEqual([]);
    expect(foreign(of('report_diagnosis'))).toEqual(['mcp_notes_read_graph', 'mcp_notes_search_nodes']);
    expect(foreign(of('report_no_action'))).toEqual(['mcp_notes_create_entities']);
  });
});
