import { createClaude } from '../../src/agents/claude/create-claude.ts';
import type { ClaudeModel } from '../../src/agents/claude/run-role.ts';
import { createPlaybook } from '../../src/agents/playbook/create-playbook.ts';
import type { Investigator } from '../../src/agents/ports.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import { runbooksFor } from '../../src/runbooks/runbooks-for.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import type { AnyTool } from '../../src/tools/define.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { offeredTools } from './offered-tools.ts';
import type { RecordedSession } from './recorded-session.ts';
import type { Scenario } from './scenario.ts';

/** Runbooks are followed where the target's kind lets their steps be read, as in the product. */
const registry = createRegistry(allTools);

/** Makes the investigator of one scenario. */
export type MakeInvestigator = (scenario: Scenario, session: RecordedSession) => Investigator;

/** The playbook without its waits: the second look is recorded, and time does not pass in a recording. */
export function replayPlaybook(runbooks: readonly Runbook[]): MakeInvestigator {
  const all = unhurried(runbooks);
  return (_, { kind }) => createPlaybook({ runbooks: () => runbooksFor(all, kind.name, registry) });
}

/** Without waits between two looks: time does not pass in a recording. */
export function unhurried(runbooks: readonly Runbook[]): readonly Runbook[] {
  return runbooks.map((runbook) => ({
    ...runbook,
    steps: runbook.steps.map((step) => ({ ...step, waitMs: 0 })),
  }));
}

/**
 * Claude with the scenario's recorded tools and no others, told what the runbooks' own steps show, as in the product;
 * `prompts`: a folder whose files take the shipped ones' place.
 */
export function replayClaude(
  llm: ClaudeModel,
  tools: readonly AnyTool[],
  given: {
    readonly prompts?: string | undefined;
    readonly runbooks?: readonly Runbook[];
    readonly sceptic?: boolean | undefined;
  } = {},
): MakeInvestigator {
  const { prompts, runbooks, sceptic = false } = given;
  return (scenario, session) =>
    createClaude({
      llm,
      ...(prompts === undefined ? {} : { prompts }),
      ...(runbooks === undefined
        ? {}
        : { runbooks: () => runbooksFor(unhurried(runbooks), session.kind.name, registry) }),
      sceptic,
      tools: offeredTools(scenario, tools),
      targets: session.incident.target === null ? [] : [session.incident.target],
      toolCalls: async () => session.record().toolCalls,
    });
}
