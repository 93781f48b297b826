import { Command } from 'commander';
import { rememberedPort } from '../app/fixed-ports.ts';
import { type Config, loadConfig } from '../config/config.ts';
import type { McpCallerConfig } from '../config/mcp.ts';
import { OpsError } from '../core/errors.ts';
import { createLog } from '../infra/log/log.ts';
import { bridgeStdio } from '../mcp/stdio-bridge.ts';
import { approveCommand, serversCommand } from './mcp-servers.ts';

export const mcpCommand = new Command('mcp')
  .description('Serve MCP on stdin and stdout, for a client on this machine; the running bot answers.')
  .addCommand(serversCommand)
  .addCommand(approveCommand)
  .option('--as <name>', 'which of mcp_callers it is; not needed where there is one secret')
  .action(async ({ as }: { readonly as?: string }) => {
    const config = loadConfig();
    const { secret } = callerOf(config, as);
    await bridgeStdio({ url: urlOf(config), secret, log: createLog(config.logLevel) });
  });

function callerOf({ mcp: { callers } }: Config, as: string | undefined): McpCallerConfig {
  const [first, ...others] = as === undefined ? callers : callers.filter(({ name }) => name === as);
  if (first && others.length === 0) return first;
  const known = callers.map(({ name }) => name).join(', ');
  throw first
    ? new OpsError('USAGE', `Say by --as who calls: ${known}.`, { hint: 'sentry mcp --as <name>' })
    : new OpsError(
        'CONFIG',
        as === undefined ? 'No MCP caller has a secret.' : `No MCP caller is called "${as}".`,
        {
          hint: `Set SENTRY_MCP_SECRET, or mcp_callers in sentry.yaml${known ? ` (there are ${known})` : ''}; docs/mcp.md says how.`,
        },
      );
}

/** Where the bot listens: as configured, else at the port it took last. */
function urlOf({ mcp, http, dataDir }: Config): URL {
  if (mcp.url !== null) return new URL(mcp.url);
  const isAny = http.host === '0.0.0.0' || http.host === '::';
  const host = isAny ? '127.0.0.1' : http.host.includes(':') ? `[${http.host}]` : http.host;
  const isFound = http.portIsDefault || http.port === 0;
  const port = (isFound ? rememberedPort(dataDir, 'http') : undefined) ?? http.port;
  return new URL(`http://${host}:${port}/mcp`);
}
