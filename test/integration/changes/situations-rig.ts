import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Played, playSituation } from '../../../evals/changes/play-situation.ts';
import type { Who } from '../../../evals/changes/scene.ts';
import { scriptedDetective } from '../../../evals/changes/scripted-detective.ts';
import type { Script, Situation } from '../../../evals/changes/situation.ts';
import { loadScenarios } from '../../../evals/commands/evals-inputs.ts';
import { openRecoveryStage } from '../../../evals/recovery/recovery-stage.ts';
import { unhurried } from '../../../evals/replay/investigators.ts';
import { createScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../src/agents/claude/create-claude.ts';
import { createPlaybook } from '../../../src/agents/playbook/create-playbook.ts';
import { packageRoot } from '../../../src/config/package-root.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { runbooksFor } from '../../../src/runbooks/runbooks-for.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { quiet } from '../../support/quiet.ts';

export interface SituationsRig {
  /** By the shipped runbooks, without a model. */
  playbook(situation: Situation): Promise<Played>;
  /** By a scripted Claude that knows no runbook, with the playbook behind it. */
  claude(situation: Situation, script: Script, isRash?: boolean): Promise<Played>;
  /** Lines of its scripts that do not stand in what was recorded of their last read. */
  misquoted(situation: Situation): readonly string[];
  close(): Promise<void>;
}

/** Plays situations one after the other, each on a record of its own. */
export async function openSituations(): Promise<SituationsRig> {
  const stage = await openRecoveryStage(await loadScenarios(undefined), quiet);
  const model = await createScriptedClaude({ scenario: [] });
  const llm = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'sk-test', baseUrl: model.url }),
    retry: { baseDelayMs: 1 },
  });
  const { runbooks } = await loadRunbooks(join(packageRoot(), 'runbooks'), {
    tools: createRegistry(allTools),
  });

  const withoutModel: Who = {
    name: 'playbook',
    make: ({ tools, target }) => ({
      playbook: createPlaybook({
        runbooks: () => unhurried(runbooksFor(runbooks, target.kind, createRegistry(tools))),
      }),
      claude: null,
    }),
  };
  const withModel: Who = {
    name: 'claude',
    make: (on) => ({
      ...withoutModel.make(on),
      claude: createClaude({
        llm,
        tools: on.tools,
        targets: [on.target.name],
        kindOf: () => on.target.kind,
        toolCalls: async (id) => (await on.records.load(id))?.toolCalls ?? [],
      }),
    }),
  };

  async function play(situation: Situation, who: Who): Promise<Played> {
    const scenario = stage.scenarios.get(situation.recorded);
    if (!scenario) throw new Error(`${situation.id}: there is no recorded incident ${situation.recorded}`);
    const record = await stage.openRecord();
    try {
      return await playSituation(record, { situation, scenario, who, runbooks, log: quiet });
    } finally {
      await record.close();
    }
  }

  return {
    playbook: (situation) => play(situation, withoutModel),
    claude(situation, script, isRash = false) {
      const target = stage.scenarios.get(situation.recorded)?.target ?? '';
      model.play(scriptedDetective(script, target, isRash));
      return play(situation, withModel);
    },
    misquoted: ({ recorded, claude }) =>
      claude.flatMap(({ reads, line }) => {
        const read = reads.at(-1);
        const outputs = stage.scenarios
          .get(recorded)
          ?.tool_outputs.filter(
            ({ tool, args }) => tool === read?.tool && isDeepStrictEqual(args, read.args),
          );
        return outputs?.[0]?.output.includes(line) ? [] : [`${read?.tool}: ${line}`];
      }),
    async close() {
      model.release();
      await model.close();
      await stage.close();
    },
  };
}
