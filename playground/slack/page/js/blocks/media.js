import { h } from '../core/vdom.js';
import { link } from '../text/entities.js';
import { plain } from '../text/mrkdwn.js';
import { broken } from './elements.js';
import { imageUrl, text } from './fields.js';

/** image, video, file. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block */

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function image(ctx, block) {
  const url = imageUrl(block);
  const title = plain(block.title);
  return h(
    'figure',
    { class: 'b-image' },
    title !== '' && h('figcaption', { class: 'image-title' }, title),
    h(
      'button',
      {
        type: 'button',
        class: 'image-button',
        'aria-label': `Open image: ${text(block.alt_text)}`,
        onClick: () => url !== undefined && ctx.openImage(url, text(block.alt_text)),
      },
      h('img', {
        src: url,
        alt: text(block.alt_text),
        loading: 'lazy',
        referrerpolicy: 'no-referrer',
        onError: broken,
      }),
    ),
  );
}

/**
 * A video is shown as a link with its picture: the page embeds nothing from elsewhere.
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function video(ctx, block) {
  const href = text(block.title_url) || text(block.video_url);
  const about = [text(block.author_name), text(block.provider_name)].filter((part) => part !== '').join(' · ');
  return h(
    'div',
    { class: 'b-video' },
    about !== '' && h('div', { class: 'video-about' }, about),
    h('div', { class: 'video-title' }, link(ctx, href, [plain(block.title)])),
    block.description && h('div', { class: 'video-description' }, plain(block.description)),
    link(
      ctx,
      href,
      [
        h('img', {
          src: text(block.thumbnail_url),
          alt: text(block.alt_text),
          loading: 'lazy',
          referrerpolicy: 'no-referrer',
          onError: broken,
        }),
        h('span', { class: 'video-play', 'aria-hidden': 'true' }, '▶'),
      ],
      'video-frame',
    ),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function file(ctx, block) {
  const found = block.file ?? {};
  const name = text(found.title) || text(found.name) || text(block.external_id) || 'File';
  return fileCard(ctx, name, text(found.url_private) || text(found.permalink), 'Remote file');
}

/**
 * A file attached to a message.
 * @param {Ctx} ctx
 * @param {import('../../../slack-shapes.ts').SlackFile} attached
 */
export function messageFile(ctx, attached) {
  const title = attached.title || attached.name;
  if (attached.mimetype.startsWith('image/')) {
    return image(ctx, {
      image_url: attached.url_private,
      alt_text: title,
      title: { type: 'plain_text', text: title, emoji: false },
    });
  }
  return fileCard(ctx, title, attached.url_private, `${attached.mimetype} · ${size(attached.size)}`);
}

/**
 * @param {Ctx} ctx
 * @param {string} name
 * @param {string} url
 * @param {string} detail
 */
function fileCard(ctx, name, url, detail) {
  return h(
    'div',
    { class: 'b-file' },
    h('span', { class: 'file-icon', 'aria-hidden': 'true' }, '📄'),
    h(
      'div',
      { class: 'file-text' },
      url === '' ? h('span', { class: 'file-name' }, name) : link(ctx, url, [name], 'file-name'),
      h('span', { class: 'file-detail' }, detail),
    ),
  );
}

/** @param {number} bytes */
function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
