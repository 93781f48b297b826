import { resolve } from 'node:path';
import { Command } from 'commander';
import { runBench } from './run-bench.ts';

interface Options {
  readonly rows: string;
  readonly dev?: string;
  readonly write?: string;
  readonly json: boolean;
}

export const benchInjectionCommand = new Command('injection')
  .description(
    'What rules, linear model and both find of orders to a model, of sources left out of training.',
  )
  .requiredOption('--rows <folder>', 'holds positives.train.jsonl and negatives.train.jsonl')
  .option(
    '--dev <folder>',
    'holds positives.dev.jsonl and negatives.dev.jsonl: what the screen that ships finds',
  )
  .option('--write <file>', 'learn from all rows and write the weights')
  .option('--json', 'one JSON document on stdout', false)
  .action(async (_: Options, command: Command) => {
    // `--json` is an option of `bench` too, which takes it first.
    const { rows, dev, write, json } = command.optsWithGlobals<Options>();
    await runBench([
      'injection',
      '--rows',
      resolve(rows),
      ...(dev === undefined ? [] : ['--dev', resolve(dev)]),
      ...(write === undefined ? [] : ['--write', resolve(write)]),
      ...(json ? ['--json'] : []),
    ]);
  });
