import { Command } from 'commander';
import type { Store } from '../app/store.ts';
import type { Config } from '../config/config.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import { createLog } from '../infra/log/log.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { outwardText } from '../safety/screen/boundary.ts';
import { createMcpConnection, type ListedTool } from '../tools/mcp/connection.ts';
import { judgeTools } from '../tools/mcp/foreign-servers.ts';
import { hashOfTool, loadPins, storePin } from '../tools/mcp/pins.ts';
import type { McpServerConfig } from '../tools/mcp/server-config.ts';
import { showTool } from '../tools/mcp/shown-tool.ts';
import { confirm } from './confirm.ts';
import { operator, withStore } from './with-store.ts';

export const serversCommand = new Command('servers')
  .description(
    'Ask every MCP server of sentry.yaml, and say which of its tools are on, and why others are not.',
  )
  .action(async () => {
    await withStore(async ({ sql }, { mcp: { servers } }) => {
      if (servers.length === 0)
        process.stdout.write('No MCP server: docs/mcp.md says how sentry.yaml declares one.\n');
      for (const server of servers) process.stdout.write(`${await reportOf(server, sql)}\n`);
    });
  });

export const approveCommand = new Command('approve')
  .description('Show what a server says of the tools that sentry.yaml allows, and approve them as they are.')
  .argument('<server>', 'its name in sentry.yaml')
  .option('--yes', 'do not ask', false)
  .action(async (name: string, { yes }: { readonly yes: boolean }) => {
    await withStore(async ({ sql }, config) => {
      const server = serverOf(config, name);
      const listed = await listOf(server);
      const found = judgeTools(server, await loadPins(sql, name), listed);
      const wanted = found.flatMap(({ awaits }) => awaits ?? []);
      for (const { tool, state, why, awaits } of found)
        if (state === 'off' && awaits === null)
          process.stdout.write(`${plain(tool)} stays off: ${plain(why ?? '')}\n`);
      if (wanted.length === 0) {
        process.stdout.write('There is nothing to approve.\n');
        return;
      }
      for (const tool of wanted) process.stdout.write(`${described(server, tool)}\n`);
      await confirm(
        yes,
        `This approves ${wanted.length} of ${name}, as it stands above.`,
        name,
        'Nothing was approved.',
      );
      await approve(sql, name, wanted);
      process.stdout.write(`Approved. They are used from the next start of Sentry on.\n`);
    });
  });

async function approve(sql: Store['sql'], server: string, tools: readonly ListedTool[]): Promise<void> {
  const by = operator();
  await sql.begin(async (tx) => {
    for (const tool of tools) await storePin(tx, server, tool, by);
    await createAuditLog(sql).appendIn(tx, {
      kind: 'mcp.approved',
      actor: by,
      details: { server, tools: tools.map((tool) => ({ tool: tool.name, sha256: hashOfTool(tool) })) },
    });
  });
}

function serverOf({ mcp: { servers } }: Config, name: string): McpServerConfig {
  const server = servers.find((one) => one.name === name);
  if (server) return server;
  throw new OpsError('NOT_FOUND', `sentry.yaml declares no MCP server "${name}".`, {
    hint:
      servers.length > 0
        ? `There are ${servers.map((one) => one.name).join(', ')}.`
        : 'docs/mcp.md says how.',
  });
}

async function listOf(server: McpServerConfig): Promise<readonly ListedTool[]> {
  const connection = createMcpConnection(server, { log: createLog('error') });
  try {
    return await connection.tools(AbortSignal.timeout(30_000));
  } finally {
    await connection.close();
  }
}

async function reportOf(server: McpServerConfig, sql: Store['sql']): Promise<string> {
  const listed = await listOf(server).catch((error: unknown) => messageOf(error));
  const down = typeof listed === 'string';
  const found = judgeTools(server, await loadPins(sql, server.name), down ? null : listed);
  const others = down ? [] : listed.filter(({ name }) => !found.some(({ tool }) => tool === name));
  return [
    `${server.name}: ${down ? plain(listed) : `answers, with ${listed.length} tools`}`,
    ...found.map(
      ({ tool, state, acts, why, pin }) =>
        `  ${state.padEnd(3)}  ${acts ? 'acts ' : 'reads'}  ${plain(tool)}${why === null ? `, approved by ${pin?.approvedBy} on ${pin?.approvedAt.slice(0, 10)}` : `: ${plain(why)}`}`,
    ),
    ...(others.length > 0 ? [`  not allowed: ${others.map(({ name }) => plain(name)).join(', ')}`] : []),
  ].join('\n');
}

/** In the server's own words, so that whoever approves sees them all, and what models are shown instead. */
function described(server: McpServerConfig, tool: ListedTool): string {
  const shown = showTool(server.name, tool.description, tool.inputSchema);
  return [
    `${plain(tool.name)} (${server.act.includes(tool.name) ? 'acts: proposed, a person decides' : 'reads'})`,
    `  it says: ${plain(JSON.stringify(tool.description))}`,
    ...(typeof shown === 'string' ? [] : [`  models read: ${plain(JSON.stringify(shown.description))}`]),
    `  input: ${plain(JSON.stringify(tool.inputSchema))}`,
    `  sha256: ${hashOfTool(tool)}`,
  ].join('\n');
}

/** What a terminal would obey, or not draw, is left out of what others wrote. */
const plain = (text: string): string => outwardText(text.replace(/[\p{Cc}\p{Cf}]+/gu, ' '));
