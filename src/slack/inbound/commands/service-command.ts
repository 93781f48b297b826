import { namedIncident, parseIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { type Asked, type Command, type HelpGroup, incidentHere, notToSee } from './command.ts';

/** One that a service of ours answers, in plain lines: `deps.commands` of its name. */
export const serviceCommand = (name: string, group: HelpGroup, forms: Command['forms']): Command => ({
  name,
  group,
  forms,
  run: (context, asked) => askService(context, name, asked, group === 'Ask'),
});

/** As if it had been typed: whatever asks goes the same way. */
export async function askService(
  context: SlackContext,
  name: string,
  asked: Asked,
  share = false,
): Promise<Say> {
  const { commands, records } = context.deps;
  const { userId, teamId, channel, rest } = asked;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return sayText(`“${name}” is not available here.`);
  const may = await context.directory.mayAct(userId, teamId);
  if (!may.ok) return sayText(may.reason);
  const incidentId = await incidentHere(context, asked);
  // Whatever is asked for: what may not be read can neither be stopped nor gone on with, nor be learnt of by trying.
  const [first = ''] = rest.split(' ');
  const named = name === 'cost' ? parseIncidentId(first) : namedIncident(first);
  if (named && named !== incidentId) {
    const found = await records.load(named);
    const mayRead = found && (await context.access.mayRead(userId, found.incident, channel));
    if (!mayRead) return sayText(notToSee(named));
  }
  const say = (words: string): void => asked.say(sayText(words));
  const told = sayText(await context.withNames(await command({ text: rest, by: userId, incidentId, say })));
  return { ...told, share };
}
