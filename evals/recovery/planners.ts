import { createClaude } from '../../src/agents/claude/create-claude.ts';
import type { ClaudeModel } from '../../src/agents/claude/run-role.ts';
import { createPlaybook } from '../../src/agents/playbook/create-playbook.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
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

export function playbookPlanner(runbooks: readonly Runbook[]): Planner {
  return {
    name: 'playbook',
    make: () => ({ playbook: createPlaybook({ runbooks: () => unhurried(runbooks) }), claude: null }),
  };
}

/** The configured model, with the playbook behind it as in production. */
export function claudePlanner(
  llm: ClaudeModel,
  runbooks: readonly Runbook[],
  given: { readonly prompts?: string | undefined; readonly sceptic: boolean },
): Planner {
  const known = unhurried(runbooks);
  return {
    name: 'claude',
    make: (_, { tools, target, records }) => ({
      playbook: createPlaybook({ runbooks: () => known }),
      claude: createClaude({
        llm,
        ...(given.prompts === undefined ? {} : { prompts: given.prompts }),
        runbooks: () => known,
        sceptic: given.sceptic,
        tools,
        targets: [target.name],
        kindOf: () => target.kind,
        toolCalls: async (id) => (await records.load(id))?.toolCalls ?? [],
      }),
    }),
  };
}
