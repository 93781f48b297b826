import { emitIn, readForm } from '../posting.ts';
import { type Method, type MethodCall, messageOf, type SlackContext } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import type { Message, Reaction } from '../slack-shapes.ts';

/** `reactions.*`. */
export const reactionMethods: Readonly<Record<string, Method>> = {
  'reactions.add': (call) => toggle(call, true),

  'reactions.remove': (call) => toggle(call, false),

  'reactions.get': (call) => {
    const message = messageOf(call, 'timestamp');
    return { type: 'message', channel: message.channel, message: readForm(message, false) };
  },
};

function toggle(call: MethodCall, add: boolean): Record<string, unknown> {
  const message = messageOf(call, 'timestamp');
  const name = call.args.required('name', 'invalid_name');
  if (usersOf(message, name).includes(call.app.botUserId) === add)
    throw new SlackError(add ? 'already_reacted' : 'no_reaction');
  react(call.slack, message, name, call.app.botUserId, add);
  return {};
}

/** Adds or takes back somebody's reaction, and tells the app. */
export function react(
  slack: SlackContext,
  message: Message,
  name: string,
  userId: string,
  add: boolean,
): void {
  const others = (message.reactions ?? []).filter((each) => each.name !== name);
  const users = usersOf(message, name).filter((each) => each !== userId);
  if (add) users.push(userId);
  const reactions: Reaction[] =
    users.length === 0 ? others : [...others, { name, users, count: users.length }];
  const { reactions: _before, ...rest } = message;
  slack.workspace.putMessage(reactions.length === 0 ? rest : { ...rest, reactions });
  emitIn(slack, message.channel, {
    type: add ? 'reaction_added' : 'reaction_removed',
    user: userId,
    reaction: name,
    item: { type: 'message', channel: message.channel, ts: message.ts },
    ...(message.user === undefined ? {} : { item_user: message.user }),
  });
}

export function usersOf(message: Message, name: string): string[] {
  return [...(message.reactions?.find((each) => each.name === name)?.users ?? [])];
}
