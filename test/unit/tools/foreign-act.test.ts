import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../../src/core/tool-call.ts';
import type { Deadline, ToolContext } from '../../../src/tools/define.ts';
import { foreignAct } from '../../../src/tools/mcp/foreign-tools.ts';
import { hashOfTool } from '../../../src/tools/mcp/pins.ts';

/** A server in this process, which counts what it is asked to do. */
const LISTED = { name: 'wipe', description: 'Wipes.', inputSchema: { type: 'object' } };

function onServer() {
  const asked: Json[] = [];
  let list = async (): Promise<void> => undefined;
  const tool = foreignAct({
    server: { name: 'far', timeoutMs: 1_000 } as never,
    pin: {
      tool: 'wipe',
      sha256: hashOfTool(LISTED),
      approvedBy: 'olivia',
      approvedAt: '2026-11-25T10:00:00Z',
    } as never,
    shown: { description: '', input: z.any() },
    name: 'mcp_far_wipe',
    connection: {
      tools: async () => {
        await list();
        return [LISTED];
      },
      call: async (_tool: string, input: Json) => {
        asked.push(input);
        return { content: [{ type: 'text', text: 'wiped' }] };
      },
      close: async () => undefined,
    },
  });
  const context = { signal: new AbortController().signal, timeoutMs: 1_000 } as unknown as ToolContext;
  return {
    asked,
    whileListing: (does: () => Promise<void>) => {
      list = does;
    },
    run: async (deadline: (clock: string | null) => Deadline) => {
      const { clock, guard } = await tool.preflight(context, { how: 'all' });
      return tool.run(context, { how: 'all' }, guard, deadline(clock));
    },
  };
}

test('an approved call of another program is made within its time', async () => {
  const server = onServer();
  expect(await server.run((clock) => ({ clock, withinMs: 60_000 }))).toMatchObject({ kind: 'succeeded' });
  expect(server.asked).toEqual([{ how: 'all' }]);
});

test('an approved call of another program is not made after its deadline, however late that is noticed [F4]', async () => {
  const late = onServer();
  expect(await late.run((clock) => ({ clock, withinMs: 0 }))).toMatchObject({
    kind: 'failed',
    text: expect.stringContaining('the deadline had passed'),
  });
  expect(late.asked).toEqual([]);
  // It passes while the server says which tools it has.
  const slow = onServer();
  const done = slow.run((clock) => {
    slow.whileListing(() => new Promise((resolve) => void setTimeout(resolve, 40)));
    return { clock, withinMs: 20 };
  });
  expect(await done).toMatchObject({ kind: 'failed' });
  expect(slow.asked).toEqual([]);
});
