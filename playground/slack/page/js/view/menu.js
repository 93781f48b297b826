import { typed } from '../blocks/fields.js';
import { loadMenu } from '../context.js';
import { html, isSafeAddress } from '../core/dom.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').MenuOption} MenuOption @typedef {NonNullable<import('../app.js').Ui['menu']>} Open */

/** Where the focus was before the menu. @type {HTMLElement | null} */
let opener = null;

/** The list that is open, if one is: a select's options, an overflow menu, the user switch. @param {App} app */
export function menuLayer(app) {
  const open = app.ui.menu;
  if (!open) return null;
  const groups = shown(open);
  const flat = groups.flatMap((group) => group.options);
  const close = () => closeMenu(app);
  const choose = (/** @type {MenuOption} */ option) => pick(app, open, option);
  const searchable = open.menu.search === true || open.menu.load !== undefined;
  return html`<div class="menu-layer" key="menu"
    onMousedown=${(/** @type {MouseEvent} */ event) => event.target === event.currentTarget && close()}>
    <div class="menu" tabindex="-1" role="listbox" aria-label=${open.menu.label}
      aria-multiselectable=${open.menu.multi ? 'true' : undefined} aria-activedescendant="menu-option-${open.active}"
      data-testid="menu"
      hook=${{
        mount: (/** @type {HTMLElement} */ el) => mount(el, open.rect),
        update: (/** @type {HTMLElement} */ el) => place(el, open.rect),
      }}
      onKeydown=${(/** @type {KeyboardEvent} */ event) => steer(app, event, flat, choose)}>
      ${searchable &&
        html`<input type="search" class="text-input menu-search" placeholder=${open.menu.load ? 'Type to search' : 'Filter'}
          aria-label="Filter options" value=${open.query}
          onInput=${(/** @type {Event} */ event) => {
            const query = typed(event);
            app.set({ menu: { ...open, query, active: 0 } });
            if (open.menu.load) void loadMenu(app, open.menu, query);
          }} />`}
      <div class="menu-scroll">
        ${groupList(groups, open, choose)}
        ${flat.length === 0 &&
          html`<p class="menu-empty">${open.menu.load && !open.loaded ? 'Loading…' : 'Nothing found'}</p>`}
      </div>
      ${open.menu.multi &&
        html`<div class="menu-foot">
          <button type="button" class="btn btn-small btn-primary" onClick=${close}>Done</button>
        </div>`}
    </div>
  </div>`;
}

/**
 * @param {{ label?: string, options: MenuOption[] }[]} groups
 * @param {Open} open
 * @param {(option: MenuOption) => void} choose
 */
function groupList(groups, open, choose) {
  let index = -1;
  return groups.flatMap((group) => [
    group.label && html`<div class="menu-group">${group.label}</div>`,
    ...group.options.map((option) => {
      index += 1;
      const chosen = open.chosen.includes(option.value);
      return html`<button type="button" id="menu-option-${index}" key="${group.label ?? ''}|${option.value}"
        class="menu-option${index === open.active ? ' is-active' : ''}${option.danger ? ' is-danger' : ''}"
        role="option" tabindex="-1" aria-selected=${chosen} data-testid="option-${option.value}"
        onClick=${() => choose(option)}>
        <span class="menu-words">
          <span>${option.text}</span>
          ${option.description && html`<span class="menu-description">${option.description}</span>`}
        </span>
        ${chosen && html`<span class="menu-check" aria-hidden="true">✓</span>`}
      </button>`;
    }),
  ]);
}

/** @param {Open} open */
function shown(open) {
  const query = open.query.trim().toLowerCase();
  if (open.menu.load) return open.loaded ?? [];
  if (query === '') return open.menu.groups;
  return open.menu.groups
    .map((group) => ({
      ...group,
      options: group.options.filter((option) =>
        `${option.text} ${option.description ?? ''}`.toLowerCase().includes(query),
      ),
    }))
    .filter((group) => group.options.length > 0);
}

/** @param {App} app @param {Open} open @param {MenuOption} option */
function pick(app, open, option) {
  if (!open.menu.multi) {
    closeMenu(app);
    open.menu.pick([option.value]);
    if (option.href !== undefined && isSafeAddress(option.href) && !app.openLink(option.href))
      window.open(option.href, '_blank', 'noopener,noreferrer');
    return;
  }
  const has = open.chosen.includes(option.value);
  if (!has && open.menu.max !== undefined && open.chosen.length >= open.menu.max)
    return app.toast(`At most ${open.menu.max}.`);
  const chosen = has ? open.chosen.filter((value) => value !== option.value) : [...open.chosen, option.value];
  app.set({ menu: { ...open, chosen } });
  open.menu.pick(chosen);
}

/** @param {App} app */
export function closeMenu(app) {
  app.set({ menu: undefined });
  opener?.focus({ preventScroll: true });
}

/**
 * @param {App} app
 * @param {KeyboardEvent} event
 * @param {MenuOption[]} flat
 * @param {(option: MenuOption) => void} choose
 */
function steer(app, event, flat, choose) {
  const open = app.ui.menu;
  if (!open) return;
  const move = (/** @type {number} */ to) => {
    const active = flat.length === 0 ? 0 : (to + flat.length) % flat.length;
    app.set({ menu: { ...open, active } });
    document.getElementById(`menu-option-${active}`)?.scrollIntoView({ block: 'nearest' });
  };
  if (event.key === 'ArrowDown') move(open.active + 1);
  else if (event.key === 'ArrowUp') move(open.active - 1);
  else if (event.key === 'Home' && open.query === '') move(0);
  else if (event.key === 'End' && open.query === '') move(flat.length - 1);
  else if (event.key === 'Enter' || (event.key === ' ' && !open.menu.search)) {
    const option = flat[open.active];
    if (option) choose(option);
  } else if (event.key === 'Escape' || event.key === 'Tab') closeMenu(app);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {HTMLElement} el @param {DOMRect} rect */
function mount(el, rect) {
  opener = /** @type {HTMLElement | null} */ (document.activeElement);
  setTimeout(() => {
    place(el, rect);
    /** @type {HTMLElement} */ (el.querySelector('.menu-search') ?? el).focus({ preventScroll: true });
  });
}

/**
 * Below its element, or above where there is no room. On a phone the style sheet makes it a sheet instead.
 * @param {HTMLElement} el
 * @param {DOMRect} rect
 */
function place(el, rect) {
  const height = el.offsetHeight;
  const width = el.offsetWidth;
  const below = rect.bottom + 6 + height <= innerHeight || rect.top < height + 12;
  const top = below ? Math.min(rect.bottom + 6, Math.max(8, innerHeight - height - 8)) : rect.top - height - 6;
  const left = Math.max(8, Math.min(rect.left, innerWidth - width - 8));
  el.style.setProperty('--menu-top', `${top}px`);
  el.style.setProperty('--menu-left', `${left}px`);
  el.style.setProperty('--menu-min', `${Math.max(200, Math.min(rect.width, 420))}px`);
}
