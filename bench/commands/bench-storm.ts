import { Command } from 'commander';
import { runBench } from './run-bench.ts';
import { wholeNumber } from './whole-number.ts';

interface Options {
  readonly alerts?: number;
  readonly problems: number;
  readonly seconds?: number;
  readonly wait: number;
  readonly json: boolean;
}

export const benchStormCommand = new Command('storm')
  .description(
    'Many problems at once by the product as it is started: how soon each is told of in Slack, in which order, and what is lost.',
  )
  .option('--alerts <n>', 'how many alerts; as many as problems when left out', wholeNumber)
  .option('--problems <n>', 'how many problems they are of', wholeNumber, 50)
  .option('--seconds <n>', 'spread over so many seconds; at once when left out', wholeNumber)
  .option('--wait <n>', 'how long to wait for all of it to stand in Slack, seconds', wholeNumber, 1_200)
  .option('--json', 'one JSON document on stdout', false)
  .action(async (_: Options, command: Command) => {
    // `--json` is an option of `bench` too, which takes it first.
    const { alerts, problems, seconds, wait, json } = command.optsWithGlobals<Options>();
    await runBench([
      'storm',
      '--problems',
      String(problems),
      '--wait',
      String(wait),
      ...(alerts === undefined ? [] : ['--alerts', String(alerts)]),
      ...(seconds === undefined ? [] : ['--seconds', String(seconds)]),
      ...(json ? ['--json'] : []),
    ]);
  });
