import { html } from '../core/dom.js';
import { link } from '../text/entities.js';
import { plain } from '../text/mrkdwn.js';
import { broken } from './elements.js';
import { imageUrl, text } from './fields.js';

/** image, video, file. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block */

/** @param {Ctx} ctx @param {Block} block */
export function image(ctx, block) {
  const url = imageUrl(block);
  const title = plain(block.title);
  return html`<figure class="b-image">
    ${title !== '' && html`<figcaption class="image-title">${title}</figcaption>`}
    <button type="button" class="image-button" aria-label="Open image: ${text(block.alt_text)}"
      onClick=${() => url !== undefined && ctx.openImage(url, text(block.alt_text))}>
      <img src=${url} alt=${text(block.alt_text)} loading="lazy" referrerpolicy="no-referrer" onError=${broken} />
    </button>
  </figure>`;
}

/**
 * A video is shown as a link with its picture: the page embeds nothing from elsewhere.
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function video(ctx, block) {
  const href = text(block.title_url) || text(block.video_url);
  const about = [text(block.author_name), text(block.provider_name)].filter((part) => part !== '').join(' · ');
  return html`<div class="b-video">
    ${about !== '' && html`<div class="video-about">${about}</div>`}
    <div class="video-title">${link(ctx, href, [plain(block.title)])}</div>
    ${block.description && html`<div class="video-description">${plain(block.description)}</div>`}
    ${link(
      ctx,
      href,
      [
        html`<img src=${text(block.thumbnail_url)} alt=${text(block.alt_text)} loading="lazy" referrerpolicy="no-referrer"
          onError=${broken} />`,
        html`<span class="video-play" aria-hidden="true">▶</span>`,
      ],
      'video-frame',
    )}
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block */
export function file(ctx, block) {
  const found = block.file ?? {};
  const name = text(found.title) || text(found.name) || text(block.external_id) || 'File';
  return fileCard(ctx, name, text(found.url_private) || text(found.permalink), 'Remote file');
}

/** A file attached to a message. @param {Ctx} ctx @param {import('../../../slack-shapes.ts').SlackFile} attached */
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

/** @param {Ctx} ctx @param {string} name @param {string} url @param {string} detail */
function fileCard(ctx, name, url, detail) {
  return html`<div class="b-file">
    <span class="file-icon" aria-hidden="true">📄</span>
    <div class="file-text">
      ${url === '' ? html`<span class="file-name">${name}</span>` : link(ctx, url, [name], 'file-name')}
      <span class="file-detail">${detail}</span>
    </div>
  </div>`;
}

/** @param {number} bytes */
function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
