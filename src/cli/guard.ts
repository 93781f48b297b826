import { Command } from 'commander';
import { z } from 'zod';
import { parseCommand } from '../safety/commands/parse-command.ts';
import { defaultCommandPolicy } from '../safety/commands/policy.ts';
import { findInjection } from '../safety/injection/find-injection.ts';
import { checkPath } from '../safety/paths/check-path.ts';
import { checkUrl } from '../safety/urls/check-url.ts';
import { mapJsonLines, NamedText } from './json-lines.ts';

const injection = new Command('injection')
  .description(
    'Look for instructions to the model in texts that are data: JSON lines {id,text} in, {id,flagged,findings} out.',
  )
  .action(() =>
    mapJsonLines(NamedText, ({ id, text }) => {
      const findings = findInjection(text);
      return { id, flagged: findings.length > 0, findings };
    }),
  );

const command = new Command('command')
  .description(
    'Judge diagnostic commands: JSON lines {id,text} in, {id,allowed,argv?,reason} out. Runs nothing.',
  )
  .action(() =>
    mapJsonLines(NamedText, ({ id, text }) => {
      const decision = parseCommand(text, defaultCommandPolicy);
      if (decision.allowed) return { id, allowed: true, argv: decision.argv, reason: 'in the grammar' };
      const { rule, reason, allowedInstead } = decision;
      return { id, allowed: false, reason, rule, allowedInstead };
    }),
  );

const path = new Command('path')
  .description('Judge file paths: JSON lines {id,text} in, {id,allowed,resolved?,reason} out. Opens nothing.')
  .requiredOption('--root <dir>', 'the folder the paths belong to')
  .action(({ root }: { root: string }) =>
    mapJsonLines(NamedText, async ({ id, text }) => {
      const checked = await checkPath(root, text);
      if (!checked.ok) return { id, allowed: false, reason: checked.reason, code: checked.code };
      const reason = checked.kind === 'missing' ? 'inside the root; nothing is there' : 'inside the root';
      return { id, allowed: true, resolved: checked.resolved, reason };
    }),
  );

const url = new Command('url')
  .description(
    'Judge URLs for fetch_docs: JSON lines {id,text,allow?} in, {id,allowed,reason} out. Fetches nothing.',
  )
  .action(() =>
    mapJsonLines(NamedText.extend({ allow: z.array(z.string()).optional() }), ({ id, text, allow }) => {
      const checked = checkUrl(text, allow);
      return checked.ok
        ? { id, allowed: true, reason: `https to ${checked.host}` }
        : { id, allowed: false, reason: checked.reason, code: checked.code };
    }),
  );

export const guardCommand = new Command('guard')
  .description('Ask the guards what they would say, line by line, without doing anything.')
  .addCommand(injection)
  .addCommand(command)
  .addCommand(path)
  .addCommand(url);
