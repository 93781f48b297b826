import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { plainWords } from '../../core/plain-words.ts';
import type { Json } from '../../core/tool-call.ts';
import { within } from '../../core/within.ts';
import type { McpServerConfig } from './server-config.ts';

/** A tool as its server describes it. What else it says of itself (annotations) is not even read. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json;
}

/** One server: connected when it is first needed, and again after it has ended, at longer and longer intervals. */
export interface McpConnection {
  /** As it lists them now. Throws OpsError MCP_DOWN. */
  tools(signal: AbortSignal): Promise<readonly ListedTool[]>;
  /**
   * Throws OpsError: MCP_DOWN, it was not asked; MCP_REFUSED, it says that it did not take the call; MCP_LOST, it took too long, ended or
   * said too much, and nobody knows what came of it.
   */
  call(tool: string, input: Json, options: CallLimits): Promise<CallToolResult>;
  close(): Promise<void>;
}

export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const CONNECT_MS = 15_000;
/** Bytes of one answer; a server that says more is cut off. */
const MAX_ANSWER = 4 * 1024 * 1024;
/** Pages of a list of tools: some server would never end. */
const MAX_PAGES = 20;
/** What a server may say that nobody asked for (its log, progress, questions), and in which time: one that says more is ended. */
const MAX_UNASKED = 500;
const UNASKED_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Characters of what a server wrote to stderr that are kept, to say why it ended. */
const KEPT_STDERR = 1_000;
/** By these a server says that it did not take a call, which is its word alone: what has acted is in doubt all the same. */
const NOT_TAKEN: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.ParseError,
]);

/** These are the SDK's own. */
const NO_ANSWER: ReadonlySet<number> = new Set([ErrorCode.RequestTimeout, ErrorCode.ConnectionClosed]);

export function createMcpConnection(
  server: McpServerConfig,
  {
    log,
    now = () => performance.now(),
    connectMs = CONNECT_MS,
  }: { readonly log: Log; readonly now?: () => number; readonly connectMs?: number },
): McpConnection {
  const { name } = server;
  let session: Promise<Client> | null = null;
  let failures = 0;
  let notBefore = Number.NEGATIVE_INFINITY;
  let stderr = '';

  /** It has ended, or is not worth waiting for: the next one begins anew, later each time until one has answered. */
  function drop(which: Promise<Client> | null, why: string): void {
    if (which === null || session !== which) return;
    session = null;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
    failures += 1;
    notBefore = now() + wait;
    log.warn({ server: name, why, againInMs: wait }, 'an MCP server is gone');
  }

  function connected(): Promise<Client> {
    if (session !== null) return session;
    const waitMs = notBefore - now();
    if (waitMs > 0) return Promise.reject(down(name, `it is tried again in ${Math.ceil(waitMs / 1_000)} s`));
    const opening: Promise<Client> = open(server, connectMs, {
      ended: () => drop(opening, `it ended${stderr === '' ? '' : `: ${stderr}`}`),
      wrote: (text) => {
        stderr = plainWords(`${stderr}${text}`.slice(-KEPT_STDERR), KEPT_STDERR);
      },
      flooded: () => abandon(opening, `it said more than ${MAX_UNASKED} things unasked`),
    }).catch((error: unknown) => {
      drop(opening, said(error));
      throw down(name, `${said(error)}${stderr === '' ? '' : `; it said: ${stderr}`}`);
    });
    session = opening;
    stderr = '';
    return opening;
  }

  /** What takes too long is not asked again: a program of ours is ended. */
  function abandon(which: Promise<Client>, why: string): void {
    drop(which, why);
    which.then((client) => client.close()).catch(() => undefined);
  }

  return {
    async tools(signal) {
      const opened = connected();
      const client = await opened;
      try {
        const timeout = listMs(server);
        const tools = await within(timeout, listAll(client, { signal, timeout }));
        failures = 0;
        return tools;
      } catch (error) {
        if (!signal.aborted) abandon(opened, said(error));
        throw down(name, said(error));
      }
    },

    async call(tool, input, { timeoutMs, signal }) {
      const opened = connected();
      const client = await opened;
      try {
        const result = await client.request(
          { method: 'tools/call', params: { name: tool, arguments: input as Record<string, unknown> } },
          CallToolResultSchema,
          { timeout: timeoutMs, signal },
        );
        failures = 0;
        return result;
      } catch (error) {
        if (error instanceof McpError && NOT_TAKEN.has(error.code))
          throw new OpsError('MCP_REFUSED', `${name} does not take this call: ${said(error)}`, {
            hint: 'Correct the input by what it says.',
            cause: error,
          });
        // Whoever answers with an error lives. Anything else (too late, too much, an end) may hang for ever.
        const hasAnswered = error instanceof McpError && !NO_ANSWER.has(error.code);
        // Whoever no longer wants the answer says nothing against it, and others may be waiting for theirs.
        if (!hasAnswered && !signal.aborted) abandon(opened, said(error));
        throw new OpsError('MCP_LOST', `${name} gave no answer to ${tool}: ${said(error)}`, {
          hint: 'Nobody knows what came of the call. Look into the log of that server.',
          cause: error,
        });
      }
    },

    async close() {
      const open = session;
      session = null;
      notBefore = Number.POSITIVE_INFINITY;
      await open?.then((client) => client.close()).catch(() => undefined);
    },
  };
}

