import { App } from './app.js';
import { act } from './core/connection.js';
import { unread, visibleChannels } from './core/select-state.js';
import { html, onPhone, render } from './core/dom.js';
import { mainColumn } from './view/channel.js';
import { faultPanel } from './view/faults.js';
import { confirmDialog, connectionBanner, imageViewer, toasts } from './view/layers.js';
import { closeMenu, menuLayer } from './view/menu.js';
import { modal } from './view/modal.js';
import { createScrollKeeper } from './view/scroll.js';
import { sidebar } from './view/sidebar.js';
import { threadPane } from './view/thread.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
const scroll = createScrollKeeper(root);
let scheduled = false;
/** The last message reported as read, by user and channel, so that it is reported once. @type {Map<string, string>} */
const reported = new Map();

const app = new App(schedule, draw);
document.addEventListener('visibilitychange', schedule);
window.addEventListener('focus', schedule);
window.addEventListener('resize', () => app.ui.menu && closeMenu(app));
schedule();

function schedule() {
  if (scheduled) return;
  scheduled = true;
  // A hidden tab gets no animation frames, but must still be up to date when a test or a person looks.
  if (document.hidden) setTimeout(draw);
  else requestAnimationFrame(draw);
}

function draw() {
  scheduled = false;
  const kept = scroll.before();
  render([shell(), modal(app), confirmDialog(app), imageViewer(app), menuLayer(app), toasts(app)], root);
  scroll.after(kept, app.ui.focus);
  markRead();
  title();
}

function shell() {
  if (!app.data.snapshot) return loading();
  const open =
    (app.data.snapshot.views[app.ui.viewer]?.length ?? 0) > 0 ||
    app.ui.confirm !== undefined ||
    app.ui.image !== undefined;
  const thread = threadPane(app);
  return html`<div key="shell" class="shell pane-${app.ui.pane}${thread ? ' has-thread' : ''}" inert=${open}>
    ${connectionBanner(app)}
    <div class="columns">${sidebar(app)}${mainColumn(app)}${thread}</div>
    ${faultPanel(app)}
  </div>`;
}

function loading() {
  const lost = app.ui.connection === 'lost';
  return html`<div key="loading" class="loading" role="status">
    <span class="spinner spinner-large" aria-hidden="true" />
    <p>${lost ? 'The local workspace does not answer. Trying again by itself…' : 'Opening the workspace…'}</p>
  </div>`;
}

/** Tells the server how far this person has read, when they can see it. */
function markRead() {
  const { viewer, channel, home, pane } = app.ui;
  if (document.hidden || home || (pane === 'list' && onPhone()) || !app.data.snapshot) return;
  const last = app.data.messages.get(channel)?.at(-1);
  if (!last || last.ts <= (app.data.snapshot.lastRead[viewer]?.[channel] ?? '0')) return;
  const key = `${viewer}:${channel}`;
  if (reported.get(key) === last.ts) return;
  reported.set(key, last.ts);
  void act('read.mark', { userId: viewer, channel, ts: last.ts });
}

function title() {
  const team = app.data.snapshot?.team.name ?? 'Local workspace';
  const fresh = visibleChannels(app.data, app.ui.viewer).reduce(
    (sum, one) => sum + unread(app.data, one.id, app.ui.viewer).count,
    0,
  );
  const wanted = `${fresh > 0 ? `(${fresh}) ` : ''}${team}`;
  if (document.title !== wanted) document.title = wanted;
}
