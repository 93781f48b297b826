import type { Method, MethodCall } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';

const SESSION_STATES = ['active', 'processing', 'suspended', 'closed'];
const TITLE_MAX = 200;
const LOADING_MESSAGES_MAX = 10;
/** Slack takes an assistant's status away after two minutes, a session's after about an hour. */
const ASSISTANT_MS = 120_000;
const SESSION_MS = 3_600_000;

/** The agent surface: `agents.sessions.*` and the older `assistant.threads.*`. */
export const agentMethods: Readonly<Record<string, Method>> = {
  'agents.sessions.setStatus': (call) => {
    const thread = threadOf(call);
    const status = call.args.required('status');
    if (!SESSION_STATES.includes(status))
      throw new SlackError('invalid_arguments', ['[ERROR] unknown status']);
    if ((call.args.text('title') ?? '').length > TITLE_MAX) throw new SlackError('title_too_long');
    const text = status === 'processing' ? 'is working…' : status === 'suspended' ? 'is waiting for you' : '';
    call.slack.workspace.setStatus(
      { ...thread, botId: call.app.botId, text, clearsOnReply: false },
      SESSION_MS,
    );
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

function threadOf(call: MethodCall): { readonly channel: string; readonly thread_ts: string } {
  const channel = call.slack.workspace.channel(call.args.required('channel_id', 'channel_not_found'));
  const ts = call.args.required('thread_ts', 'thread_not_found');
  if (call.slack.workspace.findMessage(channel.id, ts) === undefined)
    throw new SlackError('thread_not_found');
  return { channel: channel.id, thread_ts: ts };
}
