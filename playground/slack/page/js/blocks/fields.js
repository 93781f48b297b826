import { plain } from '../text/mrkdwn.js';

/** Reading untrusted blocks: each helper turns what is missing or of another type into something harmless. */

/** @param {any} value @returns {Record<string, any>[]} */
export function list(value) {
  return Array.isArray(value) ? value.filter((entry) => entry !== null && typeof entry === 'object') : [];
}

/** @param {any} value */
export function text(value) {
  return typeof value === 'string' ? value : '';
}

/**
 * The address of an image block or element; files of this workspace by their own address.
 * @param {any} image
 */
export function imageUrl(image) {
  if (typeof image?.image_url === 'string') return image.image_url;
  if (typeof image?.slack_file?.url === 'string') return image.slack_file.url;
  if (typeof image?.slack_file?.id === 'string') return `/files/${encodeURIComponent(image.slack_file.id)}`;
  return undefined;
}

/**
 * An option as a menu shows it.
 * @param {any} option
 * @returns {import('../core/types.js').MenuOption}
 */
export function menuOption(option) {
  const description = plain(option?.description);
  return {
    value: text(option?.value),
    text: plain(option?.text),
    ...(description === '' ? {} : { description }),
    ...(typeof option?.url === 'string' ? { href: option.url } : {}),
  };
}

/**
 * A value read from an input someone typed into.
 * @param {Event} event
 */
export function typed(event) {
  return /** @type {HTMLInputElement} */ (event.currentTarget).value;
}
