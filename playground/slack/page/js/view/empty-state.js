import { icon } from '../core/icons.js';
import { html } from '../core/dom.js';

/** What stands where there is nothing yet. @param {string} title @param {string} words */
export function emptyState(title, words) {
  return html`<div class="empty">
    <div class="empty-mark" aria-hidden="true">${icon('radar')}</div>
    <h3>${title}</h3>
    <p>${words}</p>
  </div>`;
}
