import { withoutMarks } from '../core/model-words.ts';
import { unescapeMrkdwn } from '../core/unescape-mrkdwn.ts';
import type { ReadThread, ThreadMessage } from '../incidents/context/thread.ts';
import { redact } from '../safety/screen/redact.ts';
import type { SlackWorkspace } from '../slack/people/slack-workspace.ts';

/** So much of a thread is read: 200 messages a page. Slack begins with the oldest. */
const MOST_PAGES = 5;
/** A reply that its author also sent to the channel is one like any other. */
const BROADCAST = 'thread_broadcast';

/**
 * What members of the workspace wrote in a thread. What they said to Sentry is known as a hint or a question, and the first message is the
 * alert, or ours.
 */
export const readThreadOf =
  ({ client, directory, own }: Pick<SlackWorkspace, 'client' | 'directory' | 'own'>): ReadThread =>
  async (channel, threadTs) => {
    const said: ThreadMessage[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const answer = await client.conversations.replies({
        channel,
        ts: threadTs,
        limit: 200,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const message of answer.messages ?? []) {
        const { ts, user, bot_id: bot, team, text = '' } = message;
        if (ts === threadTs || user === undefined || bot !== undefined) continue;
        if ('subtype' in message && message.subtype !== BROADCAST) continue;
        if (text === '' || text.includes(`<@${own().userId}>`)) continue;
        const may = await directory.mayAct(user, team ?? null);
        // Whether a member said something is not known then: nothing must not be told.
        if (!may.ok && may.code === 'WHO_ARE_YOU') throw new Error('Slack does not tell who wrote in it');
        if (!may.ok) continue;
        const name = (await directory.name(user)).replace(/^@/, '');
        said.push({ userId: user, name, text: redact(withoutMarks(shown(text))) });
      }
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (cursor === undefined) return said;
    }
    // What was said last is not among it.
    throw new Error(`it has more than ${MOST_PAGES * 200} messages`);
  };

/** Mentions call nobody from where they are quoted. */
const shown = (text: string): string =>
  unescapeMrkdwn(
    text
      .replace(/<[@!][^<>]*>/g, '@somebody')
      .replace(/<#\w+\|([^<>]*)>/g, '#$1')
      .replace(/<[^<>|]*\|([^<>]*)>/g, '$1')
      .replace(/<([^<>]*)>/g, '$1'),
  );
