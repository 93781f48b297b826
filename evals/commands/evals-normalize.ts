import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../src/config/config.ts';
import { OpsError } from '../../src/core/errors.ts';
import { whyNot } from '../../src/core/system-fault.ts';
import { addMappings, alertSources } from '../../src/sources/registry.ts';
import { Sample, scoreFields } from '../normalize/score-fields.ts';
import { Delivery, identifyInMemory, scoreStreams } from '../normalize/score-streams.ts';
import { readLines } from '../score/read-lines.ts';

const Line = z.union([Delivery, Sample]);

export const evalsNormalizeCommand = new Command('normalize')
  .description(
    'Score what is read of labelled payloads, by source, and which deliveries are taken for one problem; docs/evals.md has the fields.',
  )
  .requiredOption('--data <folder>', 'its .jsonl files hold lines of samples or of deliveries')
  .option('--json', 'the same as JSON', false)
  .action(async ({ data, json }: { readonly data: string; readonly json: boolean }) => {
    addMappings(loadConfig().sourcesDir);
    const lines = (await Promise.all((await filesIn(data)).map((file) => readLines(file, Line)))).flat();
    const fields = await scoreFields(
      lines.filter((line) => 'expected' in line),
      alertSources,
    );
    const identity = await scoreStreams(
      lines.filter((line) => 'problem' in line),
      alertSources,
      async () => identifyInMemory(alertSources),
    );
    process.stdout.write(
      json ? `${JSON.stringify({ fields, identity }, null, 2)}\n` : table(fields, identity),
    );
  });

async function filesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new OpsError('NOT_FOUND', `${folder} cannot be read: ${whyNot(error)}.`, {
      hint: 'Name a folder with .jsonl files.',
      cause: error,
    });
  });
  return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name));
}

function table(
  fields: Awaited<ReturnType<typeof scoreFields>>,
  { same, different, merged, split }: Awaited<ReturnType<typeof scoreStreams>>,
): string {
  const width = Math.max(0, ...fields.map(({ kind }) => kind.length));
  const rows = fields.flatMap(({ kind, right, scored, statuses, statusesRight, wrong }) => [
    `${kind.padEnd(width)}  fields ${right}/${scored}  status ${statusesRight}/${statuses}`,
    ...wrong.map((each) => `  wrong        ${each}`),
  ]);
  const pairs = [
    ...merged.map((pair) => `wrongly one  ${pair}`),
    ...split.map((pair) => `left apart   ${pair}`),
    `${merged.length} of ${different} pairs of two problems wrongly taken for one; ${split.length} of ${same} pairs of one problem left apart.`,
  ];
  return `${[...rows, ...(same + different === 0 ? [] : pairs)].join('\n')}\n`;
}
