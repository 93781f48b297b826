import { renderBlocks } from '../blocks/render.js';
import { contextFor } from '../context.js';
import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { html } from '../core/dom.js';
import { plain } from '../text/mrkdwn.js';
import { trapFocus } from './focus.js';
import { missingFields } from './form-check.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').View} View */

/** The top modal of this person's stack. @param {App} app */
export function modal(app) {
  const stack = app.data.snapshot?.views[app.ui.viewer] ?? [];
  const view = stack.at(-1);
  if (!view) return null;
  const scope = `view:${view.id}`;
  const ctx = contextFor(app, { scope, surface: 'modal', container: { type: 'view', viewId: view.id } });
  const sending = app.ui.busy.has(scope);
  const close = (/** @type {boolean} */ all) =>
    void app.report(act('view.close', { userId: app.ui.viewer, viewId: view.id, ...(all ? { all } : {}) }));
  const title = plain(view.title) || 'Dialog';
  return html`<div class="overlay" key="modal"
    onMousedown=${(/** @type {MouseEvent} */ event) =>
      event.target === event.currentTarget && view.submit === undefined && close(true)}>
    <form key=${view.id} class="modal${hasWideContent(view) ? ' modal-wide' : ''}" role="dialog" aria-modal="true"
      aria-label=${title} data-testid="modal" novalidate hook=${trapFocus()}
      onKeydown=${(/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Escape' && !app.ui.menu) {
          event.preventDefault();
          close(false);
        }
      }}
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        if (view.submit) void submit(app, view, scope);
      }}>
      <header class="modal-head">
        ${stack.length > 1 &&
          html`<button type="button" class="tool" aria-label="Back" data-testid="modal-back" onClick=${() => close(false)}>
            ${icon('back')}
          </button>`}
        <h2 class="modal-title">${title}</h2>
        <button type="button" class="tool" aria-label="Close" data-testid="modal-close" onClick=${() => close(true)}>
          ${icon('close')}
        </button>
      </header>
      <div class="modal-body" tabindex="0">${renderBlocks(ctx, view.blocks)}</div>
      ${footer(app, view, sending, close)}
    </form>
  </div>`;
}

/** Output of tools and tables need the room. @param {View} view */
function hasWideContent(view) {
  return view.blocks.some((block) => {
    if (['table', 'data_table', 'markdown'].includes(block.type)) return true;
    const text = JSON.stringify(block);
    return text.includes('```') || text.includes('rich_text_preformatted');
  });
}

/** @param {App} app @param {View} view @param {boolean} sending @param {(all: boolean) => void} close */
function footer(app, view, sending, close) {
  const closeText = plain(view.close) || (view.submit ? 'Cancel' : 'Close');
  return html`<footer class="modal-foot">
    <button type="button" class="btn" data-testid="modal-cancel" onClick=${() => close(false)}>${closeText}</button>
    ${view.submit &&
      html`<button type="submit" class="btn btn-primary" disabled=${sending} aria-busy=${sending ? 'true' : undefined}
        data-testid="modal-submit">
        ${sending && html`<span class="spinner" aria-hidden="true" />`}
        ${plain(view.submit)}
      </button>`}
  </footer>`;
}

/** @param {App} app @param {View} view @param {string} scope */
async function submit(app, view, scope) {
  const form = app.forms.get(scope) ?? {};
  const missing = missingFields(view.blocks, form);
  app.set({ errors: { ...app.ui.errors, [view.id]: missing } });
  if (Object.keys(missing).length > 0 || app.ui.busy.has(scope)) return;
  app.setBusy(scope, true);
  const answer = await app.report(act('view.submit', { userId: app.ui.viewer, viewId: view.id, form }));
  app.setBusy(scope, false);
  app.set({ errors: { ...app.ui.errors, [view.id]: answer.ok ? { ...answer.errors } : {} } });
}
