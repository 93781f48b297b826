import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { h } from '../core/vdom.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Fault} Fault */

/** @type {Record<Fault['state'], string>} */
const WORDS = {
  idle: 'Ready',
  causing: 'Causing…',
  active: 'Happening now',
  undoing: 'Undoing…',
  failed: 'Did not work',
};

/**
 * The panel *Cause an incident*: real faults in the system under care.
 * @param {App} app
 */
export function faultPanel(app) {
  const panel = app.data.snapshot?.faults;
  if (!app.ui.faultsOpen || !panel) return null;
  const close = () => app.set({ faultsOpen: false });
  return h(
    'section',
    {
      key: 'faults',
      class: 'fault-panel',
      role: 'dialog',
      'aria-label': 'Cause an incident',
      'data-testid': 'faults',
      hook: { mount: (/** @type {HTMLElement} */ el) => setTimeout(() => el.focus({ preventScroll: true })) },
      tabindex: '-1',
      onKeydown: (/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && close(),
    },
    h(
      'header',
      { class: 'fault-head' },
      h('div', { class: 'fault-mark', 'aria-hidden': 'true' }, icon('bolt')),
      h(
        'div',
        null,
        h('h2', null, 'Cause an incident'),
        h('p', null, 'Real faults in a real database. The alert arrives in #alerts.'),
      ),
      h(
        'button',
        { type: 'button', class: 'tool', 'aria-label': 'Close', 'data-testid': 'faults-close', onClick: close },
        icon('close'),
      ),
    ),
    panel.available
      ? h(
          'ul',
          { class: 'fault-list' },
          panel.faults.map((fault) => faultRow(app, fault)),
        )
      : h(
          'p',
          { class: 'fault-none', 'data-testid': 'faults-unavailable' },
          panel.reason ?? 'No system to break is running.',
        ),
  );
}

/**
 * @param {App} app
 * @param {Fault} fault
 */
function faultRow(app, fault) {
  const working = fault.state === 'causing' || fault.state === 'undoing';
  const body = { userId: app.ui.viewer, id: fault.id };
  return h(
    'li',
    {
      key: fault.id,
      class: `fault fault-${fault.state}`,
      'data-testid': `fault-${fault.id}`,
      'data-state': fault.state,
    },
    h(
      'div',
      { class: 'fault-words' },
      h('div', { class: 'fault-title' }, fault.title),
      h('p', { class: 'fault-description' }, fault.description),
      h(
        'p',
        { class: 'fault-state', role: 'status' },
        working
          ? h('span', { class: 'spinner', 'aria-hidden': 'true' })
          : h('span', { class: 'fault-dot', 'aria-hidden': 'true' }),
        WORDS[fault.state],
        fault.detail && h('span', { class: 'fault-detail' }, ` · ${fault.detail}`),
      ),
    ),
    h(
      'div',
      { class: 'fault-buttons' },
      fault.state === 'active' || fault.state === 'undoing'
        ? h(
            'button',
            {
              type: 'button',
              class: 'btn btn-small',
              disabled: working,
              'data-testid': `fault-undo-${fault.id}`,
              onClick: () => void app.report(act('fault.undo', body)),
            },
            icon('undo', 'icon btn-svg'),
            'Undo',
          )
        : h(
            'button',
            {
              type: 'button',
              class: 'btn btn-small btn-danger is-solid',
              disabled: working,
              'data-testid': `fault-cause-${fault.id}`,
              onClick: () => void cause(app, body),
            },
            icon('bolt', 'icon btn-svg'),
            'Cause',
          ),
      fault.state === 'failed' &&
        h(
          'button',
          {
            type: 'button',
            class: 'btn btn-small',
            'data-testid': `fault-undo-${fault.id}`,
            onClick: () => void app.report(act('fault.undo', body)),
          },
          'Undo',
        ),
    ),
  );
}

/**
 * On a phone the panel covers the channel, so it makes way.
 * @param {App} app
 * @param {{ userId: string, id: string }} body
 */
async function cause(app, body) {
  const answer = await app.report(act('fault.cause', body));
  if (!answer.ok || !matchMedia('(max-width: 720px)').matches) return;
  const alerts = [...app.data.channels.values()].find((channel) => channel.name === 'alerts');
  app.set({ faultsOpen: false });
  if (alerts) app.go({ channel: alerts.id });
}
