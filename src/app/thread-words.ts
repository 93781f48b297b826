import { unescapeMrkdwn } from '../core/unescape-mrkdwn.ts';
import type { ReadThread, ThreadMessage } from '../incidents/context/thread.ts';
import { redact } from '../safety/screen/redact.ts';
import type { SlackWorkspace } from '../slack/people/slack-workspace.ts';

/** So much of a thread is read: 200 messages a page. */
const MOST_PAGES = 5;

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
        if (ts === threadTs || user === undefined || bot !== undefined || 'subtype' in message) continue;
        if (text === '' || text.includes(`<@${own().userId}>`)) continue;
        if (!(await directory.mayAct(user, team ?? null)).ok) continue;
        const name = (await directory.name(user)).replace(/^@/, '');
        said.push({ userId: user, name, text: redact(shown(text)) });
      }
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (cursor === undefined) break;
    }
    return said;
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
