import { LIMITS } from '../limits.ts';
import { change, post, readForm } from '../posting.ts';
import { type Method, type MethodCall, messageOf, type SlackContext } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import type { Block, Message } from '../slack-shapes.ts';
import { acceptBlocks, acceptMetadata } from '../validate/payload.ts';
import { asText, isRecord } from '../validate/rules.ts';
import { SESSION_MS, sessionStatus } from './agents.ts';
import { writableChannel } from './chat.ts';

const TASK_STATES = ['pending', 'in_progress', 'complete', 'error'];

/** What a stream has said so far; kept in the journal so that a restart does not lose an open stream. */
interface Stream {
  readonly startedAt: number;
  readonly mode: 'markdown_text' | 'chunks' | 'none';
  readonly text: string;
  readonly planTitle: string;
  readonly tasks: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly blocks: readonly Block[];
  /** The person pressed Slack's *Stop*: nothing more is taken, but for its end. */
  readonly stoppedByUser?: boolean;
}

/** `chat.startStream`, `appendStream`, `stopStream`. */
export const streamMethods: Readonly<Record<string, Method>> = {
  'chat.startStream': (call) => {
    const channel = writableChannel(call);
    if (!call.args.has('thread_ts'))
      throw new SlackError('invalid_arguments', ['[ERROR] missing required field: thread_ts']);
    if (!channel.is_im) {
      if (!call.args.has('recipient_user_id')) throw new SlackError('missing_recipient_user_id');
      if (!call.args.has('recipient_team_id')) throw new SlackError('missing_recipient_team_id');
    }
    const empty = { mode: 'none', text: '', planTitle: '', tasks: [], blocks: [] } as const;
    const stream = extend({ ...empty, startedAt: call.slack.workspace.now() }, call);
    const message = post(call.slack, {
      author: { kind: 'app', app: call.app },
      channel: channel.id,
      text: stream.text,
      blocks: blocksOf(stream),
      thread_ts: call.args.required('thread_ts'),
      streaming: true,
    });
    call.slack.workspace.journal.put('streams', keyOf(message), stream);
    if (channel.is_im) showSession(call, message, 'processing');
    return { channel: channel.id, ts: message.ts };
  },

  'chat.appendStream': (call) => {
    const { message, stream } = openStream(call);
    if (stream.stoppedByUser === true) throw new SlackError('stopped_by_user');
    const extended = extend(stream, call);
    call.slack.workspace.journal.put('streams', keyOf(message), extended);
    // Appending tells no app: only the finished message is an event.
    call.slack.workspace.putMessage({ ...message, text: extended.text, blocks: blocksOf(extended) });
    return { channel: message.channel, ts: message.ts };
  },

  'chat.stopStream': (call) => {
    const { message, stream } = openStream(call);
    const extended = extend(stream, call);
    const blocks = [
      ...blocksOf(extended),
      ...(call.args.has('blocks') ? acceptBlocks(call.args.raw('blocks')) : []),
    ];
    const metadata = call.args.has('metadata') ? { metadata: acceptMetadata(call.args.raw('metadata')) } : {};
    const after = change(
      call.slack,
      message,
      { text: extended.text, blocks, ...metadata },
      { drop: ['streaming_state'] },
    );
    call.slack.workspace.journal.delete('streams', keyOf(message));
    if (call.slack.workspace.channel(after.channel).is_im) showSession(call, after, 'active');
    return { channel: after.channel, ts: after.ts, message: readForm(after, true) };
  },
};

/** Slack sets a session's state with the beginning and end of its stream. */
function showSession(call: MethodCall, message: Message, status: string): void {
  const thread = { channel: message.channel, thread_ts: message.thread_ts ?? message.ts };
  call.slack.workspace.setStatus(sessionStatus(thread, call.app.botId, status), SESSION_MS);
}

/** The streams of a thread that are open take nothing more; their messages. */
export function stopStreams(slack: SlackContext, channel: string, threadTs: string): readonly string[] {
  const { journal } = slack.workspace;
  const open = slack.workspace
    .messages(channel)
    .filter((each) => each.thread_ts === threadTs && each.streaming_state !== undefined);
  for (const message of open) {
    const stream = journal.get<Stream>('streams', keyOf(message));
    if (stream !== undefined) journal.put('streams', keyOf(message), { ...stream, stoppedByUser: true });
  }
  return open.map((message) => message.ts);
}

function keyOf(message: Message): string {
  return `${message.channel}/${message.ts}`;
}

