import { expect, test } from 'vitest';
import { z } from 'zod';
import { allTools } from '../../../src/targets/all-tools.ts';
import type { Tool } from '../../../src/tools/define.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

const named = (name: string): Tool => ({
  name,
  description: '',
  kind: 'read',
  domain: 'any',
  input: z.strictObject({}),
  timeoutMs: 1,
  run: async () => ({ text: '', data: null }),
});

test('gives tools by name and in order, and knows no others', () => {
  const registry = createRegistry([named('b_tool'), named('a_tool')]);
  expect(registry.list().map((tool) => tool.name)).toEqual(['b_tool', 'a_tool']);
  expect(registry.get('a_tool')?.name).toBe('a_tool');
  expect(registry.get('toString')).toBeUndefined();
});

test('refuses two tools of one name, and names a model cannot call', () => {
  expect(() => createRegistry([named('one_tool'), named('one_tool')])).toThrow(
    expect.objectContaining({ code: 'TOOL_DUPLICATE' }),
  );
  expect(() => createRegistry([named('One Tool')])).toThrow(expect.objectContaining({ code: 'TOOL_NAME' }));
});

test('every tool can be shown to a model: its input is a JSON schema of an object', () => {
  const tools = createRegistry(allTools).list();
  expect(tools).toHaveLength(allTools.length);
  for (const tool of tools) {
    expect(z.toJSONSchema(tool.input, { io: 'input' }), tool.name).toMatchObject({
      type: 'object',
      additionalProperties: false,
    });
    expect(tool.description.length, tool.name).toBeGreaterThan(40);
  }
});
