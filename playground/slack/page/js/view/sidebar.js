import { openMenu } from '../context.js';
import { icon } from '../core/icons.js';
import { appUser, directMessage, unread, visibleChannels } from '../core/select-state.js';
import { html } from '../core/dom.js';
import { avatar } from './avatar.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Channel} Channel */

/** @param {App} app */
export function sidebar(app) {
  const { snapshot } = app.data;
  if (!snapshot) return null;
  return html`<nav class="sidebar" aria-label="Workspace">
    <header class="sidebar-head">
      <span class="team-mark" aria-hidden="true">${snapshot.team.name.slice(0, 1)}</span>
      <div class="team-words">
        <h1 class="team-name">${snapshot.team.name}</h1>
        ${botState(app)}
      </div>
    </header>
    <div class="sidebar-scroll">
      ${group(
        'Channels',
        visibleChannels(app.data, app.ui.viewer).map((channel) => channelRow(app, channel)),
      )}
      ${appGroup(app)}
    </div>
    <footer class="sidebar-foot">${faultButton(app)}${userSwitch(app)}</footer>
  </nav>`;
}

/** @param {App} app */
function botState(app) {
  const bot = app.data.snapshot?.bot;
  const name = appUser(app.data)?.real_name ?? 'The app';
  const on = bot?.mode === 'http' || (bot?.connections ?? 0) > 0;
  return html`<p class="bot-state${on ? ' is-on' : ''}" data-testid="bot-state">
    <span class="presence" aria-hidden="true" />
    ${on ? `${name} is connected` : `${name} is not connected`}
  </p>`;
}

/** @param {string} title @param {import('../core/types.js').Child} rows */
function group(title, rows) {
  return html`<section class="nav-group" aria-label=${title}>
    <h2 class="nav-title">${title}</h2>
    <ul>${rows}</ul>
  </section>`;
}

/** @param {App} app @param {Channel} channel */
function channelRow(app, channel) {
  const { count, mentions } = unread(app.data, channel.id, app.ui.viewer);
  const current = !app.ui.home && app.ui.channel === channel.id;
  const fresh = count > 0 && !current;
  return html`<li key=${channel.id}>
    <button type="button" class="nav-row${current ? ' is-current' : ''}${fresh ? ' is-unread' : ''}"
      aria-current=${current ? 'page' : undefined} data-testid="channel-${channel.name}"
      onClick=${() => app.go({ channel: channel.id })}>
      ${icon(channel.is_private ? 'lock' : 'hash', 'icon nav-icon')}
      <span class="nav-name">${channel.name}</span>
      ${fresh &&
        html`<span class="badge${mentions > 0 ? ' badge-mention' : ''}" aria-label="${count} unread">${String(count)}</span>`}
    </button>
  </li>`;
}

/** @param {App} app */
function appGroup(app) {
  const bot = appUser(app.data);
  if (!bot) return null;
  const dm = directMessage(app.data, app.ui.viewer);
  const current = app.ui.home || (dm !== undefined && app.ui.channel === dm.id);
  const count = dm && !current ? unread(app.data, dm.id, app.ui.viewer).count : 0;
  return group(
    'Apps',
    html`<li>
      <button type="button" class="nav-row${current ? ' is-current' : ''}${count > 0 ? ' is-unread' : ''}"
        aria-current=${current ? 'page' : undefined} data-testid="app-sentry" onClick=${() => void app.openHome()}>
        ${avatar({ id: bot.id, name: bot.real_name, isApp: true }, 'small')}
        <span class="nav-name">${bot.real_name}</span>
        ${count > 0 && html`<span class="badge badge-mention">${String(count)}</span>`}
      </button>
    </li>`,
  );
}

/** @param {App} app */
function faultButton(app) {
  const active = app.data.snapshot?.faults.faults.filter((fault) => fault.state === 'active').length ?? 0;
  return html`<button type="button" class="fault-open" aria-expanded=${app.ui.faultsOpen} data-testid="faults-open"
    onClick=${() => app.set({ faultsOpen: !app.ui.faultsOpen })}>
    ${icon('bolt')}
    <span class="fault-open-text">Cause an incident</span>
    ${active > 0 && html`<span class="badge badge-mention" aria-label="${active} active">${String(active)}</span>`}
  </button>`;
}

/** @param {App} app */
function userSwitch(app) {
  const people = app.data.snapshot?.people ?? [];
  const me = people.find((person) => person.userId === app.ui.viewer);
  const user = app.data.users.get(app.ui.viewer);
  const [name = '', role = ''] = (me?.label ?? '').split(' · ');
  return html`<button
    type="button" class="user-switch" aria-haspopup="listbox" aria-label="You are ${me?.label ?? 'nobody'}. Switch user"
    data-testid="user-switch" data-user=${app.ui.viewer}
    onClick=${(/** @type {MouseEvent} */ event) =>
      openMenu(app, /** @type {Element} */ (event.currentTarget), {
        label: 'Be somebody else',
        chosen: [app.ui.viewer],
        groups: [{ label: 'You are', options: people.map((person) => personOption(person)) }],
        pick: ([id = '']) => app.switchUser(id),
      })}>
    ${avatar({ id: app.ui.viewer, name: user?.real_name ?? name, isApp: false })}
    <span class="user-words">
      <span class="user-name">${user?.real_name ?? name}</span>
      <span class="user-role">${role}</span>
    </span>
    ${icon('chevron', 'icon user-chevron')}
  </button>`;
}

/** @param {import('../../../page-api.ts').Person} person */
function personOption(person) {
  const [name = person.label, role = ''] = person.label.split(' · ');
  return { value: person.userId, text: name, description: role };
}
