import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  ErrorCode,
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../core/errors.ts';
import { isObject } from '../core/json-of.ts';
import type { Log } from '../core/log.ts';

/**
 * Speaks MCP on stdin and stdout, and has the running bot answer: it has the gate, the connections and the kill switch, and
 * there is one of each. Resolves when stdin has ended and everything asked has been answered. Each message stands alone, so
 * that a bot that starts again is not noticed.
 */
export async function bridgeStdio(bot: {
  readonly url: URL;
  readonly secret: string;
  readonly log: Log;
}): Promise<void> {
  const near = new StdioServerTransport();
  const far = new StreamableHTTPClientTransport(bot.url, {
    requestInit: { headers: { authorization: `Bearer ${bot.secret}` } },
  });
  const underWay = new Set<Promise<void>>();
  let initialize: RequestId | undefined;

  async function forward(message: JSONRPCMessage): Promise<void> {
    try {
      await far.send(message);
    } catch (error) {
      bot.log.warn({ error: messageOf(error) }, 'the bot does not answer');
      if (isJSONRPCRequest(message)) await near.send(unanswered(message.id, bot.url, error));
    }
  }

  far.onmessage = (message) => {
    if (isJSONRPCResultResponse(message) && message.id === initialize) agreeOn(far, message.result);
    void near.send(message);
  };
  // What fails is told to whoever asked, by `forward`.
  far.onerror = (error) => bot.log.debug({ error: messageOf(error) }, 'the connection to the bot');
  near.onerror = (error) => bot.log.warn({ error: messageOf(error) }, 'what stdin says is no message');
  near.onmessage = (message) => {
    if (isInitializeRequest(message) && isJSONRPCRequest(message)) initialize = message.id;
    const forwarding = forward(message).finally(() => underWay.delete(forwarding));
    underWay.add(forwarding);
  };
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  await far.start();
  await near.start();
  await ended;
  await Promise.all(underWay);
  await far.close();
  await near.close();
}

/** Every later message says so in its head. */
function agreeOn(far: StreamableHTTPClientTransport, result: unknown): void {
  const version = isObject(result) ? result['protocolVersion'] : undefined;
  if (typeof version === 'string') far.setProtocolVersion(version);
}

function unanswered(id: RequestId, url: URL, error: unknown): JSONRPCMessage {
  const why =
    error instanceof StreamableHTTPError && (error.code === 401 || error.code === 403)
      ? 'it does not take this secret: set SENTRY_MCP_SECRET to that of an MCP caller'
      : 'start it with "sentry start", or set SENTRY_MCP_URL to where it is';
  return {
    jsonrpc: '2.0',
    id,
    error: { code: ErrorCode.InternalError, message: `Sentry does not answer at ${url.href}; ${why}.` },
  };
}
