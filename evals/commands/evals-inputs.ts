import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promptsVersion } from '../../src/agents/claude/load-prompt.ts';
import { type Config } from '../../src/config/config.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import { OpsError } from '../../src/core/errors.ts';
import { createBackend, modelName } from '../../src/llm/create-backend.ts';
import { createModelGateway } from '../../src/llm/gateway.ts';
import { loadRunbooks, problemLine } from '../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { loadRecoveryCases } from '../recovery/load-cases.ts';
import { CONFIDENTLY_WRONG, claudePlanner, ORACLE, playbookPlanner } from '../recovery/planners.ts';
import type { Planner } from '../recovery/play.ts';
import { type MakeInvestigator, replayClaude, replayPlaybook } from '../replay/investigators.ts';
import { Scenario } from '../replay/scenario.ts';
import { readLines } from '../score/read-lines.ts';

/** The scenarios of a file, or all that come with Sentry. Throws OpsError for a file that cannot be read or has an id twice. */
export async function loadScenarios(file: string | undefined): Promise<readonly Scenario[]> {
  const files = file === undefined ? await ownFiles() : [file];
  const scenarios = (await Promise.all(files.map((path) => readLines(path, Scenario)))).flat();
  const ids = new Set<string>();
  for (const { id } of scenarios) {
    if (ids.has(id))
      throw new OpsError('EVALS_FILE', `The scenario ${id} is there twice.`, { hint: 'Rename one.' });
    ids.add(id);
  }
  return scenarios;
}

async function ownFiles(): Promise<readonly string[]> {
  const folder = join(packageRoot(), 'evals', 'incidents');
  const names = await readdir(folder).catch((error: unknown) => {
    throw new OpsError('NOT_FOUND', `The recorded incidents are not in ${folder}.`, {
      hint: 'They come with the source; name a file of your own with --scenarios.',
      cause: error,
    });
  });
  return names
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
    .map((name) => join(folder, name));
}

interface Wanted {
  readonly model?: string;
  readonly prompts?: string;
  readonly sceptic?: boolean;
}

/** Throws OpsError CONFIG when there is no way to a model. */
export async function loadInvestigator(
  name: 'playbook' | 'claude',
  config: Config,
  wanted: Wanted = {},
): Promise<MakeInvestigator> {
  const runbooks = await ownRunbooks(config);
  if (name === 'playbook') return replayPlaybook(runbooks);
  return replayClaude(modelOf(config, wanted), allTools, {
    prompts: wanted.prompts,
    runbooks,
    sceptic: wanted.sceptic,
  });
}

/** Who plays the recovery cases: the investigator that was asked for, and two that are given. Throws as above. */
export async function loadPlanners(
  name: 'playbook' | 'claude',
  config: Config,
  wanted: Wanted = {},
): Promise<readonly Planner[]> {
  const runbooks = await ownRunbooks(config);
  const asked =
    name === 'playbook'
      ? playbookPlanner(runbooks)
      : claudePlanner(modelOf(config, wanted), runbooks, {
          prompts: wanted.prompts,
          sceptic: wanted.sceptic ?? false,
        });
  return [asked, ORACLE, CONFIDENTLY_WRONG];
}

/** The recovery cases of a folder, or those that come with Sentry. */
export const loadCases = (folder: string | undefined) =>
  loadRecoveryCases(folder ?? join(packageRoot(), 'evals', 'recovery'));

/** Throws OpsError for a folder that changes no prompt: a run with it would be taken for a comparison that it is not. */
export function checkPrompts(folder: string): void {
  if (promptsVersion(folder) !== promptsVersion()) return;
  throw new OpsError('NOT_FOUND', `${folder} holds no prompt that differs from the shipped ones.`, {
    hint: 'Put a policy.md, triage.md or detective.md of yours there.',
  });
}

async function ownRunbooks(config: Config) {
  const { runbooks, problems } = await loadRunbooks(config.runbooksDir, { tools: createRegistry(allTools) });
  for (const problem of problems) process.stderr.write(`${problemLine(problem)}\n`);
  return runbooks;
}

function modelOf(config: Config, wanted: Wanted) {
  if (config.llm === null)
    throw new OpsError('CONFIG', 'There is no way to a model.', {
      hint: 'Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a gateway.',
    });
  return createModelGateway({
    backend: createBackend(config.llm),
    model: modelName(config.llm, wanted.model ?? config.model),
  });
}
