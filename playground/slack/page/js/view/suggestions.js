import { displayName } from '../text/entities.js';

/**
 * What the composer offers while one types.
 * @typedef {{ label: string, detail: string, insert: string, replace: number }} Suggestion `replace`: how many
 *   characters at the end of the text it stands for
 */

/**
 * @param {import('../app.js').App} app
 * @param {string} text
 * @param {boolean} inThread
 * @returns {Suggestion[]}
 */
export function suggestionsFor(app, text, inThread) {
  if (/^\/\S*$/.test(text) && !inThread) return commands(app, text);
  const word = /(?:^|[\s(])([@#][\w.-]*)$/.exec(text)?.[1];
  if (word === undefined) return [];
  const query = word.slice(1).toLowerCase();
  const all = word.startsWith('@') ? people(app, word.length) : channels(app, word.length);
  return all
    .filter((one) => one.label.toLowerCase().includes(query) || one.detail.toLowerCase().includes(query))
    .slice(0, 6);
}

/**
 * @param {string} text
 * @param {Suggestion} offer
 */
export function applySuggestion(text, offer) {
  return `${text.slice(0, text.length - offer.replace)}${offer.insert}`;
}

/**
 * @param {import('../app.js').App} app
 * @param {string} text
 */
function commands(app, text) {
  return (app.data.snapshot?.commands ?? [])
    .filter((one) => one.command.startsWith(text))
    .map((one) => ({
      label: one.command,
      detail: one.usage_hint === '' ? one.description : `${one.usage_hint} — ${one.description}`,
      insert: `${one.command} `,
      replace: text.length,
    }));
}

/**
 * @param {import('../app.js').App} app
 * @param {number} replace
 * @returns {Suggestion[]}
 */
function people(app, replace) {
  const users = [...app.data.users.values()].filter((user) => !user.deleted && user.id !== app.ui.viewer);
  return [
    ...users.map((user) => ({
      label: `@${displayName(user)}`,
      detail: user.real_name,
      insert: `@${displayName(user)} `,
      replace,
    })),
    ...[...app.data.groups.values()].map((group) => ({
      label: `@${group.handle}`,
      detail: group.name,
      insert: `@${group.handle} `,
      replace,
    })),
  ];
}

/**
 * @param {import('../app.js').App} app
 * @param {number} replace
 */
function channels(app, replace) {
  return [...app.data.channels.values()]
    .filter((channel) => !channel.is_im)
    .map((channel) => ({ label: `#${channel.name}`, detail: channel.topic, insert: `#${channel.name} `, replace }));
}
