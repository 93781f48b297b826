import { Arguments } from './arguments.ts';
import { contentOf } from './methods/message-content.ts';
import { post } from './posting.ts';
import { ALERTMANAGER_APP, WEBHOOKS } from './seed.ts';
import type { SlackContext } from './slack-context.ts';
import { SlackError } from './slack-error.ts';

/**
 * An incoming webhook: `/services/…` with `{ text?, attachments?, blocks?, username?, icon_emoji?, channel? }`, as
 * JSON or in a form's `payload`. A classic webhook may name another channel, as Alertmanager does; a modern one
 * may not. Throws `invalid_token`, `channel_not_found`, and what content throws.
 */
export function receiveWebhook(
  slack: SlackContext,
  path: string,
  body: Readonly<Record<string, unknown>>,
): void {
  const hook = Object.hasOwn(WEBHOOKS, path) ? WEBHOOKS[path] : undefined;
  if (hook === undefined) throw new SlackError('invalid_token');
  const args = new Arguments(payloadOf(body));
  post(slack, {
    ...contentOf(args),
    author: {
      kind: hook.kind === 'classic' ? 'webhook' : 'app',
      app: ALERTMANAGER_APP,
      ...(hook.kind === 'classic' && args.has('username') ? { username: args.required('username') } : {}),
      ...(hook.kind === 'classic' && args.has('icon_emoji')
        ? { iconEmoji: args.required('icon_emoji') }
        : {}),
    },
    channel:
      hook.kind === 'classic' && args.has('channel')
        ? channelNamed(slack, args.required('channel'))
        : hook.channel,
    ...(args.has('thread_ts') ? { thread_ts: args.required('thread_ts') } : {}),
  });
}

function payloadOf(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { payload } = body;
  if (typeof payload !== 'string') return body;
  try {
    return JSON.parse(payload) as Record<string, unknown>;
  } catch {
    throw new SlackError('invalid_payload');
  }
}

function channelNamed(slack: SlackContext, name: string): string {
  const plain = name.replace(/^#/, '');
  const channel = slack.workspace
    .channels()
    .find((each) => each.id === name || (!each.is_im && each.name === plain));
  if (channel === undefined) throw new SlackError('channel_not_found');
  return channel.id;
}
