import { Command } from 'commander';
import { rememberedPort } from '../app/fixed-ports.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { OpsError } from '../core/errors.ts';
import { createLog } from '../infra/log/log.ts';
import { bridgeStdio } from '../mcp/stdio-bridge.ts';

export const mcpCommand = new Command('mcp')
  .description('Serve MCP on stdin and stdout, for a client on this machine; the running bot answers.')
  .action(async () => {
    const config = loadConfig();
    const { secret } = config.mcp;
    if (secret === null)
      throw new OpsError('CONFIG', 'SENTRY_MCP_SECRET is not set.', {
        hint: 'Set it for the bot and for this command (openssl rand -hex 24 makes one); docs/mcp.md says how.',
      });
    await bridgeStdio({ url: urlOf(config), secret, log: createLog(config.logLevel) });
  });

/** Where the bot listens: as configured, else at the port it took last. */
function urlOf({ mcp, http, dataDir }: Config): URL {
  if (mcp.url !== null) return new URL(mcp.url);
  const isAny = http.host === '0.0.0.0' || http.host === '::';
  const host = isAny ? '127.0.0.1' : http.host.includes(':') ? `[${http.host}]` : http.host;
  const isFound = http.portIsDefault || http.port === 0;
  const port = (isFound ? rememberedPort(dataDir, 'http') : undefined) ?? http.port;
  return new URL(`http://${host}:${port}/mcp`);
}
