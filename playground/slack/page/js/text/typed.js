import { displayName } from './entities.js';
import { unescape } from './mrkdwn.js';

/** @typedef {import('../core/types.js').Directory} Directory */

/**
 * A sent message's text as its author typed it, for editing: names instead of ids, nothing escaped. (The other
 * way is the server's work.)
 * @param {Directory} dir
 * @param {string} text
 */
export function decodeTyped(dir, text) {
  const plain = text
    .replace(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g, (whole, id) => {
      const user = dir.users.get(id);
      return user ? `@${displayName(user)}` : whole;
    })
    .replace(/<#([A-Z0-9]+)(?:\|([^>]*))?>/g, (whole, id, name) => `#${dir.channels.get(id)?.name ?? name ?? whole}`)
    .replace(/<!subteam\^([A-Z0-9]+)(?:\|([^>]*))?>/g, (whole, id) => `@${dir.groups.get(id)?.handle ?? whole}`)
    .replace(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, '@$1')
    .replace(/<(https?:[^|>]+)(?:\|[^>]*)?>/g, '$1');
  return unescape(plain);
}
