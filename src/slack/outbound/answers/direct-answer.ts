import { setTimeout as delay } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import { messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { AnswerView } from '../../../incidents/ports.ts';
import type { AskedQuestion } from '../../../incidents/questions/questions.ts';
import type { AgentSessions } from '../../inbound/direct/agent-session.ts';
import type { DirectMessages } from '../../inbound/direct/direct-messages.ts';
import type { Slot } from '../../views/blocks/slot.ts';
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
export function directAnswer(deps: DirectAnswerDeps, question: AskedQuestion, title: string): AnswerView {
  const { log, messages, sessions } = deps;
  const place = { channel: question.channel, threadTs: question.threadTs };
  let way: 'stream' | 'edit' = 'stream';
  let stream: AnswerStream | null = null;
  /** Texts of finished messages, and of the one being written. */
  let finished = '';
  let writing = '';
  let said = false;
  /** What the stream has shown. */
  let sent = '';
  let nextAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  // One call after the other: two at once would begin two streams.
  let calls: Promise<void> = Promise.resolve();

  void sessions.working(place, { title, by: question.by });

  const slot = (text: string): Slot => {
    const say = sayText(cut(text, MAX_SHOWN));
    return {
      slot: `answer:${question.ts}:model`,
      inThread: true,
      text: escape(say.text),
      blocks: say.blocks ?? [],
    };
  };

  function queue(call: () => Promise<void>): void {
    calls = calls.then(call).catch((error: unknown) => {
      log.debug({ question: question.id, error: messageOf(error) }, 'words of an answer were not shown');
    });
  }

  /** The stream ends as it is; what it says is put right by an edit. */
  async function leaveStream(): Promise<void> {
    way = 'edit';
    plan();
    // It may have begun although Slack's answer to that was lost: it would stay open, beside the message that is edited.
    stream ??= await begunStream(deps, question).catch((error: unknown) => {
      log.debug(
        { question: question.id, error: messageOf(error) },
        'whether a stream has begun cannot be told',
      );
      return null;
    });
    for (let tries = 0; stream !== null && tries < STOP_TRIES; tries += 1) {
      try {
        return await stream.stop();
      } catch (error) {
        const failure = failureOf(error);
        log.debug({ question: question.id, code: failure.code }, 'a stream was not ended by us');
        if (failure.kind !== 'wait' && failure.kind !== 'uncertain') return;
        await delay(failure.kind === 'wait' ? failure.ms : STOP_AGAIN_MS);
      }
    }
  }

  function plan(): void {
    if (closed || timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        queue(flush);
      },
      Math.max(0, nextAt - performance.now()),
    );
  }

  async function flush(): Promise<void> {
    if (closed) return;
    await (way === 'stream' ? append() : editNow());
    nextAt = performance.now() + (way === 'stream' ? APPEND_EVERY_MS : EDIT_EVERY_MS);
  }

  async function append(): Promise<void> {
    const shown = cutHard(`${finished}${writing.slice(0, settledLength(writing))}`);
    if (!shown.startsWith(sent)) return leaveStream();
    const piece = shown.slice(sent.length);
    if (piece.trim() === '') return;
    try {
      stream ??= await openStream(deps, question);
      if (stream.resumed) return await leaveStream();
      await stream.append(piece);
      sent = shown;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === 'stopped_by_user') {
        await deps.stop();
      } else if (failure.kind === 'wait') {
        nextAt = performance.now() + failure.ms;
        plan();
      } else {
        log.debug({ question: question.id, code: failure.code }, 'Slack takes no stream; editing a message');
        await leaveStream();
      }
    }
  }

  async function editNow(): Promise<void> {
    const words = writing.trim() || finished.trim();
    await messages.say(place, slot(words === '' ? 'Looking …' : `${words} …`));
  }

  return {
    show(words, kind) {
      if (kind === 'thought' && words !== null) return;
      // A message that is finished counts only once the next begins: some are withdrawn at their very end.
      if (said && words !== null) finished += `${writing}\n\n`;
      if (words === null) {
        const shownOfIt = sent.length > finished.length;
        writing = '';
        said = false;
        if (way === 'stream' && shownOfIt) queue(leaveStream);
      } else {
        writing = words;
        said = kind === 'said';
      }
      plan();
    },

    async end(end) {
      closed = true;
      clearTimeout(timer);
      await calls;
      const text = formatAnswerEnd(end, question.incidentId);
      // What was said until a person stopped it stays: whole sentences.
      const stopped = 'stopped' in end && sent !== '';
      const whole = cut(
        stopped ? `${sent}\n\n${text}` : sent === '' ? text : `${finished}${text}`,
        MAX_SHOWN,
      );
      if (way === 'stream' && !(await streamedToEnd(whole))) await leaveStream();
      if (way === 'edit') await messages.say(place, slot(stopped ? whole : text));
      await sessions.idle(place);
    },

    close() {
      closed = true;
      clearTimeout(timer);
    },
  };

  /** True: the whole answer stands in the stream's message, and nothing else. */
  async function streamedToEnd(whole: string): Promise<boolean> {
    if (!whole.startsWith(sent)) return false;
    for (let tries = 0; tries < STOP_TRIES; tries += 1) {
      try {
        stream ??= await openStream(deps, question);
        if (stream.resumed) return false;
        await stream.stop(whole.slice(sent.length));
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
