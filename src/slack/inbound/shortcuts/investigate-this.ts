import { asIncidentId, type IncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { messageUrl } from '../../people/identity.ts';
import { link, paragraph, prose, words } from '../../views/blocks/build.ts';
import { createManualIncident } from '../commands/create-manual-incident.ts';
import { hintInThread } from '../events/conversation.ts';
import { openedBy, type Shortcut } from './shortcut.ts';

/**
 * *Investigate this*: opens an incident for what a message says. What has one already is told; what a person wrote in an incident's
 * thread is a hint for that incident, which everybody in it sees.
 */
export async function investigateThis(context: SlackContext, shortcut: Shortcut): Promise<void> {
  const { channel, message, userId, teamId, to } = shortcut;
  const [known] = await openedBy(context, shortcut);
  if (known) return tellKnown(context, shortcut, known, 'This message is');
  const here = await context.deps.records.findByThread(channel, message.threadTs);
  if (here && (message.by === null || message.ts === message.threadTs))
    return tellKnown(context, shortcut, here, 'This thread is');
  const text = await context.withNames(message.text);
  if (text.trim() === '')
    return context.tell(to, { text: 'There are no words in this message that I can read.' });
  if (here)
    return hintInThread(context, here, {
      userId,
      teamId,
      channel,
      ts: shortcut.actionTs,
      threadTs: message.threadTs,
      text,
    });
  if (!(await mayBeTold(context, shortcut)))
    return context.tell(to, {
      text: 'This channel is private, and the incident would be told of where others read. Say it in your own words: /sentry investigate …',
    });
  const url = messageUrl(context.identity(), channel, message.ts);
  const say = await createManualIncident(context, {
    userId,
    teamId,
    text: `${text}\n\nFrom ${url}`,
    key: `${channel}:${message.ts}`,
  });
  await context.tell(to, say);
}

/** Of what others said in private nothing is told to everybody; one's own words are one's own. */
async function mayBeTold(
  { deps, access }: SlackContext,
  { channel, message, userId }: Shortcut,
): Promise<boolean> {
  if (message.by === userId && !message.carries) return true;
  const none = asIncidentId('');
  const home = await deps.workspace.homeOf(undefined);
  return access.mayTell({ id: none, channel }, { id: none, channel: home });
}

/** Also of an incident that they may not read of: that this message has been seen to is theirs to know, and no more. */
async function tellKnown(
  context: SlackContext,
  { userId, channel, to }: Shortcut,
  id: IncidentId,
  what: string,
): Promise<void> {
  const incident = await context.deps.records.incident(id);
  if (!incident || !(await context.access.mayRead(userId, incident, channel)))
    return context.tell(to, { text: 'This message is looked into already, where you cannot read along.' });
  const { channel: where, threadTs: at } = incident;
  const url = where && at ? messageUrl(context.identity(), where, at) : null;
  const how = `. Mention me in its thread to ask about it, or to say what I should look at.`;
  await context.tell(to, {
    text: `${what} ${id}${how}`,
    blocks: [prose(paragraph(words(`${what} `), url ? link(url, id) : words(id), words(how)))],
  });
}
