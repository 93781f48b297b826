import { createClaude } from '../../src/agents/claude/create-claude.ts';
import type { ClaudeModel } from '../../src/agents/claude/run-role.ts';
import { createPlaybook } from '../../src/agents/playbook/create-playbook.ts';
import type { Investigator } from '../../src/agents/ports.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import type { AnyTool } from '../../src/tools/define.ts';
import { offeredTools } from './offered-tools.ts';
import type { RecordedSession } from './recorded-session.ts';
import type { Scenario } from './scenario.ts';

/** Makes the investigator of one scenario. */
export type MakeInvestigator = (scenario: Scenario, session: RecordedSession) => Investigator;

/** The playbook without its waits: the second look is recorded, and time does not pass in a recording. */
export function replayPlaybook(runbooks: readonly Runbook[]): MakeInvestigator {
  const playbook = createPlaybook({ runbooks: () => unhurried(runbooks) });
  return () => playbook;
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
      ...(runbooks === undefined ? {} : { runbooks: () => unhurried(runbooks) }),
      sceptic,
      tools: offeredTools(scenario, tools),
      targets: session.incident.target === null ? [] : [session.incident.target],
      toolCalls: async () => session.record().toolCalls,
    });
}
