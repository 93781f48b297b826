import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../../src/config/package-root.ts';
import { scoreSituations } from '../correlation/score-situations.ts';

export const evalsCorrelationCommand = new Command('correlation')
  .description(
    'Score which alerts are taken for one problem, on labelled situations; docs/evals.md has the fields.',
  )
  .option('--file <file>', 'lines of situations with what is expected; those in evals/ when left out')
  .option('--json', 'the same as JSON', false)
  .action(({ file, json }: { readonly file?: string; readonly json: boolean }) => {
    const scored = scoreSituations(
      readFileSync(file ?? join(packageRoot(), 'evals/correlation/situations.jsonl'), 'utf8'),
    );
    if (json) {
      process.stdout.write(`${JSON.stringify(scored, null, 2)}\n`);
      return;
    }
    const { must, mustNot, share, wronglyMerged, missed } = scored;
    for (const pair of wronglyMerged) process.stdout.write(`wrongly one  ${pair}\n`);
    for (const pair of missed) process.stdout.write(`left apart   ${pair}\n`);
    process.stdout.write(
      `${wronglyMerged.length} pairs wrongly taken for one in ${must + mustNot} situations; of ${must} with one problem on several systems ${(share * 100).toFixed(0)} % put together.\n`,
    );
  });
