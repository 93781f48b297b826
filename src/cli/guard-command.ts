import { Command } from 'commander';
import { z } from 'zod';
import { parseCommand } from '../safety/commands/parse-command.ts';
import { defaultCommandPolicy } from '../safety/commands/policy.ts';
import { mapJsonLines } from './json-lines.ts';

const Input = z.object({ id: z.union([z.string(), z.number()]), text: z.string() });

export const guardCommandCommand = new Command('command')
  .description(
    'Judge diagnostic commands: JSON lines {id,text} in, {id,allowed,argv?,reason} out. Runs nothing.',
  )
  .action(() =>
    mapJsonLines(Input, ({ id, text }) => {
      const decision = parseCommand(text, defaultCommandPolicy);
      if (decision.allowed) return { id, allowed: true, argv: decision.argv, reason: 'in the grammar' };
      const { rule, reason, allowedInstead } = decision;
      return { id, allowed: false, reason, rule, allowedInstead };
    }),
  );
