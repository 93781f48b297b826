import { Command } from 'commander';
import { z } from 'zod';
import { checkPath } from '../safety/paths/check-path.ts';
import { mapJsonLines } from './json-lines.ts';

const Input = z.object({ id: z.union([z.string(), z.number()]), text: z.string() });

export const guardPathCommand = new Command('path')
  .description('Judge file paths: JSON lines {id,text} in, {id,allowed,resolved?,reason} out. Opens nothing.')
  .requiredOption('--root <dir>', 'the folder the paths belong to')
  .action(({ root }: { root: string }) =>
    mapJsonLines(Input, async ({ id, text }) => {
      const checked = await checkPath(root, text);
      if (!checked.ok) return { id, allowed: false, reason: checked.reason, code: checked.code };
      const reason = checked.kind === 'missing' ? 'inside the root; nothing is there' : 'inside the root';
      return { id, allowed: true, resolved: checked.resolved, reason };
    }),
  );
