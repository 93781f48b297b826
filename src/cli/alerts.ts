import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { ZodError } from 'zod';
import type { EffortRule } from '../actions/policy/effort-rules.ts';
import { readPolicy } from '../actions/policy/read-policy.ts';
import type { Config } from '../config/config.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import { groupSituation, Situation } from '../incidents/correlation/situations.ts';
import { openMutes } from '../incidents/mutes/mute.ts';
import { formatPreview, previewEfforts } from '../incidents/preview-efforts.ts';
import { wholeMatcher } from '../safety/alert-matcher.ts';
import { kinds } from '../targets/kinds.ts';
import { readText } from './read-alerts.ts';
import { wholeNumber } from './whole-number.ts';
import { withStore } from './with-store.ts';

export const alertsCommand = new Command('alerts')
  .description('Look at the alerts on record, and at which belong together.')
  .addCommand(
    new Command('preview')
      .description('Say how much each rule of effort, and each mute, would have matched; nothing is changed.')
      .option('--days <n>', 'so many days back', wholeNumber(365), 90)
      .option('--json', 'the same as JSON', false)
      .action(({ days, json }: { readonly days: number; readonly json: boolean }) =>
        withStore(async ({ sql }, config) => {
          const muted = [...(await openMutes(sql)), ...config.maintenance].map(({ matcher }) => matcher);
          const mutes = [...new Set(muted)].flatMap((text) => {
            const read = wholeMatcher(text);
            return read.ok ? [read.matcher] : [];
          });
          const preview = await previewEfforts(sql, { rules: effortRules(config), mutes, days });
          process.stdout.write(
            json ? `${JSON.stringify(preview)}\n` : `${formatPreview(preview).join('\n')}\n`,
          );
        }),
      ),
  )
  .addCommand(
    new Command('correlate')
      .description('Say which alerts of a situation are one problem, and why, as JSON. Nothing is stored.')
      .requiredOption(
        '--file <file>',
        'lines of {"id", "targets", "changes", "alerts"}; - for standard input',
      )
      .option('--window <minutes>', 'how close together they begin', wholeNumber(120), 15)
      .action(({ file, window }: { readonly file: string; readonly window: number }) => {
        for (const situation of readSituations(readText(file), file))
          process.stdout.write(`${JSON.stringify(groupSituation(situation, kinds, window * 60_000))}\n`);
      }),
  );

/** With the line of the first that is none. */
function readSituations(text: string, file: string): readonly Situation[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [Situation.parse(JSON.parse(line))];
    } catch (error) {
      throw new OpsError('BAD_SITUATION', `${file}:${index + 1}: ${inWords(error)}`, {
        hint: 'docs/commands.md has an example.',
      });
    }
  });
}

/** Of the policy as it is in its file now. */
function effortRules({ policy: { path } }: Config): readonly EffortRule[] {
  if (!existsSync(path)) return [];
  const found = readPolicy(readFileSync(path, 'utf8'), null);
  if ('effort' in found) return found.effort;
  throw new OpsError(
    'POLICY',
    found.problems.map(({ line, message }) => `${path}:${line}: ${message}`).join('; '),
    { hint: 'docs/operations.md has an example.' },
  );
}

const inWords = (error: unknown): string =>
  error instanceof ZodError
    ? error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')
    : messageOf(error);
