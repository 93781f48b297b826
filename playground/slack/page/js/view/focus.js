const FOCUSABLE =
  'button:not([disabled]), [href], input:not([disabled]), select, textarea, [tabindex]:not([tabindex="-1"])';

/**
 * Keeps the keyboard inside a dialog while it is open and gives the focus back afterwards. For a node's `hook`.
 */
export function trapFocus() {
  return { mount, unmount };
}

/** Where the focus was before each open dialog. @type {WeakMap<Element, HTMLElement | null>} */
const before = new WeakMap();

/** @param {HTMLElement} el */
function mount(el) {
  before.set(el, /** @type {HTMLElement | null} */ (document.activeElement));
  el.addEventListener('keydown', (event) => event.key === 'Tab' && keepInside(el, event));
  // After this drawing, and before the next key: one that came in between would be lost.
  queueMicrotask(() => {
    if (el.contains(document.activeElement)) return;
    const wanted =
      el.querySelector('[data-autofocus]') ??
      el.querySelector('.modal-body input, .modal-body textarea') ??
      el.querySelector('.modal-body, button');
    /** @type {HTMLElement | null} */ (wanted)?.focus({ preventScroll: true });
  });
}

/** @param {HTMLElement} el */
function unmount(el) {
  const back = before.get(el);
  // When the page is no longer inert.
  if (back?.isConnected) queueMicrotask(() => back.focus({ preventScroll: true }));
}

/**
 * @param {HTMLElement} el
 * @param {KeyboardEvent} event
 */
function keepInside(el, event) {
  const all = /** @type {HTMLElement[]} */ ([...el.querySelectorAll(FOCUSABLE)]).filter(
    (one) => one.offsetParent !== null,
  );
  const first = all[0];
  const last = all.at(-1);
  const edge = event.shiftKey ? first : last;
  if (document.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}