/** Throws `message_not_found`, `message_not_owned_by_app`, `message_not_in_streaming_state` (also when too old). */
function openStream(call: MethodCall): { readonly message: Message; readonly stream: Stream } {
  const { workspace, timing } = call.slack;
  const message = messageOf(call);
  if (message.bot_id !== call.app.botId) throw new SlackError('message_not_owned_by_app');
  const stream = workspace.journal.get<Stream>('streams', keyOf(message));
  if (message.streaming_state === undefined || stream === undefined) {
    throw new SlackError('message_not_in_streaming_state');
  }
  if (workspace.now() - stream.startedAt > timing().streamMs) {
    workspace.journal.delete('streams', keyOf(message));
    const { streaming_state: _state, ...finished } = message;
    workspace.putMessage(finished);
    throw new SlackError('message_not_in_streaming_state');
  }
  return { message, stream };
}

function extend(stream: Stream, call: MethodCall): Stream {
  const { args } = call;
  const hasText = args.has('markdown_text');
  const chunks = args.has('chunks') ? args.json('chunks') : undefined;
  if (hasText && chunks !== undefined) throw new SlackError('cannot_provide_both_markdown_text_and_chunks');
  if (!hasText && chunks === undefined) return stream;
  const mode = hasText ? 'markdown_text' : 'chunks';
  if (stream.mode !== 'none' && stream.mode !== mode) throw new SlackError('streaming_mode_mismatch');
  const extended = hasText
    ? withText({ ...stream, mode }, args.required('markdown_text'))
    : chunksOf(chunks).reduce(withChunk, { ...stream, mode });
  const size = Buffer.byteLength(extended.text + JSON.stringify(extended.tasks));
  if (size > LIMITS.message.streamBytes) throw new SlackError('msg_too_long');
  return extended;
}

function chunksOf(value: unknown): Array<Record<string, unknown>> {
  if (!Array.isArray(value) || !value.every(isRecord)) throw new SlackError('invalid_chunks');
  return value;
}

function withText(stream: Stream, text: string): Stream {
  if (text.length > LIMITS.message.markdownText) throw new SlackError('msg_too_long');
  return { ...stream, text: stream.text + text };
}

function withChunk(stream: Stream, chunk: Record<string, unknown>): Stream {
  switch (chunk['type']) {
    case 'markdown_text':
      if (typeof chunk['text'] !== 'string') throw new SlackError('invalid_chunks');
      return withText(stream, chunk['text']);
    case 'plan_update':
      if (typeof chunk['title'] !== 'string') throw new SlackError('invalid_chunks');
      return { ...stream, planTitle: chunk['title'] };
    case 'task_update': {
      if (typeof chunk['id'] !== 'string' || !TASK_STATES.includes(String(chunk['status']))) {
        throw new SlackError('invalid_chunks');
      }
      const known = stream.tasks.find((task) => task['id'] === chunk['id']);
      const task = { ...known, ...chunk };
      const tasks =
        known === undefined
          ? [...stream.tasks, task]
          : stream.tasks.map((each) => (each === known ? task : each));
      return { ...stream, tasks };
    }
    case 'blocks': {
      const blocks = [...stream.blocks, ...acceptBlocks(chunk['blocks'])];
      if (blocks.length > LIMITS.message.blocks) throw new SlackError('msg_blocks_too_many');
      return { ...stream, blocks };
    }
    default:
      throw new SlackError('invalid_chunks');
  }
}

function blocksOf(stream: Stream): Block[] {
  const tasks = stream.tasks.map(taskCard);
  const plan: Block[] =
    stream.planTitle === '' ? tasks : [{ type: 'plan', block_id: 'plan', title: stream.planTitle, tasks }];
  const words: Block[] =
    stream.text === '' ? [] : [{ type: 'markdown', block_id: 'words', text: stream.text }];
  return [...plan, ...words, ...stream.blocks];
}

function taskCard(task: Readonly<Record<string, unknown>>): Block {
  const id = String(task['id']);
  const rich = (name: 'details' | 'output') =>
    typeof task[name] === 'string' ? { [name]: richText(task[name]) } : {};
  return {
    type: 'task_card',
    block_id: `task-${id}`,
    task_id: id,
    title: asText(task['title']),
    status: task['status'],
    ...rich('details'),
    ...rich('output'),
    ...(Array.isArray(task['sources']) ? { sources: task['sources'] } : {}),
  };
}

function richText(text: string): Block {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] };
}
