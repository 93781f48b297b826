import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, packageRoot } from '../config.ts';
import { OpsError } from '../domain/errors.ts';
import { type MakeInvestigator, replayClaude, replayPlaybook } from '../evaluation/investigators.ts';
import { readLines } from '../evaluation/read-lines.ts';
import { Scenario } from '../evaluation/scenario.ts';
import { createBackend, modelName } from '../llm/create-backend.ts';
import { createModelGateway } from '../llm/gateway.ts';
import { loadRunbooks, problemLine } from '../memory/runbooks/load-runbooks.ts';
import { allTools } from '../tools/all.ts';
import { createRegistry } from '../tools/registry.ts';

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

/** Throws OpsError CONFIG when there is no way to a model. */
export async function loadInvestigator(
  name: 'playbook' | 'claude',
  config: Config,
  wanted: { readonly model?: string; readonly prompts?: string; readonly sceptic?: boolean } = {},
): Promise<MakeInvestigator> {
  const folder = config.runbooksDir ?? join(packageRoot(), 'runbooks');
  const { runbooks, problems } = await loadRunbooks(folder, { tools: createRegistry(allTools) });
  for (const problem of problems) process.stderr.write(`${problemLine(problem)}\n`);
  if (name === 'playbook') return replayPlaybook(runbooks);
  if (config.llm === null)
    throw new OpsError('CONFIG', 'There is no way to a model.', {
      hint: 'Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a gateway.',
    });
  const llm = createModelGateway({
    backend: createBackend(config.llm),
    model: modelName(config.llm, wanted.model ?? config.model),
  });
  return replayClaude(llm, allTools, { prompts: wanted.prompts, runbooks, sceptic: wanted.sceptic });
}
