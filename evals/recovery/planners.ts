import { createClaude } from '../../src/agents/claude/create-claude.ts';
import type { ClaudeModel } from '../../src/agents/claude/run-role.ts';
import { createPlaybook } from '../../src/agents/playbook/create-playbook.ts';
import type { Target } from '../../src/core/target.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import { runbooksFor } from '../../src/runbooks/runbooks-for.ts';
import type { Tool } from '../../src/tools/define.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { unhurried } from '../replay/investigators.ts';
import { givenPlanner } from './given-planner.ts';
import type { Planner } from './play.ts';

/** Knows what is right in every case: what it cannot reach the gate or the verification keeps it from. */
export const ORACLE: Planner = {
  name: 'oracle',
  make: (of) => ({ playbook: givenPlanner(of, of.planners.oracle), claude: null }),
};

/** Blames something else, and is sure of it: whatever is truthful beside it is not the planner's doing. */
export const CONFIDENTLY_WRONG: Planner = {
  name: 'confidently wrong',
  make: (of) => ({ playbook: givenPlanner(of, of.planners.wrong), claude: null }),
};

/** As in the product: those whose steps can be read on the target. */
const followed = (runbooks: readonly Runbook[], { kind }: Target, tools: readonly Tool[]) =>
  unhurried(runbooksFor(runbooks, kind, createRegistry(tools)));

export function playbookPlanner(runbooks: readonly Runbook[]): Planner {
  return {
    name: 'playbook',
    make: (_, { tools, target }) => ({
      playbook: createPlaybook({ runbooks: () => followed(runbooks, target, tools) }),
      claude: null,
    }),
  };
}

/** The configured model, with the playbook behind it as in production. */
export function claudePlanner(
  llm: ClaudeModel,
  runbooks: readonly Runbook[],
  given: { readonly prompts?: string | undefined; readonly sceptic: boolean },
): Planner {
  return {
    name: 'claude',
    make: (_, { tools, target, records }) => ({
      playbook: createPlaybook({ runbooks: () => followed(runbooks, target, tools) }),
      claude: createClaude({
        llm,
        ...(given.prompts === undefined ? {} : { prompts: given.prompts }),
        runbooks: () => followed(runbooks, target, tools),
        sceptic: given.sceptic,
        tools,
        targets: [target.name],
        kindOf: () => target.kind,
        toolCalls: async (id) => (await records.load(id))?.toolCalls ?? [],
      }),
    }),
  };
}
