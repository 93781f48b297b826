import { Command } from 'commander';
import { z } from 'zod';
import { checkUrl } from '../safety/urls/check-url.ts';
import { mapJsonLines } from './json-lines.ts';

const Input = z.object({
  id: z.union([z.string(), z.number()]),
  text: z.string(),
  allow: z.array(z.string()).optional(),
});

export const guardUrlCommand = new Command('url')
  .description(
    'Judge URLs for fetch_docs: JSON lines {id,text,allow?} in, {id,allowed,reason} out. Fetches nothing.',
  )
  .action(() =>
    mapJsonLines(Input, ({ id, text, allow }) => {
      const checked = checkUrl(text, allow);
      return checked.ok
        ? { id, allowed: true, reason: `https to ${checked.host}` }
        : { id, allowed: false, reason: checked.reason, code: checked.code };
    }),
  );