/** How long it may take to list its tools. */
export const listMs = ({ timeoutMs }: McpServerConfig): number => Math.min(CONNECT_MS, timeoutMs);

const said = (error: unknown): string => plainWords(messageOf(error));

const down = (name: string, why: string): OpsError =>
  new OpsError('MCP_DOWN', `The MCP server ${name} cannot be asked: ${why}`, {
    hint: `sentry mcp servers says what is wrong with it.`,
    retryable: true,
  });

interface Heard {
  ended(): void;
  wrote(text: string): void;
  /** It is not listened to any longer. */
  flooded(): void;
}

/** It offers no capability of a client: a server can neither ask our model nor our people anything. */
async function open({ transport }: McpServerConfig, connectMs: number, hear: Heard): Promise<Client> {
  const client = new Client({ name: 'sentry', version: '1' }, { capabilities: {} });
  const wire = transport.kind === 'stdio' ? spawned(transport, hear.wrote) : overHttp(transport);
  const unasked = countUnasked(() => {
    hear.flooded();
    // Closed politely it would go on for seconds, and hold up everything else by what it says meanwhile.
    if (wire instanceof StdioClientTransport && wire.pid !== null) process.kill(wire.pid, 'SIGKILL');
  });
  // The library waits for ever for whoever does not take its last word of the greeting, also when it has ended.
  const gone = new Promise<never>((_, reject) => {
    client.onclose = () => {
      hear.ended();
      reject(new Error('it ended'));
    };
  });
  gone.catch(() => undefined);
  // What is wrong with one message is told by the call that waits for it.
  client.onerror = unasked;
  try {
    const greeted = client.connect(onlyAnswers(wire as Transport, unasked), { timeout: connectMs });
    await within(connectMs, Promise.race([greeted, gone]));
    return client;
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

/** To be called for each; calls `flooded` once, when it is too much. */
function countUnasked(flooded: () => void): () => void {
  let count = 0;
  let since = performance.now();
  return () => {
    if (count > MAX_UNASKED) return;
    if (performance.now() - since > UNASKED_MS) [count, since] = [0, performance.now()];
    count += 1;
    if (count > MAX_UNASKED) flooded();
  };
}

/**
 * Passes on answers alone. A question of the server's is answered here, one at a time, and left unanswered while the answer to
 * the last is not taken: the library would keep an answer to each in memory, or open a connection for it.
 */
function onlyAnswers(wire: Transport, unasked: () => void): Transport {
  let hear: Transport['onmessage'];
  let isAnswering = false;
  const filtered: NonNullable<Transport['onmessage']> = (message, extra) => {
    if (!('method' in message)) return hear?.(message, extra);
    unasked();
    if (!('id' in message) || isAnswering) return;
    isAnswering = true;
    const { id, method } = message;
    const no = { code: ErrorCode.MethodNotFound, message: 'Method not found' };
    wire
      .send({ jsonrpc: '2.0', id, ...(method === 'ping' ? { result: {} } : { error: no }) })
      .catch(() => undefined)
      .finally(() => {
        isAnswering = false;
      });
  };
  Object.defineProperty(wire, 'onmessage', {
    get: () => hear && filtered,
    set: (next: Transport['onmessage']) => {
      hear = next;
    },
  });
  return wire;
}

type Of<K> = Extract<McpServerConfig['transport'], { readonly kind: K }>;

/** A program of its own with its own variables: of ours it gets PATH, HOME and the like, and no secret. */
function spawned({ command, args, env }: Of<'stdio'>, wrote: (text: string) => void): StdioClientTransport {
  const wire = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
    maxBufferSize: MAX_ANSWER,
  });
  wire.stderr?.on('data', (chunk: Buffer) => wrote(chunk.toString('utf8')));
  return wire;
}

function overHttp({ url, headers }: Of<'http'>): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    // Only answers are listened to: a stream of its own would be opened anew as often as the server ends it.
    fetch: async (input, init) =>
      init?.method === 'GET' ? new Response(null, { status: 405 }) : bounded(await fetch(input, init)),
  });
}

function bounded(response: Response): Response {
  if (response.body === null) return response;
  let size = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > MAX_ANSWER) controller.error(new Error(`the answer is over ${MAX_ANSWER} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}

async function listAll(client: Client, options: RequestOptions): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      ListToolsResultSchema,
      options,
    );
    tools.push(
      ...found.tools.map(({ name, description = '', inputSchema }) => ({
        name,
        description,
        inputSchema: inputSchema as unknown as Json,
      })),
    );
    cursor = found.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
}
