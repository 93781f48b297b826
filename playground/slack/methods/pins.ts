import { randomBytes } from 'node:crypto';
import { channelOf, type Method } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';

/** `pins.add` and `bookmarks.add`. */
export const pinMethods: Readonly<Record<string, Method>> = {
  'pins.add': (call) => {
    const { workspace } = call.slack;
    const channel = channelOf(call);
    const ts = call.args.required('timestamp', 'no_item_specified');
    const message = workspace.message(channel.id, ts);
    if (workspace.pins(channel.id).includes(ts)) throw new SlackError('already_pinned');
    workspace.pin(channel.id, ts);
    workspace.putMessage({ ...message, pinned_to: [channel.id] });
    return {};
  },

  'bookmarks.add': (call) => {
    const { workspace } = call.slack;
    const channel = channelOf(call, 'channel_id');
    if (call.args.required('type') !== 'link') throw new SlackError('invalid_bookmark_type');
    const bookmark = {
      id: `Bk${randomBytes(5).toString('hex').toUpperCase()}`,
      title: call.args.required('title'),
      link: call.args.required('link', 'invalid_link'),
    };
    workspace.addBookmark(channel.id, bookmark);
    return { bookmark: { ...bookmark, channel_id: channel.id, type: 'link', app_id: call.app.id } };
  },
};
