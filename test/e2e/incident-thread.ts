import type { Message } from '../../playground/slack/slack-shapes.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';

/** The fix of a thread, as its card shows it. */
export interface Card {
  readonly message: Message;
  /** The exact command: the card's fixed-width box, letter for letter. */
  readonly command: string;
}

/** One incident's thread in #alerts, watched without a browser. */
export interface IncidentThread {
  /** `INC-7`. */
  readonly id: string;
  readonly rootTs: string;
  root(): Promise<Message>;
  /** The bot's replies, oldest first. */
  replies(): Promise<readonly Message[]>;
  /** The first reply with these words, once there is one. */
  reply(words: RegExp, timeoutMs?: number): Promise<Message>;
  card(timeoutMs?: number): Promise<Card>;
  /** The root, once it is resolved and green, with all of the thread delivered. */
  resolved(timeoutMs?: number): Promise<Message>;
  /** The same where its source says that it is over, and nothing of ours was fixed: it is grey. */
  over(timeoutMs?: number): Promise<Message>;
}

const INVESTIGATED_MS = 45_000;
export const GREEN = '#2eb67d';
/** Of what its source alone calls over. */
export const GREY = '#868686';

/** The thread of the next incident that is not among `known`. */
export async function nextThread(
  slack: LocalSlackClient,
  known: readonly string[] = [],
  timeoutMs = 30_000,
): Promise<IncidentThread> {
  const first = await slack.waitForMessage(
    (message) => isRoot(message) && !known.includes(message.ts),
    timeoutMs,
  );
  const rootTs = first.ts;
  const inThread = (message: Message): boolean =>
    message.thread_ts === rootTs && message.ts !== rootTs && message.bot_id !== undefined;
  const root = async (): Promise<Message> => {
    const found = (await slack.messages()).find((message) => message.ts === rootTs);
    if (!found) throw new Error(`the root ${rootTs} has gone`);
    return found;
  };
  const reply = (words: RegExp, timeout = INVESTIGATED_MS): Promise<Message> =>
    slack.waitForMessage((message) => inThread(message) && words.test(textOf(message)), timeout);
  async function ended(last: RegExp, state: RegExp, timeout: number): Promise<Message> {
    await reply(last, timeout);
    return slack.waitForMessage((message) => message.ts === rootTs && state.test(textOf(message)), timeout);
  }
  return {
    id: /INC-\d+/.exec(first.text)?.[0] ?? '',
    rootTs,
    root,
    replies: async () => (await slack.messages()).filter(inThread),
    reply,
    async card(timeout) {
      const message = await reply(/ asks: /, timeout);
      return { message, command: commandOn(message) };
    },
    resolved: (timeout = INVESTIGATED_MS) => ended(/🟢 Fixed ·/u, /Resolved/, timeout),
    over: (timeout = INVESTIGATED_MS) => ended(/⚪ Over ·/u, /Over/, timeout),
  };
}

/** Roots of incidents begin with the incident's id; nothing else the bot posts in the channel does. */
function isRoot(message: Message): boolean {
  return /^INC-\d+ /.test(message.text) && (message.thread_ts ?? message.ts) === message.ts;
}

/** The colour of the strip below a root. */
export function stripOf(message: Message): string | undefined {
  return message.attachments?.map((each) => each['color']).find((color) => typeof color === 'string') as
    | string
    | undefined;
}

/** What its card says runs: the box in its first section, folded or not. */
function commandOn(message: Message): string {
  const blocks = (message.blocks ?? []).flatMap((block) => [
    block,
    ...((block['child_blocks'] ?? []) as NonNullable<Message['blocks']>),
  ]);
  const section = blocks.find((block) => block.type === 'section');
  const { text = '' } = (section?.['text'] ?? {}) as { readonly text?: string };
  const boxed = /^```\n(.*)\n```$/s.exec(text)?.[1];
  return boxed?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&') ?? text;
}
