import { join } from 'node:path';
import { Command } from 'commander';
import { loadConfig, packageRoot } from '../config.ts';
import { loadRunbooks, problemLine } from '../memory/runbooks/load-runbooks.ts';
import { allTools } from '../tools/all.ts';
import { createRegistry } from '../tools/registry.ts';
import { exitCodes } from './fail.ts';

const validate = new Command('validate')
  .description(
    'Check runbook files: format, expressions, tool names and inputs. Exit code 1 when one has a problem.',
  )
  .argument('[dir]', 'a folder of runbooks; the configured one when left out')
  .action(async (dir: string | undefined) => {
    const folder = dir ?? loadConfig().runbooksDir ?? join(packageRoot(), 'runbooks');
    const { runbooks, problems } = await loadRunbooks(folder, { tools: createRegistry(allTools) });
    for (const problem of problems) process.stderr.write(`${problemLine(problem)}\n`);
    process.stdout.write(`${runbooks.length} runbooks are good, ${problems.length} problems.\n`);
    if (problems.length > 0) process.exitCode = exitCodes.failed;
  });

export const runbooksCommand = new Command('runbooks')
  .description('Work with runbooks.')
  .addCommand(validate);
