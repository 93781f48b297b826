import { Command } from 'commander';
import { z } from 'zod';
import { findInjection } from '../safety/injection/find-injection.ts';
import { guardCommandCommand } from './guard-command.ts';
import { guardPathCommand } from './guard-path.ts';
import { guardUrlCommand } from './guard-url.ts';
import { mapJsonLines } from './json-lines.ts';

const Input = z.object({ id: z.union([z.string(), z.number()]), text: z.string() });

const injection = new Command('injection')
  .description(
    'Look for instructions to the model in texts that are data: JSON lines {id,text} in, {id,flagged,findings} out.',
  )
  .action(() =>
    mapJsonLines(Input, ({ id, text }) => {
      const findings = findInjection(text);
      return { id, flagged: findings.length > 0, findings };
    }),
  );

export const guardCommand = new Command('guard')
  .description('Ask the guards what they would say, line by line, without doing anything.')
  .addCommand(injection)
  .addCommand(guardCommandCommand)
  .addCommand(guardPathCommand)
  .addCommand(guardUrlCommand);
