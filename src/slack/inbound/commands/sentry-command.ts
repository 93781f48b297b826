import { closestName } from '../../../core/closest-name.ts';
import { readIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { cut } from '../../views/blocks/text.ts';
import { COMMANDS } from './all-commands.ts';
import type { Asked } from './command.ts';
import { whyCommand } from './why-command.ts';

/** Answers `/sentry …`: a command of the table, or an incident's number. */
export async function sentryCommand(context: SlackContext, asked: Omit<Asked, 'rest'>): Promise<Say> {
  const [word = 'help', ...others] = asked.text.trim().split(/\s+/).filter(Boolean);
  const typed = others.join(' ');
  // “inc 7” and “#7” are INC-7; a bare number may be anything.
  const rest = (/^(?:inc|#)/i.test(typed) ? readIncidentId(typed) : undefined) ?? typed;
  const command = COMMANDS.find(({ name }) => name === word.toLowerCase());
  if (command) return command.run(context, { ...asked, rest });
  if (readIncidentId(asked.text)) return whyCommand(context, { ...asked, rest: asked.text });
  return sayText(unknownName(word));
}

function unknownName(word: string): string {
  const near = closestName(
    word,
    COMMANDS.map(({ name }) => name),
  );
  const meant = near === null ? '' : ` Did you mean “${near}”?`;
  return `I do not know “${cut(word, 40)}”.${meant} /sentry help lists what I can do.`;
}
