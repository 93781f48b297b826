import { Arguments } from './arguments.ts';
import { contentOf } from './methods/message-content.ts';
import { change, type Draft, post, postEphemeral, remove } from './posting.ts';
import type { ResponseTarget } from './response-urls.ts';
import { SENTRY_APP } from './seed.ts';
import type { SlackContext } from './slack-context.ts';
import { SlackError } from './slack-error.ts';

/**
 * What an app says through a `response_url`, or in the acknowledgement of a command: a new message (ephemeral
 * unless `response_type: 'in_channel'`), or a replacement or removal of the message the user acted on.
 */
export function respond(
  slack: SlackContext,
  target: ResponseTarget,
  body: Readonly<Record<string, unknown>>,
): void {
  const args = new Arguments(body);
  if (args.flag('delete_original')) removeOriginal(slack, target);
  else if (args.flag('replace_original')) replaceOriginal(slack, target, args);
  else say(slack, target, args);
}

function say(slack: SlackContext, target: ResponseTarget, args: Arguments): void {
  const thread = args.text('thread_ts') ?? target.thread_ts;
  const draft: Draft = {
    ...contentOf(args),
    author: { kind: 'app', app: SENTRY_APP },
    channel: target.channel,
    ...(thread === undefined ? {} : { thread_ts: thread }),
  };
  if (args.text('response_type') === 'in_channel') post(slack, draft);
  else postEphemeral(slack, target.userId, draft);
}

function replaceOriginal(slack: SlackContext, target: ResponseTarget, args: Arguments): void {
  const ts = target.messageTs;
  if (ts === undefined) throw new SlackError('message_not_found');
  const content = contentOf(args);
  if (target.ephemeral === true) {
    const before = slack.workspace.findEphemeral(target.userId, target.channel, ts);
    if (before === undefined) throw new SlackError('message_not_found');
    const { blocks: _blocks, attachments: _attachments, ...rest } = before.message;
    slack.workspace.putEphemeral({ userId: target.userId, message: { ...rest, ...content } });
    return;
  }
  const message = slack.workspace.message(target.channel, ts);
  const gone = (['blocks', 'attachments'] as const).filter((name) => content[name] === undefined);
  change(slack, message, content, { editor: SENTRY_APP.botUserId, drop: gone });
}

function removeOriginal(slack: SlackContext, target: ResponseTarget): void {
  const ts = target.messageTs;
  if (ts === undefined) throw new SlackError('message_not_found');
  if (target.ephemeral === true) slack.workspace.deleteEphemeral(target.userId, target.channel, ts);
  else remove(slack, slack.workspace.message(target.channel, ts));
}
