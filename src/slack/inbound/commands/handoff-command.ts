import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import type { Asked } from './command.ts';
import { tellableHere } from './update-command.ts';

/** `/sentry handoff`: what whoever takes over has to know, of what this person may read. */
export async function handoffCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { userId, teamId, channel } = asked;
  const may = await context.directory.mayAct(userId, teamId);
  if (!may.ok) return sayText(may.reason);
  const text = await context.deps.handoff(
    async (incident) =>
      (await tellableHere(context, asked, [incident])).length > 0 &&
      (await context.access.mayRead(userId, incident, channel)),
  );
  return sayText(await context.withNames(text));
}
