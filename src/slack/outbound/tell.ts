import type { RespondFn } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Json } from '../../core/tool-call.ts';
import { withoutMarks } from '../../incidents/questions/own-marks.ts';
import { outwardJson } from '../../safety/screen/boundary.ts';
import { type Block, paragraph, prose, withMoments } from '../views/blocks/build.ts';
import { storyBlocks } from '../views/blocks/story.ts';
import { cut, escape, pages } from '../views/blocks/text.ts';

/** One person, and where they are. */
export interface Audience {
  readonly userId: string;
  readonly channel: string | null;
  readonly threadTs: string | null;
  readonly respond?: RespondFn | undefined;
}

export interface Say {
  readonly text: string;
  readonly blocks?: readonly Block[];
  /** Others may want it as well: where only one person reads it, it has a button that shows it to everybody there. */
  readonly share?: boolean;
}

/** Characters of one. */
export const MESSAGE = 9_000;

/** Plain lines as a message of any length; what does not fit in one is said. */
export function sayText(text: string): Say {
  const fits = cut(text.trim() || '(nothing)', MESSAGE);
  return {
    text: cut(fits, 2_900),
    blocks: pages(fits, 2_900).map((part) => prose(paragraph(...withMoments(part)))),
  };
}

/** The story of an incident as a message; what does not fit is in the window behind its root's button. */
export function sayStory(text: string): Say {
  const fits = cut(text, MESSAGE);
  return { text: cut(withoutMarks(fits), 2_900), blocks: storyBlocks(fits) };
}

/**
 * Answers one person so that only they see it, whatever fails: what is for them alone may be of a channel that others do not see. Where
 * Slack cannot (no channel, an old client, a partial server) it falls back to the interaction's own URL, then to a direct message: a
 * click or command is never met with silence.
 */
export async function tell(client: WebClient, log: Log, to: Audience, say: Say): Promise<void> {
  // Also by the interaction's own URL, which no client of ours stands before.
  const message = outwardJson({
    text: escape(say.text),
    ...(say.blocks ? { blocks: [...say.blocks] } : {}),
  } as unknown as Json) as unknown as { readonly text: string; readonly blocks?: Block[] };
  const thread = to.threadTs ? { thread_ts: to.threadTs } : {};
  const ways: (() => Promise<unknown>)[] = [];
  const { channel, respond } = to;
  if (channel)
    ways.push(() => client.chat.postEphemeral({ channel, user: to.userId, ...thread, ...message }));
  if (respond)
    ways.push(() => respond({ response_type: 'ephemeral', replace_original: false, ...thread, ...message }));
  ways.push(() => client.chat.postMessage({ channel: to.userId, ...message }));
  for (const way of ways) {
    try {
      await way();
      return;
    } catch (error) {
      log.debug({ user: to.userId, error: messageOf(error) }, 'an answer did not arrive this way');
    }
  }
  log.warn({ user: to.userId }, 'a person could not be answered');
}
