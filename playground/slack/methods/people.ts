import { pageOf } from '../paging.ts';
import type { Method } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import { channelPage } from './conversations.ts';

/** `users.*` and `usergroups.*`. */
export const peopleMethods: Readonly<Record<string, Method>> = {
  'users.list': (call) => {
    const { page, next } = pageOf(call.slack.workspace.users(), call.args, (each) => each.id);
    return { members: page, cache_ts: nowSeconds(call), response_metadata: { next_cursor: next } };
  },

  'users.info': (call) => ({ user: call.slack.workspace.user(call.args.required('user', 'user_not_found')) }),

  // Everybody's address is their name at the shop.
  'users.lookupByEmail': (call) => {
    const email = call.args.required('email', 'users_not_found').toLowerCase();
    const user = call.slack.workspace
      .users()
      .find(({ name, deleted }) => !deleted && `${name}@shop.example` === email);
    if (user === undefined) throw new SlackError('users_not_found');
    return { user };
  },

  'users.conversations': (call) => {
    const userId = call.args.text('user') ?? call.app.botUserId;
    const types = call.args.list('types');
    const wanted = types.length === 0 ? ['public_channel'] : types;
    const channels = call.slack.workspace
      .channels()
      .filter((each) => each.members.includes(userId))
      .filter((each) =>
        wanted.includes(each.is_im ? 'im' : each.is_private ? 'private_channel' : 'public_channel'),
      );
    return channelPage(call, channels);
  },

  'usergroups.list': (call) => ({
    usergroups: call.slack.workspace.userGroups().map(({ users, ...group }) => ({
      ...group,
      is_usergroup: true,
      user_count: users.length,
      date_delete: 0,
      ...(call.args.flag('include_users') ? { users } : {}),
    })),
  }),

  'usergroups.users.list': (call) => {
    const id = call.args.required('usergroup', 'no_such_subteam');
    const group = call.slack.workspace.userGroups().find((each) => each.id === id);
    if (group === undefined) throw new SlackError('no_such_subteam');
    return { users: group.users };
  },
};

function nowSeconds(call: Parameters<Method>[0]): number {
  return Math.floor(call.slack.workspace.now() / 1000);
}
