import { renderBlocks } from '../blocks/render.js';
import { contextFor } from '../context.js';
import { html } from '../core/dom.js';
import { emptyState } from './empty-state.js';

/** The app's Home tab for this person. @param {import('../app.js').App} app @param {string} name */
export function homeTab(app, name) {
  const view = app.data.snapshot?.homes[app.ui.viewer];
  if (!view)
    return html`<div class="scroller home">
      ${emptyState(`${name} has not drawn its Home yet`, 'It appears as soon as the app publishes it.')}
    </div>`;
  const ctx = contextFor(app, {
    scope: `home:${app.ui.viewer}:${view.id}`,
    surface: 'home',
    container: { type: 'view', viewId: view.id },
  });
  return html`<div class="scroller home" tabindex="0" data-testid="home">
    <div class="home-body">${renderBlocks(ctx, view.blocks)}</div>
  </div>`;
}
