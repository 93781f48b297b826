/**
 * Where in the workspace a person is, as the address says it: `#/C0ALERTS`, `#/C0ALERTS/1700000000.000100`,
 * `#/app/home`. Slack's permalinks (`/archives/C0ALERTS/p1700000000000100?thread_ts=…`) lead to the same places.
 */

/** @typedef {{ channel?: string, thread?: string, home?: boolean, focus?: string }} Place */

/** @param {string} hash @returns {Place} */
export function readHash(hash) {
  const [first = '', second] = hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  if (first === 'app') return { home: true };
  return { ...(first === '' ? {} : { channel: first }), ...(second ? { thread: second } : {}) };
}

/** @param {Place} place */
export function writeHash(place) {
  if (place.home) return '#/app/home';
  const parts = [place.channel, place.thread].filter((part) => part !== undefined);
  return `#/${parts.map((part) => encodeURIComponent(part)).join('/')}`;
}

/**
 * The place a permalink means, whatever host it names; undefined for any other address.
 * @param {string} url
 * @returns {Place | undefined}
 */
export function readPermalink(url) {
  const parsed = URL.canParse(url, location.href) ? new URL(url, location.href) : undefined;
  const match = parsed && /^\/archives\/([A-Z0-9]+)(?:\/p(\d{10,})(\d{6}))?\/?$/.exec(parsed.pathname);
  if (!parsed || !match) return undefined;
  const channel = match[1];
  if (channel === undefined) return undefined;
  if (match[2] === undefined) return { channel };
  const ts = `${match[2]}.${match[3]}`;
  const thread = parsed.searchParams.get('thread_ts');
  return { channel, focus: ts, ...(thread ? { thread } : {}) };
}
