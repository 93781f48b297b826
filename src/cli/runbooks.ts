import { Argument, Command } from 'commander';
import { loadConfig } from '../config/config.ts';
import { count } from '../core/count.ts';
import type { Domain } from '../core/incident.ts';
import { seedDomain } from '../memory/sync/seed-runbooks.ts';
import { syncRunbooks } from '../memory/sync/sync-runbooks.ts';
import { loadRunbooks, problemLine } from '../runbooks/load-runbooks.ts';
import { allTools } from '../targets/all-tools.ts';
import { domainsOf } from '../targets/domains.ts';
import { kinds } from '../targets/kinds.ts';
import { createRegistry } from '../tools/registry.ts';
import { exitCodes } from './fail.ts';
import { watchFolder } from './watch-folder.ts';
import { type CommandMemory, withMemory } from './with-memory.ts';

const domains = domainsOf(kinds);

/** The runbooks of a folder; what is wrong with them goes to stderr. */
async function load(dir: string) {
  const loaded = await loadRunbooks(dir, { tools: createRegistry(allTools), domains });
  for (const problem of loaded.problems) process.stderr.write(`${problemLine(problem)}\n`);
  return loaded;
}

const validate = new Command('validate')
  .description(
    'Check runbook files: format, expressions, tool names and inputs. Exit code 1 when one has a problem.',
  )
  .argument('[dir]', 'a folder of runbooks; the configured one when left out')
  .action(async (dir: string | undefined) => {
    const folder = dir ?? loadConfig().runbooksDir;
    const { runbooks, problems } = await load(folder);
    process.stdout.write(
      `${count(runbooks.length, 'runbook')} good, ${count(problems.length, 'problem')}.\n`,
    );
    if (problems.length > 0) process.exitCode = exitCodes.failed;
  });

const seed = new Command('seed')
  .description(
    'Put the runbook files into memory: what was added, changed and left is told in chunks. Promoted runbooks stay.',
  )
  .addArgument(new Argument('[domain]', 'only of this domain').choices(domains))
  .option('--watch', 'go on, and do it again whenever a file changes', false)
  .option('--json', 'one JSON line a domain', false)
  .action(
    async (domain: Domain | undefined, options: { readonly watch: boolean; readonly json: boolean }) => {
      const wanted = domain === undefined ? domains : [domain];
      await withMemory(async (memory) => {
        const dir = memory.config.runbooksDir;
        const seedNow = () => seedFiles(memory, dir, wanted, options.json);
        await seedNow();
        if (options.watch) await watchFolder(dir, seedNow);
      });
    },
  );

async function seedFiles(
  memory: CommandMemory,
  dir: string,
  wanted: readonly Domain[],
  json: boolean,
): Promise<void> {
  const { runbooks, problems } = await load(dir);
  // A slip of the pen in one file must not take its runbook out of memory.
  const incomplete = problems.length > 0;
  if (incomplete) {
    process.stderr.write('Nothing is removed while a file has a problem.\n');
    process.exitCode = exitCodes.failed;
  } else process.exitCode = 0;
  for (const domain of wanted) {
    // By words first: they find it while it is still being embedded.
    await syncRunbooks(memory.retrieval, domain, runbooks, { incomplete });
    const { added, changed, removed, unchanged } = await seedDomain(memory, domain, runbooks, {
      incomplete,
      onProgress: (done, of) => {
        if (process.stderr.isTTY) process.stderr.write(`\r${domain}: ${done} of ${of} embedded`);
        if (process.stderr.isTTY && done === of) process.stderr.write('\n');
      },
    });
    const counts = { domain, added, changed, removed, unchanged };
    process.stdout.write(
      json
        ? `${JSON.stringify(counts)}\n`
        : `${domain}: ${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged\n`,
    );
  }
}

export const runbooksCommand = new Command('runbooks')
  .description('Work with runbooks.')
  .addCommand(validate)
  .addCommand(seed);
