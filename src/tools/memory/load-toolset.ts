import { z } from 'zod';
import { defineMemoryTool } from '../define.ts';

/** Its name, by which the gate finds on record what has been loaded. */
export const LOAD_TOOLSET = 'load_toolset';

/**
 * What is declared never changes within an incident (a model's cache and history depend on it): loading only lets the gate
 * through. For roles that may write; the reading tools need no loading.
 */
export const loadToolset = defineMemoryTool({
  name: LOAD_TOOLSET,
  description:
    'Makes the writing tools of a toolset work for the rest of this incident; until then they are refused. Load `memory` with include_write_tools when there is something worth keeping for the next incident.',
  kind: 'memory_write',
  input: z.strictObject({
    toolset: z.enum(['memory']),
    include_write_tools: z.boolean().default(false).describe('The reading ones work anyway.'),
  }),
  timeoutMs: 1_000,
  run: async (_context, { toolset, include_write_tools }) => ({
    text: include_write_tools
      ? `The toolset ${toolset} is loaded with its writing tools.`
      : `The reading tools of ${toolset} work already; for the others say include_write_tools.`,
    data: { toolset, include_write_tools },
  }),
});
