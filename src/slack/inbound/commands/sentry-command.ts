import { closestName } from '../../../core/closest-name.ts';
import { parseIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { cut } from '../../views/blocks/text.ts';
import { COMMANDS } from './all-commands.ts';
import type { Asked } from './command.ts';
import { whyCommand } from './why-command.ts';

/** Answers `/sentry …`: a command of the table, or an incident's number. */
export async function sentryCommand(context: SlackContext, asked: Omit<Asked, 'rest'>): Promise<Say> {
  const [word = 'help', ...others] = asked.text.trim().split(/\s+/).filter(Boolean);
  const rest = others.join(' ');
  const command = COMMANDS.find(({ name }) => name === word.toLowerCase());
  if (command) return command.run(context, { ...asked, rest });
  if (parseIncidentId(word)) return whyCommand(context, { ...asked, rest: word });
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
