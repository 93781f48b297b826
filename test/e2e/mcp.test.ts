import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import { ACTIONS } from '../../src/slack/views/blocks/slot.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { callMcp, mcpClient, mcpSecretOf, overHttp } from '../support/mcp.ts';
import { type Product, productEnv, program, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { type IncidentThread, nextThread } from './incident-thread.ts';
import { openShopDb, type ShopDb } from './shop-db.ts';

// The tests are stages of one story and run in this order.
describe('MCP clients beside a running Sentry', () => {
  const dataDir = scratchDir();
  const env = {
    SENTRY_CONFIG: join(dataDir, 'sentry.yaml'),
    SENTRY_MCP_SECRET: mcpSecretOf('everybody'),
    OLIVIA_MCP_SECRET: mcpSecretOf('olivia'),
    SENTRY_APPROVAL_MINUTES: '1',
  };
  let product: Product;
  let slack: LocalSlackClient;
  let shop: ShopDb;
  let shared: Client;
  let http: Client;
  let stdio: Client;
  let thread: IncidentThread;

  const overStdio = (as: string, more: Readonly<Record<string, string>> = {}) =>
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', '--as', as],
      env: productEnv({ dataDir, env: { ...env, ...more } }),
      cwd: dataDir,
    });

  beforeAll(async () => {
    writeFileSync(
      env.SENTRY_CONFIG,
      `mcp_callers:\n  - name: olivia\n    secret_env: OLIVIA_MCP_SECRET\n    user: ${USERS.onCall}\n`,
    );
    product = await startProduct({ dataDir, env });
    slack = slackOf(product);
    shop = openShopDb(dataDir);
    await slack.control('channel-privacy', { channel: CHANNELS.alerts, is_private: true });
    shared = await mcpClient(overHttp(product.httpUrl, env.SENTRY_MCP_SECRET));
    http = await mcpClient(overHttp(product.httpUrl, env.OLIVIA_MCP_SECRET));
    stdio = await mcpClient(overStdio('olivia'));
    await shop.fault('blocked_sessions', 'cause');
    thread = await nextThread(slack);
    await thread.card();
  });

  afterAll(async () => {
    await Promise.all([shared?.close(), http?.close(), stdio?.close()]);
    await shop?.close();
    await product?.stop();
  });

  it('read the same over both transports, and what the systems show', async () => {
    const [overHttpTools, overStdioTools] = await Promise.all([http.listTools(), stdio.listTools()]);
    expect(overStdioTools).toEqual(overHttpTools);
    for (const client of [http, stdio]) {
      expect(await callMcp(client, 'incidents_list', { open: true })).toMatchObject({
        status: 'ok',
        output: [{ incident: thread.id, target: 'shop-db' }],
      });
      const seen = await callMcp(client, 'postgres_blocking_tree', { incident: thread.id });
      expect(seen).toMatchObject({ isError: false, status: 'ok', incident: thread.id });
      for (const pid of await shop.rootBlockers()) expect(seen.output).toContain(String(pid));
    }
    const shown = await sentry({ dataDir, env }, ['why', thread.id]);
    expect(shown.stdout).toContain('mcp:olivia asks');
  });

  it('find what memory and the record know', async () => {
    const query = 'sessions blocked by a lock';
    const found = await callMcp(stdio, 'memory_search', { incident: thread.id, query });
    expect(found).toMatchObject({ isError: false, status: 'ok' });
    const story = await callMcp(stdio, 'incident_read', { incident: thread.id });
    expect(JSON.stringify(story.output)).toMatch(/Session \d+/);
  });

  it('that work for nobody in particular learn nothing of a private channel', async () => {
    expect((await callMcp(shared, 'incidents_list')).output).toEqual([]);
    for (const tool of ['incident_read', 'postgres_blocking_tree'])
      expect(await callMcp(shared, tool, { incident: thread.id })).toMatchObject({
        code: 'UNKNOWN_INCIDENT',
      });
  });

  it('are told by the command what is wrong, on stderr and as an answer', async () => {
    const nobody = await sentry({ dataDir, env }, ['mcp', '--as', 'amara']);
    expect(nobody).toMatchObject({ code: 4, stdout: '' });
    expect(nobody.stderr).toContain('No MCP caller is called "amara"');
    const elsewhere = overStdio('olivia', { SENTRY_MCP_URL: 'http://127.0.0.1:1/mcp' });
    await expect(mcpClient(elsewhere)).rejects.toThrow(/Sentry does not answer at .*sentry start/);
    const stranger = overStdio('olivia', { OLIVIA_MCP_SECRET: mcpSecretOf('somebody-else') });
    await expect(mcpClient(stranger)).rejects.toThrow(/does not take this secret/);
  });

  it('propose what a card in the thread asks; it runs when a person has approved', async () => {
    const { command } = await thread.card();
    const [, pid, backend_start] = /pid = (\d+) AND backend_start = '([^']+)'/.exec(command) ?? [];
    const blocker = Number(pid);
    const input = { incident: thread.id, pid: blocker, backend_start, why: 'It blocks the checkout.' };
    expect(await callMcp(http, 'propose_postgres_terminate_backend', input)).toMatchObject({
      code: 'AT_WORK',
    });
    // Sentry's own card runs out.
    await waitFor(
      'the incident to wait for people',
      async () =>
        JSON.stringify((await callMcp(http, 'incidents_list')).output).includes('"state":"reported"'),
      { timeoutMs: 90_000 },
    );
    const asked = await callMcp(http, 'propose_postgres_terminate_backend', input);
    expect(asked).toMatchObject({ isError: false, status: 'proposed' });
    const card = await slack.waitForMessage(
      (message) => message.thread_ts === thread.rootTs && textOf(message).includes('proposed by mcp:olivia'),
    );
    expect(textOf(card)).toContain('It blocks the checkout.');
    expect(await shop.hasSession(blocker)).toBe(true);
    await slack.asUser(USERS.onCall2).press(card, { actionId: ACTIONS.approve });
    await waitFor('the session to end', async () => !(await shop.hasSession(blocker)));
    await thread.resolved();
    const story = await sentry({ dataDir, env }, ['why', thread.id]);
    expect(story.stdout).toMatch(/mcp:olivia proposed to/);
  });
});
