/**
 * A very small virtual DOM: components are pure functions from state to nodes, and `patch` changes only
 * what differs, so that focus, scroll positions and half-typed text survive a live update.
 *
 * Security: text children always become text nodes. There is no way to pass HTML through this module,
 * and attributes that could run code (`on…` strings, `srcdoc`, `javascript:` links) cannot be set.
 */

/**
 * @typedef {string | number | null | undefined | false | true | VNode | Child[]} Child
 * @typedef {Record<string, any>} Props `onClick`-style handlers, `class`, `key`, `style` (an object),
 *   `hook` ({mount, update, unmount}), `controlled` (the field always shows `value`), everything else an attribute or a live property.
 * @typedef {{ tag: string, props: Props, children: (VNode | string)[], key: string | undefined, el: Node | null }} VNode
 */

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'path', 'circle', 'rect', 'line', 'polyline', 'g']);
/** Set as properties, because the attribute is only the initial value. */
const LIVE = new Set(['value', 'checked', 'disabled', 'open', 'selected', 'indeterminate']);
/** Attributes that hold an address; only these schemes may stand in them. */
const ADDRESS = new Set(['href', 'src', 'action', 'formaction', 'poster']);
const FORBIDDEN = new Set(['srcdoc', 'innerhtml', 'outerhtml']);

/**
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {VNode}
 */
export function h(tag, props, ...children) {
  const given = props ?? {};
  return {
    tag,
    props: given,
    children: flatten(children, []),
    key: given.key === undefined ? undefined : String(given.key),
    el: null,
  };
}

/**
 * @param {Child[]} children
 * @param {(VNode | string)[]} into
 */
function flatten(children, into) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === true) continue;
    if (Array.isArray(child)) flatten(child, into);
    else if (typeof child === 'object') into.push(child);
    else into.push(String(child));
  }
  return into;
}

/**
 * True for an address that may be put into a link or an image.
 * @param {unknown} url
 */
