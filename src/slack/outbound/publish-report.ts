import type { IncidentRecord } from '../../core/incident-record.ts';
import { postIncidentReport, type Report } from '../../incidents/reports/post-incident.ts';
import type { ReportPlace } from '../../incidents/reports/report-claims.ts';
import { peopleIn, reportBody, reportMarkdown, reportStory } from '../../incidents/reports/report-text.ts';
import type { SlackContext } from '../context.ts';
import { messageUrl } from '../people/identity.ts';
import { escape } from '../views/blocks/text.ts';
import { MESSAGE, sayStory } from './tell.ts';
import { failureOf } from './web-errors.ts';

/** Where a report came to stand. `uncertain`: it was sent, and Slack does not tell whether it stands. */
export type Published =
  | { readonly kind: 'stands'; readonly place: ReportPlace; readonly url: string }
  | { readonly kind: 'uncertain' };

export type NameOf = (userId: string) => string;

/** A thread and what goes there. */
interface Publishing {
  readonly context: SlackContext;
  readonly record: IncidentRecord;
  readonly report: Report;
  readonly nameOf: NameOf;
  readonly channel: string;
  readonly threadTs: string;
}

/** The report as the record has it now, with how people who are named in it are called. */
export async function drawReportOf(
  { identity, directory }: SlackContext,
  record: IncidentRecord,
): Promise<{ readonly report: Report; readonly nameOf: NameOf }> {
  const { channel, threadTs } = record.incident;
  const threadUrl = channel && threadTs ? messageUrl(identity(), channel, threadTs) : null;
  const report = postIncidentReport(record, { now: new Date(), threadUrl });
  const names = new Map(
    await Promise.all(peopleIn(report).map(async (id) => [id, await directory.name(id)] as const)),
  );
  return { report, nameOf: (id) => names.get(id) ?? id };
}

/**
 * Makes it where its incident's thread is: as a canvas, else as a file, else as a message; the next only where the one before was
 * refused, and so stands nowhere.
 */
export async function publishReport(
  context: SlackContext,
  record: IncidentRecord,
  { channel, threadTs }: { readonly channel: string; readonly threadTs: string },
): Promise<Published> {
  const publishing = { context, record, ...(await drawReportOf(context, record)), channel, threadTs };
  for (const [place, make] of [
    ['canvas', asCanvas],
    ['file', asFile],
  ] as const) {
    try {
      return { kind: 'stands', place, url: await make(publishing) };
    } catch (error) {
      const failure = failureOf(error);
      context.deps.log.info(
        { incident: record.incident.id, place, code: failure.code },
        'a report is no such thing here',
      );
      if (failure.kind === 'uncertain') return { kind: 'uncertain' };
    }
  }
  return { kind: 'stands', place: 'thread', url: await asMessage(publishing) };
}

/** A tab of the incident's own channel: its members read it, and nobody else. */
async function asCanvas({ context, report, nameOf, channel }: Publishing): Promise<string> {
  const { teamUrl, teamId } = context.identity();
  const { canvas_id: id } = (await context.client.canvases.create({
    title: `Post-mortem ${report.title}`,
    channel_id: channel,
    document_content: { type: 'markdown', markdown: reportBody(report, nameOf) },
  })) as { readonly canvas_id?: string };
  if (id === undefined) throw new Error('Slack made a canvas without an id');
  return `${teamUrl}docs/${teamId}/${id}`;
}

async function asFile({ context, record, report, nameOf, channel, threadTs }: Publishing): Promise<string> {
  const { id } = record.incident;
  const said = (await context.client.filesUploadV2({
    channel_id: channel,
    thread_ts: threadTs,
    filename: `post-mortem-${id}.md`,
    title: `Post-mortem ${report.title}`,
    initial_comment: escape(`Post-mortem of ${id}, made from the record.`),
    // Uploaded past the screened client: its texts are screened where they are written.
    content: reportMarkdown(report, nameOf),
  })) as { readonly files?: readonly { readonly files?: readonly { readonly permalink?: string }[] }[] };
  return said.files?.[0]?.files?.[0]?.permalink ?? messageUrl(context.identity(), channel, threadTs);
}

async function asMessage({
  context,
  record,
  report,
  nameOf,
  channel,
  threadTs,
}: Publishing): Promise<string> {
  const story = reportStory(report, nameOf);
  const more = `\n\nThe rest: sentry report ${record.incident.id} at the terminal.`;
  const fits = story.length <= MESSAGE ? story : `${story.slice(0, MESSAGE - more.length)}${more}`;
  const { text, blocks = [] } = sayStory(fits);
  await context.outbound.say(record.incident.id, {
    slot: 'report:text',
    inThread: true,
    text: escape(text),
    blocks,
  });
  return messageUrl(context.identity(), channel, threadTs);
}
