import { Argument, Command } from 'commander';
import { benchGrowthCommand } from './bench-growth.ts';
import { benchInjectionCommand } from './bench-injection.ts';
import { benchRetrievalCommand } from './bench-retrieval.ts';
import { benchStormCommand } from './bench-storm.ts';
import { runBench } from './run-bench.ts';

export const benchCommand = new Command('bench')
  .description(
    'Measure, on databases of its own that are removed afterwards; bench/README.md says what and how.',
  )
  .addArgument(
    new Argument('<what>', 'what to measure').choices([
      'startup',
      'ingest',
      'overhead',
      'concurrency',
      'agent',
      'fan-out',
      'audit',
      'changes',
      'scanner',
      'distance',
      'log-watcher',
    ]),
  )
  .option('--json', 'one JSON document on stdout', false)
  .action(async (what: string, { json }: { readonly json: boolean }) => {
    await runBench([what, ...(json ? ['--json'] : [])]);
  })
  .addCommand(benchInjectionCommand)
  .addCommand(benchRetrievalCommand)
  .addCommand(benchGrowthCommand)
  .addCommand(benchStormCommand);
