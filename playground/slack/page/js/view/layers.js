import { contextFor } from '../context.js';
import { icon } from '../core/icons.js';
import { html } from '../core/dom.js';
import { plain, textObject } from '../text/mrkdwn.js';
import { trapFocus } from './focus.js';

/** @typedef {import('../app.js').App} App */

/** "Are you sure?", as the element's confirm object words it. @param {App} app */
export function confirmDialog(app) {
  const open = app.ui.confirm;
  if (!open) return null;
  const { object, answer } = open;
  const ctx = contextFor(app, { scope: 'confirm', surface: 'modal', container: { type: 'view', viewId: '' } });
  const danger = object.style === 'danger';
  return html`<div class="overlay overlay-confirm" key="confirm">
    <div class="modal modal-small" role="alertdialog" aria-modal="true"
      aria-label=${plain(object.title) || 'Are you sure?'} data-testid="confirm" hook=${trapFocus()}
      onKeydown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && answer(false)}>
      <header class="modal-head"><h2 class="modal-title">${plain(object.title) || 'Are you sure?'}</h2></header>
      <div class="modal-body b-text">${textObject(ctx, object.text)}</div>
      <footer class="modal-foot">
        <button type="button" class="btn" data-testid="confirm-no" onClick=${() => answer(false)}>
          ${plain(object.deny) || 'Cancel'}
        </button>
        <button type="button" class="btn ${danger ? 'btn-danger is-solid' : 'btn-primary'}" data-testid="confirm-yes"
          data-autofocus="true" onClick=${() => answer(true)}>
          ${plain(object.confirm) || 'Yes'}
        </button>
      </footer>
    </div>
  </div>`;
}

/** One picture, large. @param {App} app */
export function imageViewer(app) {
  const open = app.ui.image;
  if (!open) return null;
  const close = () => app.set({ image: undefined });
  return html`<div
    class="overlay image-viewer" key="image" role="dialog" aria-modal="true" aria-label=${open.alt} hook=${trapFocus()}
    onClick=${close} onKeydown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && close()}>
    <button type="button" class="tool image-close" aria-label="Close" onClick=${close}>${icon('close')}</button>
    <img src=${open.url} alt=${open.alt} referrerpolicy="no-referrer" />
  </div>`;
}

/** Short words in passing. @param {App} app */
export function toasts(app) {
  return html`<div class="toasts" key="toasts" role="status" aria-live="polite">
    ${app.ui.toasts.map((toast) =>
      html`<div key=${toast.id} class="toast toast-${toast.kind}" data-testid="toast">
        <span>${toast.text}</span>
        <button type="button" class="tool" aria-label="Dismiss" onClick=${() => app.dropToast(toast.id)}>
          ${icon('close')}
        </button>
      </div>`,
    )}
  </div>`;
}

/** Said while the line to the local workspace is down. @param {App} app */
export function connectionBanner(app) {
  if (app.ui.connection !== 'lost') return null;
  return html`<div class="banner" role="alert" key="banner" data-testid="connection-lost">
    ${icon('wifiOff')}
    <span>Connection lost. Trying again by itself…</span>
    <button type="button" class="text-button" onClick=${() => app.retryNow()}>Try now</button>
  </div>`;
}
