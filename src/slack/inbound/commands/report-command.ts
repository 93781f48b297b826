import { type IncidentId, readIncidentId } from '../../../core/ids.ts';
import { isEnded } from '../../../core/machine.ts';
import { minute } from '../../../incidents/reports/report-lines.ts';
import { reportStory } from '../../../incidents/reports/report-text.ts';
import type { SlackContext } from '../../context.ts';
import { drawReportOf, publishReport } from '../../outbound/publish-report.ts';
import { type Say, sayStory, sayText } from '../../outbound/tell.ts';
import { cut } from '../../views/blocks/text.ts';
import { type Asked, incidentHere, notToSee } from './command.ts';

const PLACES = {
  canvas: 'in a canvas of its channel',
  file: 'in a file in its thread',
  thread: 'in its thread',
} as const;

/** Whoever made it may still be at it for so long. */
const AT_IT_MS = 60_000;

/** `/sentry report INC-7`: the post-incident report, made once where the incident's thread is. */
export async function reportCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { rest, userId, teamId, channel } = asked;
  const id = rest ? readIncidentId(rest) : await incidentHere(context, asked);
  if (!id)
    return sayText(
      rest
        ? `“${cut(rest, 60)}” is not an incident’s number. Say it like this: /sentry report INC-7`
        : 'Say which: /sentry report INC-7',
    );
  const may = await context.directory.mayAct(userId, teamId);
  return may.ok ? reportOf(context, id, { userId, channel }) : sayText(may.reason);
}

/** For somebody who may act: makes it, or says where it is. */
export async function reportOf(
  context: SlackContext,
  id: IncidentId,
  { userId, channel }: { readonly userId: string; readonly channel: string | null },
): Promise<Say> {
  const { records, reports } = context.deps;
  const record = await records.load(id);
  if (record === null || !(await context.access.mayRead(userId, record.incident, channel)))
    return sayText(notToSee(id));
  const { incident } = record;
  if (incident.detailsDeletedAt !== null)
    return sayText(`The details of ${id} were deleted for their age: there is nothing to make a report of.`);
  const alone = async (lead: string): Promise<Say> => {
    const { report, nameOf } = await drawReportOf(context, record);
    return sayStory(`${lead}\n\n${reportStory(report, nameOf)}`);
  };
  if (!isEnded(incident.state)) return alone(`${id} is not over. This is its report so far, for you alone.`);
  const thread = { channel: incident.channel, threadTs: incident.threadTs };
  if (thread.channel === null || thread.threadTs === null)
    return alone(`${id} has no thread. This is its report, for you alone.`);
  const claim = await reports.claim(id, userId);
  if (claim.kind === 'made')
    return sayText(
      `The post-mortem of ${id} stands ${PLACES[claim.place]}, made at ${minute(claim.at)}: ${claim.url}\nWhat came later: /sentry why ${id}`,
    );
  if (claim.kind === 'begun')
    return Date.now() - Date.parse(claim.at) < AT_IT_MS
      ? sayText(`The post-mortem of ${id} is being made: look in its thread in a moment.`)
      : alone(unsure(id));
  const published = await publishReport(context, record, {
    channel: thread.channel,
    threadTs: thread.threadTs,
  });
  if (published.kind === 'uncertain') return alone(unsure(id));
  await reports.made(id, { by: userId, place: published.place, url: published.url });
  return sayText(`The post-mortem of ${id} stands ${PLACES[published.place]}: ${published.url}`);
}

const unsure = (id: IncidentId): string =>
  `Somebody had the post-mortem of ${id} made, and I cannot tell whether it arrived: look in its channel. I do not make it twice. Here it is for you alone.`;
