import { expect, test } from 'vitest';
import type { McpDeps } from '../../../src/mcp/ports.ts';
import { createMcpEndpoint } from '../../../src/mcp/server.ts';

const call = {
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'incidents_list', arguments: {} } },
};

test('a call that never ends is answered all the same, and gives its place back [F4]', async () => {
  const deps = {
    version: '1',
    tools: () => [],
    access: { mayAct: () => new Promise<never>(() => undefined) },
  } as unknown as McpDeps;
  const answer = await createMcpEndpoint(deps, 50)({ principal: 'mcp:olivia', user: null }, call);
  expect(answer).toMatchObject({ status: 504, body: expect.stringContaining('no answer within') });
});
