import { Command } from 'commander';
import { runBench } from './run-bench.ts';
import { wholeNumber } from './whole-number.ts';

interface Options {
  readonly incidents: number;
  readonly auditEntries: number;
  readonly json: boolean;
}

export const benchGrowthCommand = new Command('growth')
  .description('Time what people look at on a record of a year beside an empty one, and accepting alerts.')
  .option('--incidents <n>', 'how many incidents', wholeNumber, 100_000)
  .option('--audit-entries <n>', 'how many entries of the audit log', wholeNumber, 1_000_000)
  .option('--json', 'one JSON document on stdout', false)
  .action(async (_: Options, command: Command) => {
    // `--json` is an option of `bench` too, which takes it first.
    const { incidents, auditEntries, json } = command.optsWithGlobals<Options>();
    const size = ['--incidents', String(incidents), '--audit-entries', String(auditEntries)];
    await runBench(['growth', ...size, ...(json ? ['--json'] : [])]);
  });
