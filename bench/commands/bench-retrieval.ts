import { resolve } from 'node:path';
import { Command } from 'commander';
import { runBench } from './run-bench.ts';
import { wholeNumber } from './whole-number.ts';

interface Options {
  readonly corpus: string;
  readonly queries: string;
  readonly compare: boolean;
  readonly documents?: number;
  readonly json: boolean;
}

export const benchRetrievalCommand = new Command('retrieval')
  .description(
    'Find the runbooks of queries with known answers: nDCG@10, MRR, hit@5 and how long a search takes.',
  )
  .requiredOption('--corpus <file>', 'JSON lines {id,title,domain,text}')
  .requiredOption('--queries <file>', 'JSON lines {qid,variant,text,relevant[]}')
  .option('--compare', 'also baselines, and the ranking without each of its parts', false)
  .option('--documents <n>', 'instead: latency at this many documents, while others write', wholeNumber)
  .option('--json', 'one JSON document on stdout', false)
  .action(async (_: Options, command: Command) => {
    // `--json` is an option of `bench` too, which takes it first.
    const { corpus, queries, compare, documents, json } = command.optsWithGlobals<Options>();
    await runBench([
      'retrieval',
      '--corpus',
      resolve(corpus),
      '--queries',
      resolve(queries),
      ...(compare ? ['--compare'] : []),
      ...(documents === undefined ? [] : ['--documents', String(documents)]),
      ...(json ? ['--json'] : []),
    ]);
  });
