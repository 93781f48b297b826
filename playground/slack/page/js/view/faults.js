import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { html, onPhone } from '../core/dom.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Fault} Fault */

/** @type {Record<Fault['state'], string>} */
const WORDS = {
  idle: 'Ready',
  causing: 'Causing…',
  active: 'Happening now',
  undoing: 'Undoing…',
  failed: 'Did not work',
};

/** The panel *Cause an incident*: real faults in the system under care. @param {App} app */
export function faultPanel(app) {
  const panel = app.data.snapshot?.faults;
  if (!app.ui.faultsOpen || !panel) return null;
  const close = () => app.set({ faultsOpen: false });
  return html`<section key="faults" class="fault-panel" role="dialog" aria-label="Cause an incident" data-testid="faults"
    hook=${{ mount: (/** @type {HTMLElement} */ el) => setTimeout(() => el.focus({ preventScroll: true })) }}
    tabindex="-1" onKeydown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && close()}>
    <header class="fault-head">
      <div class="fault-mark" aria-hidden="true">${icon('bolt')}</div>
      <div>
        <h2>Cause an incident</h2>
        <p>Real faults in real systems. The alert arrives in #alerts.</p>
      </div>
      <button type="button" class="tool" aria-label="Close" data-testid="faults-close" onClick=${close}>
        ${icon('close')}
      </button>
    </header>
    ${panel.available
      ? html`<div class="fault-list">${systemsOf(panel.faults).map((faults) => faultGroup(app, faults))}</div>`
      : html`<p class="fault-none" data-testid="faults-unavailable">${panel.reason ?? 'No system to break is running.'}</p>`}
  </section>`;
}

/** Faults by the system they happen in, in the order they come. @param {readonly Fault[]} faults */
function systemsOf(faults) {
  /** @type {Map<string, Fault[]>} */
  const systems = new Map();
  for (const fault of faults) systems.set(fault.system, [...(systems.get(fault.system) ?? []), fault]);
  return [...systems.values()];
}

/** Where none of them is possible, one sentence says why instead of many. @param {App} app @param {Fault[]} faults */
function faultGroup(app, faults) {
  const system = faults[0]?.system ?? '';
  const why = faults.every(({ impossible }) => impossible !== null) ? faults[0]?.impossible : null;
  return html`<section key=${system} class="fault-group" data-testid=${`fault-system-${system}`}>
    <h3>${system}</h3>
    ${why && html`<p class="fault-impossible">${why}</p>`}
    <ul>${faults.map((fault) => faultRow(app, fault, why ? null : fault.impossible))}</ul>
  </section>`;
}

/** @param {App} app @param {Fault} fault @param {string | null} why it is impossible, where its group has not said it */
function faultRow(app, fault, why) {
  const working = fault.state === 'causing' || fault.state === 'undoing';
  const body = { userId: app.ui.viewer, id: fault.id };
  if (fault.impossible !== null)
    return html`<li key=${fault.id} class="fault is-impossible" data-testid="fault-${fault.id}" data-state="impossible">
      <div class="fault-words">
        <div class="fault-title">${fault.title}</div>
        <p class="fault-description">${fault.description}</p>
        ${why && html`<p class="fault-description">${why}</p>`}
      </div>
    </li>`;
  return html`<li key=${fault.id} class="fault fault-${fault.state}" data-testid="fault-${fault.id}" data-state=${fault.state}>
    <div class="fault-words">
      <div class="fault-title">${fault.title}</div>
      <p class="fault-description">${fault.description}</p>
      <p class="fault-state" role="status">
        ${working
          ? html`<span class="spinner" aria-hidden="true" />`
          : html`<span class="fault-dot" aria-hidden="true" />`}
        ${WORDS[fault.state]}
        ${fault.detail && html`<span class="fault-detail">${` · ${fault.detail}`}</span>`}
      </p>
    </div>
    <div class="fault-buttons">
      ${fault.state === 'active' || fault.state === 'undoing'
        ? html`<button type="button" class="btn btn-small" disabled=${working} data-testid="fault-undo-${fault.id}"
          onClick=${() => void app.report(act('fault.undo', body))}>
          ${icon('undo', 'icon btn-svg')}
          Undo
        </button>`
        : html`<button type="button" class="btn btn-small btn-danger is-solid" disabled=${working}
          data-testid="fault-cause-${fault.id}" onClick=${() => void cause(app, body)}>
          ${icon('bolt', 'icon btn-svg')}
          Cause
        </button>`}
      ${fault.state === 'failed' &&
        html`<button type="button" class="btn btn-small" data-testid="fault-undo-${fault.id}"
          onClick=${() => void app.report(act('fault.undo', body))}>
          Undo
        </button>`}
    </div>
  </li>`;
}

/**
 * The panel makes way for what was caused; a phone, which showed nothing else, goes to where the alert arrives.
 * @param {App} app
 * @param {{ userId: string, id: string }} body
 */
async function cause(app, body) {
  const answer = await app.report(act('fault.cause', body));
  if (!answer.ok) return;
  app.set({ faultsOpen: false });
  const alerts = [...app.data.channels.values()].find((channel) => channel.name === 'alerts');
  if (alerts && onPhone()) app.go({ channel: alerts.id });
}
