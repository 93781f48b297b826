import { html } from '../core/dom.js';
import { withEmoji } from '../text/emoji.js';
import { dateText, link } from '../text/entities.js';
import { mrkdwn, unescape } from '../text/mrkdwn.js';
import { broken } from './elements.js';
import { list, text } from './fields.js';
import { renderBlocks } from './render.js';

/** Secondary attachments, as Alertmanager, Grafana and older apps send them. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Child} Child */

/** @type {Record<string, string>} */
const NAMED = { good: '#2eb886', warning: '#daa038', danger: '#d63b4f' };

/** A colour that may go into a style, or undefined. @param {unknown} value */
export function safeColor(value) {
  if (typeof value !== 'string') return undefined;
  const named = NAMED[value];
  if (named) return named;
  const hex = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value.trim());
  return hex ? `#${hex[1]}` : undefined;
}

/** @param {Ctx} ctx @param {any} attachment */
export function renderAttachment(ctx, attachment) {
  const color = safeColor(attachment.color);
  const pretext = text(attachment.pretext);
  const body = Array.isArray(attachment.blocks) ? renderBlocks(ctx, attachment.blocks) : classic(ctx, attachment);
  return html`<div class="attachment-wrap">
    ${pretext !== '' && html`<div class="attachment-pretext b-text">${mrkdwn(ctx, pretext)}</div>`}
    <div class="attachment" style=${color ? { '--bar': color } : {}}>${body}</div>
  </div>`;
}

/** @param {Ctx} ctx @param {any} attachment @returns {Child} */
function classic(ctx, attachment) {
  const title = text(attachment.title);
  const titleLink = text(attachment.title_link);
  const body = text(attachment.text);
  const fields = list(attachment.fields);
  const nothing = title === '' && body === '' && fields.length === 0;
  return [
    attachment.author_name && author(ctx, attachment),
    title !== '' &&
      html`<div class="attachment-title">
        ${titleLink === '' ? withEmoji(unescape(title)) : link(ctx, titleLink, [withEmoji(unescape(title))])}
      </div>`,
    body !== '' && html`<div class="b-text">${mrkdwn(ctx, body)}</div>`,
    nothing && html`<div class="b-text">${unescape(text(attachment.fallback))}</div>`,
    fields.length > 0 &&
      html`<div class="attachment-fields">
        ${fields.map((field) =>
          html`<div class=${field.short ? 'attachment-field is-short' : 'attachment-field'}>
            <div class="field-title">${withEmoji(unescape(text(field.title)))}</div>
            <div class="b-text">
              ${mrkdwn(ctx, typeof field.value === 'number' ? String(field.value) : text(field.value))}
            </div>
          </div>`,
        )}
      </div>`,
    legacyActions(ctx, attachment),
    attachment.image_url &&
      html`<img class="attachment-image" src=${text(attachment.image_url)} alt=${title || 'image'} loading="lazy"
        referrerpolicy="no-referrer" onError=${broken} />`,
    footer(attachment),
  ];
}

/** @param {Ctx} ctx @param {any} attachment */
function author(ctx, attachment) {
  const name = unescape(text(attachment.author_name));
  const href = text(attachment.author_link);
  return html`<div class="attachment-author">${href === '' ? name : link(ctx, href, [name])}</div>`;
}

/**
 * Link buttons work; classic interactive ones (removed from new apps) are shown switched off.
 * @param {Ctx} ctx
 * @param {any} attachment
 */
function legacyActions(ctx, attachment) {
  const all = list(attachment.actions);
  if (all.length === 0) return null;
  return html`<div class="b-actions">
    ${all.map((action) => {
      const style = action.style === 'primary' ? ' btn-primary' : action.style === 'danger' ? ' btn-danger' : '';
      const label = withEmoji(unescape(text(action.text)));
      return text(action.url) === ''
        ? html`<button type="button" class="btn${style}" disabled title="Classic attachment buttons do nothing here">
          ${label}
        </button>`
        : link(ctx, text(action.url), [label], `btn${style}`);
    })}
  </div>`;
}

/** @param {any} attachment */
function footer(attachment) {
  const words = unescape(text(attachment.footer));
  const when = Number(attachment.ts);
  const time = Number.isFinite(when) && when > 0 ? dateText(when, '{date_short_pretty} {time}', '') : '';
  if (words === '' && time === '') return null;
  return html`<div class="attachment-footer">${[words, time].filter((part) => part !== '').join('  ·  ')}</div>`;
}
