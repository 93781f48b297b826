import type { IncidentId } from '../../../core/ids.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import type { SlackContext } from '../../context.ts';
import { onlyTheRecord, shortAnswer } from '../../outbound/answers/short-answer.ts';
import { type Say, sayStory, sayText } from '../../outbound/tell.ts';
import { messageUrl } from '../../people/identity.ts';
import { briefOf } from '../../views/blocks/brief.ts';
import { link, paragraph, prose } from '../../views/blocks/build.ts';
import { escape } from '../../views/blocks/text.ts';
import { createManualIncident } from '../commands/create-manual-incident.ts';
import { sentryCommand } from '../commands/sentry-command.ts';
import type { Said } from '../events/conversation.ts';
import { readDirect } from './read-direct.ts';

/** What `help` says in a direct message: short, it is read on a phone. */
const DIRECT_HELP = [
  'Here you can ask me without an audience. I only read; nothing is changed from here.',
  '• “why INC-7”: what happened, with its evidence',
  '• any question: I answer for the incident you name, else the newest you may see',
  '• “status”, “incidents”, “cost”',
  '• describe a problem (“checkout is slow”), and I open an incident for it in the alert channel',
  'Fixes are approved in the incident’s thread. All commands: /sentry help',
].join('\n');

const ELSEWHERE = {
  switch:
    'I stop and approve nothing from a direct message. To stop one incident: /sentry stop INC-7. All changes: /sentry stop everything. Fixes are approved on their card, in the incident’s thread.',
  hint: 'Say that in the incident’s thread, so that everybody there sees it: “hint: …”.',
  remember: 'For yourself: /sentry memory remember <text>. For an incident: “remember: …” in its thread.',
} as const;

/** Somebody wrote to the bot alone: read-only answers about incidents, or an incident opened by hand. Every answer is said once. */
export async function answerDirect(context: SlackContext, said: Said): Promise<void> {
  const place = { channel: said.channel, threadTs: said.threadTs ?? said.ts };
  const say = (what: Say): Promise<void> =>
    context.direct.say(place, {
      slot: `answer:${said.ts}`,
      inThread: true,
      text: escape(what.text),
      blocks: what.blocks ?? [],
    });
  const may = await context.directory.mayAct(said.userId, said.teamId);
  if (!may.ok) return say(sayText(may.reason));
  const here = await incidentOfThread(context, place);
  const wish = readDirect(said.text, here !== null);
  switch (wish.kind) {
    case 'help':
      return say(sayText(DIRECT_HELP));
    case 'thanks':
      return say(sayText('Any time.'));
    case 'elsewhere':
      return say(sayText(ELSEWHERE[wish.where]));
    case 'command':
      return say(
        await sentryCommand(context, {
          ...place,
          userId: said.userId,
          teamId: said.teamId,
          text: wish.text,
          say: () => undefined,
        }),
      );
    case 'problem': {
      const asked = { ...said, text: wish.text, key: handKey(place) };
      const key = here === null ? asked.key : `${said.channel}:${said.ts}`;
      return say(await createManualIncident(context, { ...asked, key }));
    }
    case 'question': {
      const record = await recordFor(context, said.userId, wish.named, here);
      if (record === null) return say(sayText(nothingToSee(wish.named)));
      return answerAbout(context, said, place, record, wish.bare, say);
    }
  }
}

async function answerAbout(
  context: SlackContext,
  said: Said,
  place: { readonly channel: string; readonly threadTs: string },
  record: IncidentRecord,
  bare: boolean,
  say: (what: Say) => Promise<void>,
): Promise<void> {
  const { questions } = context.deps;
  const { id, channel, threadTs } = record.incident;
  const url = channel && threadTs ? messageUrl(context.identity(), channel, threadTs) : null;
  const further = !bare && questions.hasModel;
  const question = {
    channel: said.channel,
    ts: said.ts,
    threadTs: place.threadTs,
    direct: true,
    incidentId: id,
    by: said.userId,
    text: said.text,
  };
  // The record first: it is right, and it is there when no model answers.
  const readers = { userId: said.userId, channel: said.channel, alone: true, mayLook: true };
  const known = bare
    ? await story(context, record, url)
    : await shortAnswer(context, record, said.text, readers, await questions.before(question));
  if (known !== null || !further) {
    await questions.note(question);
    return say(known ?? sayText(onlyTheRecord(questions.hasModel)));
  }
  await say(briefOf(record, url));
  await questions.ask(question);
}

async function story(context: SlackContext, record: IncidentRecord, url: string | null): Promise<Say> {
  const told = sayStory(await context.withNames(context.deps.why(record)));
  const thread = url ? [prose(paragraph(link(url, 'Open its thread')))] : [];
  return { text: told.text, blocks: [...(told.blocks ?? []), ...thread] };
}

/** The one that is named, else the conversation's, else the newest open one, else the newest; only such as the person may read. */
async function recordFor(
  context: SlackContext,
  userId: string,
  named: IncidentId | null,
  here: IncidentId | null,
): Promise<IncidentRecord | null> {
  const { records } = context.deps;
  const chosen = named ?? here;
  if (chosen !== null) {
    const record = await records.load(chosen);
    return record !== null && (await context.access.mayRead(userId, record.incident, null)) ? record : null;
  }
  const candidates = [
    ...(await records.list({ limit: 20, open: true })),
    ...(await records.list({ limit: 20 })),
  ];
  for (const incident of candidates)
    if (await context.access.mayRead(userId, incident, null)) return records.load(incident.id);
  return null;
}

/** Whether there is one that they may not see is not told. */
const nothingToSee = (named: IncidentId | null): string =>
  named
    ? `There is no ${named} that you may see. What happens in a private channel is told to its members only.`
    : 'There is no incident that I may tell you of. Describe a problem, and I look into it.';

const handKey = ({ channel, threadTs }: { readonly channel: string; readonly threadTs: string }): string =>
  `${channel}:${threadTs}`;

/** What was asked about last in this thread, or was opened by its first message. */
async function incidentOfThread(
  { deps }: SlackContext,
  place: { readonly channel: string; readonly threadTs: string },
): Promise<IncidentId | null> {
  const asked = await deps.questions.lastOf(place.channel, place.threadTs);
  if (asked) return asked;
  const [opened] = await deps.sql<{ readonly id: IncidentId }>`
    SELECT incident_id AS id FROM alert WHERE delivery_key = ${`hand:${handKey(place)}`}`;
  return opened?.id ?? null;
}
