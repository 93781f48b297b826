import { expect, it } from 'vitest';
import { allTools } from '../../../src/targets/all-tools.ts';
import { foreignAct } from '../../../src/tools/mcp/foreign-tools.ts';

/** Two lines of a phone, with their label. */
const TWO_LINES = 70;

const foreign = foreignAct({
  name: 'mcp_x_y',
  shown: {},
  server: { name: 'x', timeoutMs: 1_000 },
  pin: { tool: 'y' },
} as never);
const acting = [...allTools, foreign].flatMap((tool) => (tool.kind === 'active' ? [tool] : []));

it('every tool that acts says in two lines of a phone what it frees and what it costs', () => {
  expect(acting.length).toBeGreaterThan(20);
  const wrong = acting.filter(({ verbs: { frees = '', costs = '' } }) =>
    [frees, costs].some((text) => !/^[A-Z].+\.$/.test(text) || text.length > TWO_LINES),
  );
  expect(wrong.map(({ name }) => name)).toEqual([]);
});
