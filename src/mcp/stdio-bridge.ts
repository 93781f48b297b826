import type { Readable, Writable } from 'node:stream';
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
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}): Promise<void> {
  const { stdin = process.stdin, stdout = process.stdout } = bot;
  const near = new StdioServerTransport(stdin, stdout);
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
  const ended = new Promise<void>((resolve) => {
    stdin.once('end', resolve).once('close', resolve);
    stdout.on('error', () => resolve());
    // It gives up where a line has no end.
    near.onclose = resolve;
  });
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
  const status = error instanceof StreamableHTTPError ? error.code : undefined;
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: ErrorCode.InternalError,
      message: `Sentry does not answer at ${url.href}; ${whyNot(status)}.`,
    },
  };
}

/** @param status of its HTTP answer; none: it gave none */
function whyNot(status: number | undefined): string {
  if (status === undefined || status < 0)
    return 'start it with "sentry start", or set SENTRY_MCP_URL to where it is';
  if (status === 401) return 'it does not take this secret: set SENTRY_MCP_SECRET to that of an MCP caller';
  if (status === 403) return 'it is not known by this name: add it to SENTRY_HTTP_HOSTS';
  return `it answered ${status}`;
}
