import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { author, threadMessages } from '../core/select-state.js';
import { html } from '../core/dom.js';
import { composer } from './composer.js';
import { messageRow } from './message.js';
import { messageList } from './message-list.js';
import { asItWas, replayBar, replayOf, startReplay } from './replay.js';

/** The thread beside the channel. @param {import('../app.js').App} app */
export function threadPane(app) {
  const channel = app.data.channels.get(app.ui.channel);
  const ts = app.ui.thread;
  if (!channel || ts === undefined || app.ui.home) return null;
  const replay = replayOf(app, channel.id, ts);
  const seen = replay ? asItWas(app, replay) : app;
  const { root, replies } = threadMessages(seen.data, channel.id, ts, app.ui.viewer);
  const count = replies.length;
  const close = () => app.go({ channel: channel.id });
  return html`<aside class="column thread-column" data-testid="thread" aria-label="Thread"
    onKeydown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && !event.defaultPrevented && close()}>
    <header class="column-head">
      <button type="button" class="tool thread-back" aria-label="Back to the channel" onClick=${close}>
        ${icon('back')}
      </button>
      <div class="head-words">
        <h2 class="head-title">${app.data.snapshot?.titles[`${channel.id}/${ts}`] ?? 'Thread'}</h2>
        <p class="head-topic">${channel.is_im ? 'Direct message' : `#${channel.name}`}</p>
      </div>
      ${root?.bot_id &&
        !replay &&
        html`<button type="button" class="tool" aria-label="Replay how this thread came to be" data-testid="replay-open"
          onClick=${() => void startReplay(app, channel.id, ts)}>
          ${icon('replay')}
        </button>`}
      <button
        type="button" class="tool thread-close" aria-label="Close thread" data-testid="thread-close" onClick=${close}>
        ${icon('close')}
      </button>
    </header>
    ${replay && replayBar(app, replay)}
    <div key="thread-${channel.id}-${ts}-${app.ui.viewer}" class="scroller" inert=${replay !== undefined}
      data-stick="thread" role="log"
      aria-label="Thread messages" tabindex="0">
      ${root
        ? messageRow(seen, root, { place: 'thread', ephemeral: false, compact: false, isRoot: true })
        : html`<p class="message-system">The message this thread began with was deleted.</p>`}
      ${count > 0 &&
        html`<div class="thread-count" role="separator"><span>${count} ${count === 1 ? 'reply' : 'replies'}</span></div>`}
      ${messageList(seen, replies, 'thread')}
      ${!replay && statusLine(app, channel.id, ts)}
    </div>
    ${!replay && (channel.members.includes(app.ui.viewer) || channel.is_im) ? composer(app, { channel, thread: ts }) : null}
  </aside>`;
}

/**
 * "Sentry is reading pg_stat_activity…", while it lasts.
 * @param {import('../app.js').App} app
 * @param {string} channel
 * @param {string} ts
 */
function statusLine(app, channel, ts) {
  const status = app.data.snapshot?.statuses.find((one) => one.channel === channel && one.thread_ts === ts);
  if (!status) return null;
  const name = author(app.data, /** @type {any} */ ({ bot_id: status.botId, text: '' })).name;
  return html`<div class="status-line" role="status" data-testid="thread-status">
    <span class="status-dots" aria-hidden="true"><i /><i /><i /></span>
    <span><strong>${name}</strong>${` ${status.text}`}</span>
    ${!status.clearsOnReply &&
      html`<button type="button" class="btn btn-small" data-testid="session-stop"
        onClick=${() => void app.report(act('session.stop', { userId: app.ui.viewer, channel, thread_ts: ts }))}>
        Stop
      </button>`}
  </div>`;
}
