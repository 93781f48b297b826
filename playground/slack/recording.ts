import type { PageDelta, RecordedFrame } from './page-api.ts';
import type { Message } from './slack-shapes.ts';

/** The threads that were last written in, and as many changes of each as a long incident makes. */
const MAX_THREADS = 40;
const MAX_FRAMES = 600;

/** How each thread came to be, message by message and edit by edit, since this server started: what the page replays. */
export class Recording {
  readonly #now: () => number;
  readonly #threads = new Map<string, RecordedFrame[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  keep(delta: PageDelta): void {
    if (delta.type !== 'message') return;
    const key = keyOf(delta.message.channel, delta.message.thread_ts ?? delta.message.ts);
    const frames = this.#threads.get(key) ?? [];
    this.#threads.delete(key);
    this.#threads.set(key, frames);
    const before = frames.findLast(({ message }) => message.ts === delta.message.ts);
    // That a reply was counted is no change of what is read.
    const isNew = before === undefined || contentOf(before.message) !== contentOf(delta.message);
    // A copy: what is changed later is another frame.
    if (isNew && frames.length < MAX_FRAMES)
      frames.push({ atMs: this.#now(), message: structuredClone(delta.message) });
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > MAX_THREADS && oldest !== undefined) this.#threads.delete(oldest);
  }

  /** Oldest first. Empty: nothing has changed there since this server started. */
  of(channel: string, threadTs: string): readonly RecordedFrame[] {
    return this.#threads.get(keyOf(channel, threadTs)) ?? [];
  }
}

const contentOf = ({ text, blocks, attachments }: Message): string =>
  JSON.stringify([text, blocks, attachments]);
const keyOf = (channel: Message['channel'], threadTs: string): string => `${channel}/${threadTs}`;
