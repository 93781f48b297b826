import { type IncidentId, readIncidentId } from '../../../core/ids.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import type { SlackContext } from '../../context.ts';
import { shortState } from '../../outbound/answers/short-answer.ts';
import { type Say, sayStory, sayText } from '../../outbound/tell.ts';
import { readableBy } from '../../people/access.ts';
import { messageUrl } from '../../people/identity.ts';
import { link, paragraph, prose } from '../../views/blocks/build.ts';
import { cut } from '../../views/blocks/text.ts';
import { type Asked, incidentHere, notToSee } from './command.ts';
import { NONE_TO_TELL } from './incidents-command.ts';
import { withNext } from './what-next.ts';

/** Of so many incidents the newest that may be read of is told. */
const LOOKED_AT = 15;

/** `/sentry why [INC-7]`: the named incident, else the thread's, else the newest. */
export async function whyCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const record = await recordFor(context, asked, 'why');
  return 'text' in record ? record : about(context, record, sayStory(context.deps.why(record)));
}

/** `/sentry status` is of Sentry itself, `/sentry status INC-7` of an incident. */
export async function statusCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const may = await context.directory.mayAct(asked.userId, asked.teamId);
  if (!may.ok) return sayText(may.reason);
  if (asked.rest === '') return { ...sayText((await context.statusLines()).join('\n')), share: true };
  const record = await recordFor(context, asked, 'status');
  return 'text' in record ? record : about(context, record, await shortState(context, record));
}

async function recordFor(context: SlackContext, asked: Asked, name: string): Promise<IncidentRecord | Say> {
  const { records } = context.deps;
  const { userId, channel, rest } = asked;
  const id = rest ? readIncidentId(rest) : undefined;
  if (rest && !id)
    return sayText(`“${cut(rest, 60)}” is not an incident’s number. Say it like this: /sentry ${name} INC-7`);
  const here = await incidentHere(context, asked);
  const chosen = id ?? here ?? (await newestFor(context, userId, channel));
  if (!chosen) return sayText(NONE_TO_TELL);
  const record = await records.load(chosen);
  const may =
    record !== null && (chosen === here || (await context.access.mayRead(userId, record.incident, channel)));
  return may ? record : sayText(notToSee(chosen));
}

async function newestFor(
  context: SlackContext,
  userId: string,
  channel: string,
): Promise<IncidentId | undefined> {
  const newest = await context.deps.records.list({ limit: LOOKED_AT });
  return (await readableBy(context, userId, channel, newest))[0]?.id;
}

/** With where it is talked about, and what comes next. */
function about(context: SlackContext, { incident }: IncidentRecord, say: Say): Say {
  const { channel, threadTs } = incident;
  const thread =
    channel && threadTs
      ? [prose(paragraph(link(messageUrl(context.identity(), channel, threadTs), 'Open its thread')))]
      : [];
  return { ...withNext({ ...say, blocks: [...(say.blocks ?? []), ...thread] }, incident), share: true };
}
