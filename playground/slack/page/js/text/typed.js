import { displayName } from './entities.js';
import { unescape } from './mrkdwn.js';

/**
 * What a person types ↔ what Slack's clients send: `@name` and `#channel` become ids, `& < >` are escaped.
 */

/** @typedef {import('../core/types.js').Directory} Directory */

/**
 * @param {Directory} dir
 * @param {string} text
 */
export function encodeTyped(dir, text) {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped
    .replace(/(^|[\s(])@([\w.-]+)/g, (whole, before, name) => {
      const found = mention(dir, name.replace(/[.-]+$/, ''));
      return found === undefined ? whole : `${before}${found}${trailing(name)}`;
    })
    .replace(/(^|[\s(])#([\w-]+)/g, (whole, before, name) => {
      const channel = [...dir.channels.values()].find((one) => !one.is_im && one.name === name);
      return channel ? `${before}<#${channel.id}|${channel.name}>` : whole;
    });
}

/** @param {string} name */
function trailing(name) {
  return /[.-]+$/.exec(name)?.[0] ?? '';
}

/**
 * @param {Directory} dir
 * @param {string} name
 */
function mention(dir, name) {
  const wanted = name.toLowerCase();
  if (['here', 'channel', 'everyone'].includes(wanted)) return `<!${wanted}>`;
  const user = [...dir.users.values()].find((one) => [one.name, displayName(one)].some((own) => own.toLowerCase() === wanted));
  if (user) return `<@${user.id}>`;
  const group = [...dir.groups.values()].find((one) => one.handle.toLowerCase() === wanted);
  return group ? `<!subteam^${group.id}|@${group.handle}>` : undefined;
}

/**
 * The other way, for editing.
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
