import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { appUser, channelMessages } from '../core/select-state.js';
import { html, isSafeAddress } from '../core/dom.js';
import { avatar } from './avatar.js';
import { composer, sayInDirect } from './composer.js';
import { emptyState } from './empty-state.js';
import { homeTab } from './home.js';
import { messageList } from './message-list.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Channel} Channel */

/** @param {App} app */
export function mainColumn(app) {
  const channel = app.data.channels.get(app.ui.channel);
  if (app.ui.home || channel?.is_im) return appColumn(app, channel);
  if (!channel)
    return html`<main class="column main-column">${emptyState('Choose a channel', 'Your channels are on the left.')}</main>`;
  return html`<main class="column main-column" aria-label="Channel ${channel.name}">
    ${channelHead(app, channel)}
    ${channelBody(app, channel)}
  </main>`;
}

/** @param {App} app @param {Channel} channel */
function channelHead(app, channel) {
  const pins = app.data.snapshot?.pins[channel.id] ?? [];
  const bookmarks = app.data.snapshot?.bookmarks[channel.id] ?? [];
  return html`<header class="column-head">
    ${backButton(app)}
    <div class="head-words">
      <h2 class="head-title">
        ${icon(channel.is_private ? 'lock' : 'hash', 'icon head-icon')}
        ${channel.name}
      </h2>
      ${channel.topic !== '' && html`<p class="head-topic">${channel.topic}</p>`}
    </div>
    ${bookmarks.length > 0 &&
      html`<div class="head-links">
        ${bookmarks
          .filter((one) => isSafeAddress(one.link))
          .map((one) =>
            html`<a class="head-link" href=${one.link} target="_blank" rel="noopener noreferrer">${one.title}</a>`,
          )}
      </div>`}
    ${pins.length > 0 &&
      html`<button type="button" class="head-chip" title="Go to the pinned message"
        onClick=${() => app.go({ channel: channel.id, focus: pins.at(-1) ?? '' })}>
        ${icon('pin')}
        ${String(pins.length)}
      </button>`}
    <span class="head-chip" title="${channel.members.length} members">
      ${'👥 '}
      ${String(channel.members.length)}
    </span>
  </header>`;
}

/** @param {App} app */
export function backButton(app) {
  return html`<button
    type="button" class="tool back-button" aria-label="Show the channel list" onClick=${() => app.set({ pane: 'list' })}>
    ${icon('back')}
  </button>`;
}

/** @param {App} app @param {Channel} channel */
function channelBody(app, channel) {
  const entries = channelMessages(app.data, channel.id, app.ui.viewer);
  const member = channel.members.includes(app.ui.viewer);
  return [
    html`<div key="list-${channel.id}-${app.ui.viewer}" class="scroller" data-stick="channel" role="log"
      aria-label="Messages in ${channel.name}" tabindex="0">
      <div class="list-start">${channel.is_im ? null : channelStart(channel)}</div>
      ${entries.length === 0 && !channel.is_im
        ? emptyState(
            'Quiet so far',
            channel.name === 'alerts'
              ? 'Press “Cause an incident” and watch an alert arrive here.'
              : 'Nobody has written here yet.',
          )
        : messageList(app, entries, 'channel')}
    </div>`,
    channel.is_im && suggestedPrompts(app, channel),
    member || channel.is_im ? composer(app, { channel, thread: undefined }) : joinBar(app, channel),
  ];
}

/** What the app offers to ask. @param {App} app @param {Channel} channel */
function suggestedPrompts(app, channel) {
  const offered = app.data.snapshot?.prompts[channel.id];
  if (!offered) return null;
  return html`<div class="prompts" data-testid="prompts" role="group" aria-label=${offered.title || 'Suggestions'}>
    ${offered.title !== '' && html`<span class="prompts-title">${offered.title}</span>`}
    ${offered.prompts.map((prompt) =>
      html`<button type="button" class="btn btn-small" onClick=${() => void sayInDirect(app, channel, prompt.message)}>
        ${prompt.title}
      </button>`,
    )}
  </div>`;
}

/** @param {Channel} channel */
function channelStart(channel) {
  return [
    html`<div class="start-mark">${icon(channel.is_private ? 'lock' : 'hash')}</div>`,
    html`<h3>#${channel.name}</h3>`,
    html`<p>This is the very beginning of #${channel.name}. ${channel.topic}</p>`,
  ];
}

/** @param {App} app @param {Channel} channel */
function joinBar(app, channel) {
  return html`<div class="join-bar">
    <span>You are looking at #${channel.name} from outside.</span>
    <button type="button" class="btn btn-primary" data-testid="join"
      onClick=${() => void app.report(act('channel.join', { userId: app.ui.viewer, channel: channel.id }))}>
      Join channel
    </button>
  </div>`;
}

/**
 * The app's own place: its Home tab and the direct message with it.
 * @param {App} app
 * @param {Channel | undefined} channel
 */
function appColumn(app, channel) {
  const bot = appUser(app.data);
  const name = bot?.real_name ?? 'App';
  const tab = (
    /** @type {string} */ label,
    /** @type {boolean} */ selected,
    /** @type {() => void} */ onClick,
    /** @type {string} */ id,
  ) =>
    html`<button
      type="button" class="tab${selected ? ' is-selected' : ''}" role="tab" aria-selected=${selected} data-testid=${id}
      onClick=${onClick}>
      ${label}
    </button>`;
  return html`<main class="column main-column" aria-label=${name}>
    <header class="column-head app-head">
      ${backButton(app)}
      ${avatar({ id: bot?.id ?? 'app', name, isApp: true })}
      <div class="head-words"><h2 class="head-title">${name}<span class="app-badge">APP</span></h2></div>
      <div class="tabs" role="tablist">
        ${tab('Home', app.ui.home, () => void app.openHome(), 'tab-home')}
        ${tab('Messages', !app.ui.home, () => void app.openDirectMessage(), 'tab-messages')}
      </div>
    </header>
    ${app.ui.home || !channel ? homeTab(app, name) : channelBody(app, channel)}
  </main>`;
}
