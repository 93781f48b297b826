import { z } from 'zod';
import type { OfferedTool } from '../../src/agents/claude/role-tools.ts';
import type { AnyTool } from '../../src/tools/define.ts';
import type { Scenario } from './scenario.ts';

/** Names as the Messages API takes them. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const DESCRIPTION_CHARACTERS = 1_500;

/**
 * What a model may call in a scenario: the recorded tools and nothing else. Ours keep their descriptions and inputs;
 * others are described by the inputs they were recorded with.
 */
export function offeredTools(scenario: Scenario, ours: readonly AnyTool[]): readonly OfferedTool[] {
  const recorded = [...new Set(scenario.tool_outputs.map(({ tool }) => tool))].filter((name) =>
    NAME.test(name),
  );
  return recorded.map((name) => {
    const known = ours.find((tool) => tool.name === name);
    if (known?.kind === 'read' || known?.kind === 'diagnostic')
      return { name, description: known.description, kind: known.kind, input: known.input };
    return foreignTool(name, scenario);
  });
}

function foreignTool(name: string, { tool_outputs }: Scenario): OfferedTool {
  const inputs = tool_outputs.filter(({ tool }) => tool === name).map(({ args }) => args);
  const keys = [...new Set(inputs.flatMap((args) => Object.keys(args)))];
  const examples = [...new Set(inputs.map((args) => JSON.stringify(args)))].join(' ');
  return {
    name,
    kind: 'read',
    description: `Recorded output of ${name}. Recorded inputs: ${examples}`.slice(0, DESCRIPTION_CHARACTERS),
    input: z.object(
      Object.fromEntries(keys.map((key) => [key, z.union([z.string(), z.number(), z.boolean()]).optional()])),
    ),
  };
}
