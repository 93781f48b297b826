import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** A secret of a test. */
export const mcpSecretOf = (name: string): string => ['a', 'test', 'secret', 'of', name].join('-');

/** The official client, connected. */
export async function mcpClient(transport: unknown): Promise<Client> {
  const client = new Client({ name: 'a test', version: '1' });
  await client.connect(transport as Transport);
  return client;
}

export function overHttp(url: string, secret: string): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${secret}` } },
  });
}

/** What a call of ours answers: always one JSON object as text. */
export interface McpAnswer {
  readonly isError: boolean;
  readonly status: string;
  readonly code?: string;
  readonly incident?: string;
  readonly tool_call_id?: string;
  readonly action_id?: string;
  readonly suspicious?: readonly string[];
  readonly cut?: string;
  readonly output: unknown;
}

export async function callMcp(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<McpAnswer> {
  const { content, isError } = (await client.callTool({ name, arguments: args })) as CallToolResult;
  const [first] = content;
  if (content.length !== 1 || first?.type !== 'text') throw new Error('expected one text');
  return { isError: isError === true, ...(JSON.parse(first.text) as Omit<McpAnswer, 'isError'>) };
}
