import { parseIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayStory, sayText } from '../../outbound/tell.ts';
import { readableBy } from '../../people/access.ts';
import { cut } from '../../views/blocks/text.ts';
import { type Asked, incidentHere, notToSee } from './command.ts';
import { NONE_TO_TELL } from './incidents-command.ts';

/** Of so many incidents the newest that may be read of is told. */
const LOOKED_AT = 15;

/** `/sentry why [INC-7]`: the named incident, else the thread's, else the newest. */
export async function whyCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { records } = context.deps;
  const { userId, channel, rest } = asked;
  const id = rest ? parseIncidentId(rest) : undefined;
  if (rest && !id)
    return sayText(`“${cut(rest, 60)}” is not an incident’s number. Say it like this: /sentry why INC-7`);
  const here = await incidentHere(context, asked);
  const newest =
    id || here ? [] : await readableBy(context, userId, channel, await records.list({ limit: LOOKED_AT }));
  const chosen = id ?? here ?? newest[0]?.id;
  if (!chosen) return sayText(NONE_TO_TELL);
  const record = await records.load(chosen);
  const may =
    record !== null && (chosen === here || (await context.access.mayRead(userId, record.incident, channel)));
  return may ? sayStory(context.deps.why(record)) : sayText(notToSee(chosen));
}
