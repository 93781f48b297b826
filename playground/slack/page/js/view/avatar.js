import { icon } from '../core/icons.js';
import { html } from '../core/dom.js';
import { emojiFor } from '../text/emoji.js';

/**
 * A picture for somebody: drawn from the name, because nothing is fetched from elsewhere.
 * @param {{ id: string, name: string, isApp: boolean, emoji?: string | undefined, image?: string | undefined }} who
 * @param {string} [size] class: '' (36 px), 'small' (20 px), 'large'
 */
export function avatar(who, size = '') {
  const className = `avatar ${size === '' ? '' : `avatar-${size}`} ${who.isApp ? 'avatar-app' : ''} avatar-${tone(who)}`;
  const emoji = who.emoji === undefined ? undefined : emojiFor(who.emoji);
  const body =
    emoji !== undefined
      ? html`<span class="avatar-emoji">${emoji}</span>`
      : who.isApp
        ? appMark(who.name)
        : initials(who.name);
  return html`<span class=${className} aria-hidden="true">${body}</span>`;
}

/** @param {{ id: string, name: string, isApp: boolean }} who */
function tone(who) {
  if (who.isApp && /sentry/i.test(who.name)) return 'sentry';
  if (who.isApp && /alert/i.test(who.name)) return 'alerts';
  let sum = 0;
  for (const char of who.id) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 997;
  return String(sum % 8);
}

/** @param {string} name */
function appMark(name) {
  if (/sentry/i.test(name)) return icon('radar', 'icon avatar-icon');
  if (/alert/i.test(name)) return icon('bell', 'icon avatar-icon');
  return initials(name);
}

/** @param {string} name */
function initials(name) {
  const words = name.split(/[\s_-]+/).filter(Boolean);
  return ((words[0]?.[0] ?? '?') + (words[1]?.[0] ?? '')).toUpperCase();
}
