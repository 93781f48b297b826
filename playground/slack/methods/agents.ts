import type { ThreadStatus } from '../page-api.ts';
import { channelOf, type Method, type MethodCall } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import { isRecord } from '../validate/rules.ts';

const SESSION_STATES = ['active', 'processing', 'suspended', 'closed'];
const TITLE_MAX = 200;
const LOADING_MESSAGES_MAX = 10;
/** Slack takes an assistant's status away after two minutes, a session's after about an hour. */
const ASSISTANT_MS = 120_000;
export const SESSION_MS = 3_600_000;
const PROMPTS_MAX = 4;

/** The agent surface: `agents.sessions.*` and the older `assistant.threads.*`. */
export const agentMethods: Readonly<Record<string, Method>> = {
  'agents.sessions.setStatus': (call) => {
    const thread = threadOf(call);
    const status = call.args.required('status');
    if (!SESSION_STATES.includes(status))
      throw new SlackError('invalid_arguments', ['[ERROR] unknown status']);
    if ((call.args.text('title') ?? '').length > TITLE_MAX) throw new SlackError('title_too_long');
    // "Only used when creating a new session; ignored if the session already exists."
    const title = call.args.text('title');
    if (title !== undefined && title !== '') call.slack.workspace.setTitle(thread, title, { onlyNew: true });
    call.slack.workspace.setStatus(sessionStatus(thread, call.app.botId, status), SESSION_MS);
    return {};
  },

  'agents.sessions.rename': (call) => {
    const thread = threadOf(call);
    const title = call.args.required('title');
    if (title.length > TITLE_MAX) throw new SlackError('title_too_long');
    call.slack.workspace.setTitle(thread, title);
    return {};
  },

  'assistant.threads.setTitle': (call) => {
    const thread = threadOf(call);
    call.slack.workspace.setTitle(thread, call.args.required('title'));
    return {};
  },

  'assistant.threads.setSuggestedPrompts': (call) => {
    const channel = channelOf(call, 'channel_id');
    if (!channel.is_im) throw new SlackError('channel_type_not_supported');
    const prompts = call.args.json('prompts');
    if (!Array.isArray(prompts) || prompts.length > PROMPTS_MAX || !prompts.every(isPrompt))
      throw new SlackError('invalid_arguments', ['[ERROR] prompts: 1 to 4 of {title, message}']);
    const title = call.args.text('title') ?? '';
    call.slack.workspace.setPrompts(channel.id, { title, prompts });
    return {};
  },

  'assistant.threads.setStatus': (call) => {
    const thread = threadOf(call);
    const loading = call.args.json('loading_messages');
    if (Array.isArray(loading) && loading.length > LOADING_MESSAGES_MAX)
      throw new SlackError('invalid_arguments');
    const text = call.args.text('status') ?? '';
    call.slack.workspace.setStatus(
      { ...thread, botId: call.app.botId, text, clearsOnReply: true },
      ASSISTANT_MS,
    );
    return {};
  },
};

/** What is shown of a session's state below its thread. */
export function sessionStatus(
  thread: { readonly channel: string; readonly thread_ts: string },
  botId: string,
  status: string,
): ThreadStatus {
  const text = status === 'processing' ? 'is working…' : status === 'suspended' ? 'is waiting for you' : '';
  return { ...thread, botId, text, clearsOnReply: false };
}

function isPrompt(value: unknown): value is { readonly title: string; readonly message: string } {
  return (
    isRecord(value) &&
    [value['title'], value['message']].every((each) => typeof each === 'string' && each !== '')
  );
}

function threadOf(call: MethodCall): { readonly channel: string; readonly thread_ts: string } {
  const channel = channelOf(call, 'channel_id');
  const ts = call.args.required('thread_ts', 'thread_not_found');
  if (call.slack.workspace.findMessage(channel.id, ts) === undefined)
    throw new SlackError('thread_not_found');
  return { channel: channel.id, thread_ts: ts };
}
