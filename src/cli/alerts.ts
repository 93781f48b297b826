import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { EffortRule } from '../actions/policy/effort-rules.ts';
import { readPolicy } from '../actions/policy/read-policy.ts';
import type { Config } from '../config/config.ts';
import { OpsError } from '../core/errors.ts';
import { openMutes } from '../incidents/mutes/mute.ts';
import { formatPreview, previewEfforts } from '../incidents/preview-efforts.ts';
import { wholeMatcher } from '../safety/alert-matcher.ts';
import { wholeNumber } from './whole-number.ts';
import { withStore } from './with-store.ts';

export const alertsCommand = new Command('alerts').description('Look at the alerts on record.').addCommand(
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
);

/** Of the policy as it is in its file now. */
function effortRules({ policy: { path }, oncallGroup, admins }: Config): readonly EffortRule[] {
  if (!existsSync(path)) return [];
  const found = readPolicy(readFileSync(path, 'utf8'), { oncallGroup, admins }, null);
  if ('effort' in found) return found.effort;
  throw new OpsError(
    'POLICY',
    found.problems.map(({ line, message }) => `${path}:${line}: ${message}`).join('; '),
    { hint: 'docs/operations.md has an example.' },
  );
}
