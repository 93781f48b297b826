import { Command } from 'commander';
import { inputSchemaOf } from '../agents/loop/report.ts';
import type { Store } from '../app/store.ts';
import type { Config } from '../config/config.ts';
import { count } from '../core/count.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import { plainWords } from '../core/plain-words.ts';
import { createLog } from '../infra/log/log.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { outwardText } from '../safety/screen/boundary.ts';
import type { ListedTool } from '../tools/mcp/connection.ts';
import { askServer } from '../tools/mcp/foreign-servers.ts';
import { hashOfTool, storePin } from '../tools/mcp/pins.ts';
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
      const { judged: found } = await askServer(server, { sql, log: createLog('error') });
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

async function reportOf(server: McpServerConfig, sql: Store['sql']): Promise<string> {
  const asked = await askServer(server, { sql, log: createLog('error') }).catch((error: unknown) =>
    messageOf(error),
  );
  if (typeof asked === 'string') return `${server.name}: ${plain(asked)}`;
  const { listed, judged } = asked;
  const others = listed.filter(({ name }) => !judged.some(({ tool }) => tool === name));
  return [
    `${server.name}: answers, with ${count(listed.length, 'tool')}`,
    ...judged.map(
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
    ...(typeof shown === 'string'
      ? []
      : [
          `  models read: ${plain(JSON.stringify(shown.description))}`,
          `  and its input as: ${plain(JSON.stringify(inputSchemaOf(shown.input)))}`,
        ]),
    `  input: ${plain(JSON.stringify(tool.inputSchema))}`,
    `  sha256: ${hashOfTool(tool)}`,
  ].join('\n');
}

const plain = (text: string): string => outwardText(plainWords(text, 20_000));
