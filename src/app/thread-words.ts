import type { Said } from '../incidents/context/said.ts';
import type { ReadThread } from '../incidents/context/thread.ts';
import type { SlackWorkspace } from '../slack/people/slack-workspace.ts';
import { notTold, saidBy, writtenIn } from './members-words.ts';

/** So much of a thread is read: 200 messages a page. Slack begins with the oldest. */
const MOST_PAGES = 5;

/** What members of the workspace wrote in a thread to each other. The first message is the alert, or ours. */
export const readThreadOf =
  ({ client, directory, own }: Pick<SlackWorkspace, 'client' | 'directory' | 'own'>): ReadThread =>
  async (channel, threadTs) => {
    const said: Said[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const answer = await client.conversations
        .replies({ channel, ts: threadTs, limit: 200, ...(cursor === undefined ? {} : { cursor }) })
        .catch(notTold);
      for (const message of answer.messages ?? []) {
        const written = message.ts === threadTs ? null : writtenIn(message, own());
        const one = written && (await saidBy(directory, written));
        if (one !== null) said.push(one);
      }
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (cursor === undefined) return said;
    }
    // What was said last is not among it.
    throw new Error(`it has more than ${MOST_PAGES * 200} messages`);
  };
