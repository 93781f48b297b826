import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { appUser, channelMessages } from '../core/select-state.js';
import { h, isSafeAddress } from '../core/vdom.js';
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
    return h('main', { class: 'column main-column' }, emptyState('Choose a channel', 'Your channels are on the left.'));
  return h(
    'main',
    { class: 'column main-column', 'aria-label': `Channel ${channel.name}` },
    channelHead(app, channel),
    channelBody(app, channel),
  );
}

/**
 * @param {App} app
 * @param {Channel} channel
 */
function channelHead(app, channel) {
  const pins = app.data.snapshot?.pins[channel.id] ?? [];
  const bookmarks = app.data.snapshot?.bookmarks[channel.id] ?? [];
  return h(
    'header',
    { class: 'column-head' },
    backButton(app),
    h(
      'div',
      { class: 'head-words' },
      h('h2', { class: 'head-title' }, icon(channel.is_private ? 'lock' : 'hash', 'icon head-icon'), channel.name),
      channel.topic !== '' && h('p', { class: 'head-topic' }, channel.topic),
    ),
    bookmarks.length > 0 &&
      h(
        'div',
        { class: 'head-links' },
        bookmarks
          .filter((one) => isSafeAddress(one.link))
          .map((one) =>
            h('a', { class: 'head-link', href: one.link, target: '_blank', rel: 'noopener noreferrer' }, one.title),
          ),
      ),
    pins.length > 0 &&
      h(
        'button',
        {
          type: 'button',
          class: 'head-chip',
          title: 'Go to the pinned message',
          onClick: () => app.go({ channel: channel.id, focus: pins.at(-1) ?? '' }),
        },
        icon('pin'),
        String(pins.length),
      ),
    h(
      'span',
      { class: 'head-chip', title: `${channel.members.length} members` },
      '👥 ',
      String(channel.members.length),
    ),
  );
}

/** @param {App} app */
export function backButton(app) {
  return h(
    'button',
    {
      type: 'button',
      class: 'tool back-button',
      'aria-label': 'Show the channel list',
      onClick: () => app.set({ pane: 'list' }),
    },
    icon('back'),
  );
}

/**
 * @param {App} app
 * @param {Channel} channel
 */
function channelBody(app, channel) {
  const entries = channelMessages(app.data, channel.id, app.ui.viewer);
  const member = channel.members.includes(app.ui.viewer);
  return [
    h(
      'div',
      {
        key: `list-${channel.id}-${app.ui.viewer}`,
        class: 'scroller',
        'data-stick': 'channel',
        role: 'log',
        'aria-label': `Messages in ${channel.name}`,
        tabindex: '0',
      },
      h('div', { class: 'list-start' }, channel.is_im ? null : channelStart(channel)),
      entries.length === 0 && !channel.is_im
        ? emptyState(
            'Quiet so far',
            channel.name === 'alerts'
              ? 'Press “Cause an incident” and watch an alert arrive here.'
              : 'Nobody has written here yet.',
          )
        : messageList(app, entries, 'channel'),
    ),
    channel.is_im && suggestedPrompts(app, channel),
    member || channel.is_im ? composer(app, { channel, thread: undefined }) : joinBar(app, channel),
  ];
}

/**
 * What the app offers to ask.
 * @param {App} app
 * @param {Channel} channel
 */
function suggestedPrompts(app, channel) {
  const offered = app.data.snapshot?.prompts[channel.id];
  if (!offered) return null;
  return h(
    'div',
    { class: 'prompts', 'data-testid': 'prompts', role: 'group', 'aria-label': offered.title || 'Suggestions' },
    offered.title !== '' && h('span', { class: 'prompts-title' }, offered.title),
    offered.prompts.map((prompt) =>
      h(
        'button',
        { type: 'button', class: 'btn btn-small', onClick: () => void sayInDirect(app, channel, prompt.message) },
        prompt.title,
      ),
    ),
  );
}

/** @param {Channel} channel */
function channelStart(channel) {
  return [
    h('div', { class: 'start-mark' }, icon(channel.is_private ? 'lock' : 'hash')),
    h('h3', null, `#${channel.name}`),
    h('p', null, `This is the very beginning of #${channel.name}. ${channel.topic}`),
  ];
}

/**
 * @param {App} app
 * @param {Channel} channel
 */
function joinBar(app, channel) {
  return h(
    'div',
    { class: 'join-bar' },
    h('span', null, `You are looking at #${channel.name} from outside.`),
    h(
      'button',
      {
        type: 'button',
        class: 'btn btn-primary',
        'data-testid': 'join',
        onClick: () => void app.report(act('channel.join', { userId: app.ui.viewer, channel: channel.id })),
      },
      'Join channel',
    ),
  );
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
    h(
      'button',
      {
        type: 'button',
        class: `tab${selected ? ' is-selected' : ''}`,
        role: 'tab',
        'aria-selected': selected ? 'true' : 'false',
        'data-testid': id,
        onClick,
      },
      label,
    );
  return h(
    'main',
    { class: 'column main-column', 'aria-label': name },
    h(
      'header',
      { class: 'column-head app-head' },
      backButton(app),
      avatar({ id: bot?.id ?? 'app', name, isApp: true }),
      h(
        'div',
        { class: 'head-words' },
        h('h2', { class: 'head-title' }, name, h('span', { class: 'app-badge' }, 'APP')),
      ),
      h(
        'div',
        { class: 'tabs', role: 'tablist' },
        tab('Home', app.ui.home, () => void app.openHome(), 'tab-home'),
        tab('Messages', !app.ui.home, () => void app.openDirectMessage(), 'tab-messages'),
      ),
    ),
    app.ui.home || !channel ? homeTab(app, name) : channelBody(app, channel),
  );
}
