import { html, isSafeAddress } from '../core/dom.js';

/** Mentions, links and dates: the pieces that mrkdwn, Markdown and rich text share. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Child} Child */

/** @param {Ctx} ctx @param {string} id @param {string} [fallback] */
export function userMention(ctx, id, fallback) {
  const user = ctx.dir.users.get(id);
  const name = user ? displayName(user) : (fallback ?? id);
  const own = id === ctx.viewer;
  return html`<span class=${own ? 'mention mention-me' : 'mention'} title=${user?.real_name}>@${name}</span>`;
}

/** @param {import('../core/types.js').User} user */
export function displayName(user) {
  return user.profile.display_name || user.real_name || user.name;
}

/** @param {Ctx} ctx @param {string} id @param {string} [fallback] */
export function channelMention(ctx, id, fallback) {
  const name = ctx.dir.channels.get(id)?.name ?? fallback ?? id;
  return link(ctx, `/archives/${encodeURIComponent(id)}`, [`#${name}`], 'mention');
}

/** @param {Ctx} ctx @param {string} id @param {string} [fallback] */
export function groupMention(ctx, id, fallback) {
  const group = ctx.dir.groups.get(id);
  const name = group ? group.handle : (fallback ?? id).replace(/^@/, '');
  const own = group?.users.includes(ctx.viewer) === true;
  return html`<span class=${own ? 'mention mention-me' : 'mention'} title=${group?.name}>@${name}</span>`;
}

/** @param {string} range */
export function broadcastMention(range) {
  return html`<span class="mention mention-me">@${range}</span>`;
}

/**
 * A link when the address is a safe one, otherwise its text. Links into this workspace open in the page.
 * @param {Ctx} ctx
 * @param {string} url
 * @param {Child[]} label
 * @param {string} [className]
 */
export function link(ctx, url, label, className) {
  if (!isSafeAddress(url)) return html`<span class="link-unsafe" title="This link is not shown as one">${label}</span>`;
  return html`<a class=${className ?? 'link'} href=${url} target="_blank" rel="noopener noreferrer"
    onClick=${(/** @type {MouseEvent} */ event) => {
      if (!event.metaKey && !event.ctrlKey && ctx.openLink(url)) event.preventDefault();
    }}>
    ${label}
  </a>`;
}

/** @type {Record<string, Intl.DateTimeFormatOptions>} */
const FORMATS = {
  date_num: { year: 'numeric', month: '2-digit', day: '2-digit' },
  date: { year: 'numeric', month: 'long', day: 'numeric' },
  date_short: { year: 'numeric', month: 'short', day: 'numeric' },
  date_long: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  time: { hour: '2-digit', minute: '2-digit' },
  time_secs: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
};

/**
 * `<!date^seconds^{date_short} at {time}^link|fallback>` in the reader's own time zone.
 * @param {number} seconds
 * @param {string} format
 * @param {string} fallback
 */
export function dateText(seconds, format, fallback) {
  const date = new Date(seconds * 1000);
  if (!Number.isFinite(seconds) || Number.isNaN(date.getTime())) return fallback;
  return format.replace(/\{(\w+)\}/g, (whole, token) => {
    if (token === 'ago') return ago(seconds, Date.now() / 1000);
    const pretty = token.endsWith('_pretty') ? relativeDay(date) : undefined;
    const options = FORMATS[token.replace(/_pretty$/, '')];
    return pretty ?? (options ? new Intl.DateTimeFormat(undefined, options).format(date) : whole);
  });
}

/** @param {Date} date */
function relativeDay(date) {
  const days = Math.round((startOfDay(new Date()) - startOfDay(date)) / 86_400_000);
  return days === 0 ? 'today' : days === 1 ? 'yesterday' : days === -1 ? 'tomorrow' : undefined;
}

/** @param {Date} date */
export function startOfDay(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** "5 minutes ago". @param {number} then seconds @param {number} now seconds */
export function ago(then, now) {
  const past = Math.max(0, now - then);
  /** @type {[number, string][]} */
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
  ];
  for (const [size, name] of units) {
    const count = Math.floor(past / size);
    if (count >= 1) return `${count} ${name}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}
