import type { WebClient } from '@slack/web-api';
import type { AskedQuestion } from '../../../incidents/questions/questions.ts';
import type { OutboundStore } from '../store.ts';
import { directId } from '../subject.ts';
import { failureOf } from '../web-errors.ts';
import { plainMarkdown } from './plain-markdown.ts';

export interface StreamDeps {
  readonly client: WebClient;
  readonly store: OutboundStore;
  /** The bot's user id. */
  readonly self: () => { readonly userId: string; readonly teamId: string };
}

/** One streamed message. Every call throws what the client throws. */
export interface AnswerStream {
  /** Another process began it: what it shows is not known here. */
  readonly resumed: boolean;
  append(text: string): Promise<void>;
  stop(text?: string): Promise<void>;
}

/**
 * Begins the streamed message of a question, or finds the one that a dead process began: of a question there is one
 * message, whatever happens.
 */
export async function openStream(deps: StreamDeps, question: AskedQuestion): Promise<AnswerStream> {
  const begun = await begunStream(deps, question);
  if (begun !== null) return begun;
  const { client, store } = deps;
  const { channel, threadTs } = question;
  const subject = directId(channel, threadTs);
  const slot = slotOf(question);
  const attempt = await store.beginPost(subject, slot, channel);
  try {
    // Nothing is said yet: should this process die before the message is on record, it left no half sentence.
    const started = await client.chat.startStream({
      channel,
      thread_ts: threadTs,
      recipient_user_id: question.by,
      recipient_team_id: deps.self().teamId,
    });
    const ts = started.ts ?? '';
    await store.posted(subject, slot, { channel, ts, hash: null });
    return streamOf(client, channel, ts, false);
  } catch (error) {
    if (failureOf(error).kind !== 'uncertain') await store.abandonPost(subject, slot, attempt);
    throw error;
  }
}

/** The streamed message of a question that was begun before, also where Slack's answer to that was lost; null: there is none. */
export async function begunStream(deps: StreamDeps, question: AskedQuestion): Promise<AnswerStream | null> {
  const { client, store } = deps;
  const { channel, threadTs } = question;
  const subject = directId(channel, threadTs);
  const slot = slotOf(question);
  const row = (await store.posts(subject)).get(slot);
  if (row?.ts != null) return streamOf(client, channel, row.ts, true);
  if (row?.postingForMs == null) return null;
  const found = await unrecorded(deps, question);
  if (found === null || !(await store.posted(subject, slot, { channel, ts: found, hash: null }))) return null;
  return streamOf(client, channel, found, true);
}

const slotOf = ({ ts }: AskedQuestion): string => `answer:${ts}:model`;

function streamOf(client: WebClient, channel: string, ts: string, resumed: boolean): AnswerStream {
  return {
    resumed,
    async append(text) {
      await client.chat.appendStream({ channel, ts, markdown_text: plainMarkdown(text) });
    },
    async stop(text = '') {
      const last = text === '' ? {} : { markdown_text: plainMarkdown(text) };
      await client.chat.stopStream({ channel, ts, ...last });
    },
  };
}

/** A stream has no mark of ours: it is our message in the thread, after the question, that nobody has on record. */
async function unrecorded(
  { client, store, self }: StreamDeps,
  { channel, threadTs, ts }: AskedQuestion,
): Promise<string | null> {
  const { messages = [] } = await client.conversations.replies({ channel, ts: threadTs, limit: 200 });
  const posts = await store.posts(directId(channel, threadTs));
  const recorded = new Set([...posts.values()].map((post) => post.ts));
  const ours = messages.filter((each) => each.user === self().userId && Number(each.ts) > Number(ts));
  const found = ours.find(
    (each) =>
      !recorded.has(each.ts ?? null) &&
      !(
        each as { readonly blocks?: readonly { readonly block_id?: string }[] }
      ).blocks?.[0]?.block_id?.startsWith('sentry:'),
  );
  return found?.ts ?? null;
}
