import { setTimeout as delay } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import { messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { AnswerEnd, AnswerView } from '../../../incidents/ports.ts';
import type { AskedQuestion } from '../../../incidents/questions/questions.ts';
import type { AgentSessions } from '../../inbound/direct/agent-session.ts';
import type { DirectMessages } from '../../inbound/direct/direct-messages.ts';
import { cut, escape } from '../../views/blocks/text.ts';
import { sayText } from '../tell.ts';
import { failureOf } from '../web-errors.ts';
import { formatAnswerEnd } from './format-answer-end.ts';
import { type AnswerStream, begunStream, openStream, type StreamDeps } from './open-stream.ts';
import { settledLength } from './settled.ts';

/** Pieces of a stream, and edits of a message, at most this often. */
const APPEND_EVERY_MS = 900;
const EDIT_EVERY_MS = 2_500;
/** A message cannot be edited while it is a stream. */
const STOP_TRIES = 3;
const STOP_AGAIN_MS = 1_000;
/** Characters of an answer: below what Slack takes in one streamed message (about 10 KB, facts of 2026-11). */
const MAX_SHOWN = 7_000;

export interface DirectAnswerDeps extends StreamDeps {
  readonly client: WebClient;
  readonly messages: DirectMessages;
  readonly sessions: AgentSessions;
  readonly log: Log;
  /** The person pressed Slack's own *Stop*. */
  readonly stop: () => Promise<unknown>;
}

/**
 * An answer in a direct message: streamed, where Slack can. What a stream has shown cannot be taken back, so it gets whole
 * sentences only; as soon as something of it has to go (words withdrawn, a secret seen late) or Slack takes no more of it, the stream is
 * ended and the answer is one message that is edited, as it is from the beginning where Slack knows no streams.
 */
export class DirectAnswer implements AnswerView {
  readonly #deps: DirectAnswerDeps;
  readonly #question: AskedQuestion;
  #way: 'stream' | 'edit' = 'stream';
  #stream: AnswerStream | null = null;
  /** Texts of finished messages, and of the one being written. */
  #finished = '';
  #writing = '';
  #said = false;
  /** What the stream has shown. */
  #sent = '';
  #nextAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  // One call after the other: two at once would begin two streams.
  #calls: Promise<void> = Promise.resolve();

  constructor(deps: DirectAnswerDeps, question: AskedQuestion, title: string) {
    this.#deps = deps;
    this.#question = question;
    void deps.sessions.working(this.#place, { title, by: question.by });
  }

  show(words: string | null, kind: Parameters<AnswerView['show']>[1]): void {
    if (kind === 'thought' && words !== null) return;
    // A message that is finished counts only once the next begins: some are withdrawn at their very end.
    if (this.#said && words !== null) this.#finished += `${this.#writing}\n\n`;
    if (words === null) {
      const shownOfIt = this.#sent.length > this.#finished.length;
      this.#writing = '';
      this.#said = false;
      if (this.#way === 'stream' && shownOfIt) this.#queue(() => this.#leaveStream());
    } else {
      this.#writing = words;
      this.#said = kind === 'said';
    }
    this.#plan();
  }

  async end(end: AnswerEnd): Promise<void> {
    this.close();
    await this.#calls;
    const text = formatAnswerEnd(end, this.#question.incidentId);
    const sent = this.#sent;
    // What was said until a person stopped it stays: whole sentences.
    const stopped = 'stopped' in end && sent !== '';
    const whole = cut(
      stopped ? `${sent}\n\n${text}` : sent === '' ? text : `${this.#finished}${text}`,
      MAX_SHOWN,
    );
    if (this.#way === 'stream' && !(await this.#streamedToEnd(whole))) await this.#leaveStream();
    if (this.#way === 'edit') await this.#say(stopped ? whole : text);
    await this.#deps.sessions.idle(this.#place);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  get #place() {
    return { channel: this.#question.channel, threadTs: this.#question.threadTs };
  }

  #say(text: string): Promise<unknown> {
    const say = sayText(cut(text, MAX_SHOWN));
    return this.#deps.messages.say(this.#place, {
      slot: `answer:${this.#question.ts}:model`,
      inThread: true,
      text: escape(say.text),
      blocks: say.blocks ?? [],
    });
  }

  #debug(facts: object, message: string): void {
    this.#deps.log.debug({ question: this.#question.id, ...facts }, message);
  }

  #queue(call: () => Promise<void>): void {
    this.#calls = this.#calls
      .then(call)
      .catch((error: unknown) =>
        this.#debug({ error: messageOf(error) }, 'words of an answer were not shown'),
      );
  }

  #plan(): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#queue(() => this.#flush());
      },
      Math.max(0, this.#nextAt - performance.now()),
    );
  }

  async #flush(): Promise<void> {
    if (this.#closed) return;
    await (this.#way === 'stream' ? this.#append() : this.#edit());
    this.#nextAt = performance.now() + (this.#way === 'stream' ? APPEND_EVERY_MS : EDIT_EVERY_MS);
  }

  async #append(): Promise<void> {
    const shown = cutHard(`${this.#finished}${this.#writing.slice(0, settledLength(this.#writing))}`);
    if (!shown.startsWith(this.#sent)) return this.#leaveStream();
    const piece = shown.slice(this.#sent.length);
    if (piece.trim() === '') return;
    try {
      const stream = await this.#open();
      if (stream.resumed) return await this.#leaveStream();
      await stream.append(piece);
      this.#sent = shown;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === 'stopped_by_user') {
        await this.#deps.stop();
      } else if (failure.kind === 'wait') {
        this.#nextAt = performance.now() + failure.ms;
        this.#plan();
      } else {
        this.#debug({ code: failure.code }, 'Slack takes no stream; editing a message');
        await this.#leaveStream();
      }
    }
  }

  async #edit(): Promise<void> {
    const words = this.#writing.trim() || this.#finished.trim();
    await this.#say(words === '' ? 'Looking …' : `${words} …`);
  }

  async #open(): Promise<AnswerStream> {
    this.#stream ??= await openStream(this.#deps, this.#question);
    return this.#stream;
  }

  /** The stream ends as it is; what it says is put right by an edit. */
  async #leaveStream(): Promise<void> {
    this.#way = 'edit';
    this.#plan();
    // It may have begun although Slack's answer to that was lost: it would stay open, beside the message that is edited.
    this.#stream ??= await begunStream(this.#deps, this.#question).catch((error: unknown) => {
      this.#debug({ error: messageOf(error) }, 'whether a stream has begun cannot be told');
      return null;
    });
    for (let tries = 0; this.#stream !== null && tries < STOP_TRIES; tries += 1) {
      try {
        return await this.#stream.stop();
      } catch (error) {
        const failure = failureOf(error);
        this.#debug({ code: failure.code }, 'a stream was not ended by us');
        if (failure.kind !== 'wait' && failure.kind !== 'uncertain') return;
        await delay(failure.kind === 'wait' ? failure.ms : STOP_AGAIN_MS);
      }
    }
  }

  /** True: the whole answer stands in the stream's message, and nothing else. */
  async #streamedToEnd(whole: string): Promise<boolean> {
    if (!whole.startsWith(this.#sent)) return false;
    for (let tries = 0; tries < STOP_TRIES; tries += 1) {
      try {
        const stream = await this.#open();
        if (stream.resumed) return false;
        await stream.stop(whole.slice(this.#sent.length));
        return true;
      } catch (error) {
        const failure = failureOf(error);
        if (failure.kind !== 'wait') return false;
        await delay(failure.ms);
      }
    }
    return false;
  }
}

/** Without an ellipsis: what follows is appended to it. */
const cutHard = (text: string): string => text.slice(0, MAX_SHOWN - 1);