export function isSafeAddress(url) {
  if (typeof url !== 'string') return false;
  if (/^(\/(?!\/)|\.\/|#)/.test(url)) return true;
  return /^(https?:\/\/|mailto:|data:image\/(png|gif|jpeg|webp|svg\+xml)[;,])/i.test(url.trim());
}

/** @type {WeakMap<Element, (VNode | string)[]>} */
const mounted = new WeakMap();

/**
 * Makes `root` show `children`, changing as little as possible.
 * @param {Element} root
 * @param {Child} children
 */
export function render(root, children) {
  const next = flatten([children], []);
  patchChildren(root, mounted.get(root) ?? [], next);
  mounted.set(root, next);
}

/**
 * A detached DOM tree for `vnode` (used by fixtures and tests).
 * @param {VNode | string} vnode
 * @returns {Node}
 */
export function create(vnode) {
  if (typeof vnode === 'string') return document.createTextNode(vnode);
  const el = SVG_TAGS.has(vnode.tag) ? document.createElementNS(SVG, vnode.tag) : document.createElement(vnode.tag);
  vnode.el = el;
  // Children first: a select's value needs its options.
  for (const child of vnode.children) el.appendChild(create(child));
  setProps(el, {}, vnode.props);
  vnode.props.hook?.mount?.(el);
  return el;
}

/**
 * @param {Element} el
 * @param {Props} before
 * @param {Props} after
 */
function setProps(el, before, after) {
  for (const name of Object.keys(before)) if (!(name in after)) setProp(el, name, before[name], undefined);
  for (const name of Object.keys(after)) {
    if (before[name] !== after[name]) setProp(el, name, before[name], after[name]);
  }
}

/**
 * @param {any} el
 * @param {string} name
 * @param {any} before
 * @param {any} value
 */
function setProp(el, name, before, value) {
  if (name === 'key' || name === 'hook' || name === 'controlled') return;
  if (name === 'style') return setStyle(el, before ?? {}, value ?? {});
  if (/^on[A-Z]/.test(name)) return setHandler(el, name.slice(2).toLowerCase(), value);
  const lower = name.toLowerCase();
  if (lower.startsWith('on') || FORBIDDEN.has(lower)) throw new Error(`attribute ${name} is not allowed`);
  if (LIVE.has(name)) {
    const next = value ?? (name === 'value' ? '' : false);
    if (el[name] !== next) el[name] = next;
    return;
  }
  const blocked = ADDRESS.has(lower) && !isSafeAddress(value);
  if (value === undefined || value === null || value === false || blocked) return el.removeAttribute(name);
  el.setAttribute(name, value === true ? '' : String(value));
}

/**
 * Through the CSSOM, which a Content-Security-Policy without 'unsafe-inline' still allows.
 * @param {HTMLElement} el
 * @param {Record<string, string>} before
 * @param {Record<string, string>} after
 */
function setStyle(el, before, after) {
  for (const name of Object.keys(before)) if (!(name in after)) el.style.removeProperty(name);
  for (const [name, value] of Object.entries(after)) el.style.setProperty(name, value);
}

/**
 * @param {any} el
 * @param {string} type
 * @param {((event: Event) => void) | undefined} handler
 */
function setHandler(el, type, handler) {
  el.$handlers ??= {};
  if (!(type in el.$handlers)) {
    el.addEventListener(type, (/** @type {Event} */ event) => el.$handlers[type]?.(event));
  }
  el.$handlers[type] = handler;
}

/**
 * @param {VNode | string} child
 * @param {Map<string, number>} seen
 */
function identity(child, seen) {
  const kind =
    typeof child === 'string' ? '#text' : child.key !== undefined ? `k:${child.tag}:${child.key}` : child.tag;
  const nth = seen.get(kind) ?? 0;
  seen.set(kind, nth + 1);
  return `${kind}#${nth}`;
}

/**
 * @param {Element} parent
 * @param {(VNode | string)[]} before
 * @param {(VNode | string)[]} after
 */
function patchChildren(parent, before, after) {
  /** @type {Map<string, { vnode: VNode | string, el: Node }>} */
  const old = new Map();
  const seenBefore = new Map();
  let node = parent.firstChild;
  for (const child of before) {
    const el = typeof child === 'string' ? /** @type {Node} */ (node) : /** @type {Node} */ (child.el);
    old.set(identity(child, seenBefore), { vnode: child, el });
    node = el.nextSibling;
  }
  const seenAfter = new Map();
  const plan = after.map((child) => {
    const id = identity(child, seenAfter);
    const match = old.get(id);
    old.delete(id);
    return { child, match };
  });
  for (const { vnode, el } of old.values()) remove(parent, vnode, el);
  let cursor = parent.firstChild;
  for (const { child, match } of plan) {
    const el = match ? patchNode(match.vnode, child, match.el) : create(child);
    if (el === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(el, cursor);
  }
}

/**
 * @param {Element} parent
 * @param {VNode | string} vnode
 * @param {Node} el
 */
function remove(parent, vnode, el) {
  unmount(vnode);
  parent.removeChild(el);
}

/** @param {VNode | string} vnode */
function unmount(vnode) {
  if (typeof vnode === 'string') return;
  vnode.props.hook?.unmount?.(vnode.el);
  for (const child of vnode.children) unmount(child);
}

/**
 * @param {VNode | string} before
 * @param {VNode | string} after
 * @param {Node} el
 * @returns {Node}
 */
function patchNode(before, after, el) {
  if (before === after) return el;
  if (typeof after === 'string' || typeof before === 'string') {
    if (el.nodeValue !== after) el.nodeValue = /** @type {string} */ (after);
    return el;
  }
  after.el = el;
  const element = /** @type {Element} */ (el);
  patchChildren(element, before.children, after.children);
  setProps(element, before.props, after.props);
  // What was typed since the last drawing may differ from both: a controlled field shows the state, always.
  if (after.props.controlled) setProp(element, 'value', undefined, after.props.value);
  after.props.hook?.update?.(element);
  return el;
}
