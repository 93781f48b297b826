import htm from '/vendor/htm.js';
import { Component, h, render } from '/vendor/preact.js';

/**
 * Preact with templates. Text always becomes text nodes: no component may pass HTML, and an address that could run
 * code never reaches a link or an image.
 *
 * @typedef {import('preact').VNode<any>} VNode
 * @typedef {import('preact').ComponentChildren} Child
 */

export { render };
export const html = htm.bind(element);

const ADDRESSES = new Set(['href', 'src', 'action', 'formaction', 'poster']);
const FORBIDDEN = new Set(['dangerouslySetInnerHTML', 'innerHTML', 'outerHTML', 'srcdoc']);

/** @param {any} type @param {Record<string, any> | null} given @param {...Child} children @returns {VNode} */
function element(type, given, ...children) {
  if (!given) return h(type, given, ...children);
  for (const name in given) {
    if (FORBIDDEN.has(name)) throw new Error(`attribute ${name} is not allowed`);
    if (ADDRESSES.has(name) && !isSafeAddress(given[name])) delete given[name];
  }
  if (!given.hook) return h(type, given, ...children);
  const { key, hook, ...rest } = given;
  return h(Hooked, { key, hook, body: (/** @type {any} */ ref) => h(type, { ...rest, ref }, ...children) });
}

/** An element with a `hook`: called with the DOM element when it appears, after each drawing, and when it goes. */
class Hooked extends Component {
  /** @type {any} */ el;
  keep = (/** @type {any} */ el) => {
    this.el = el ?? this.el;
  };
  componentDidMount() {
    this.props.hook.mount?.(this.el);
  }
  componentDidUpdate() {
    this.props.hook.update?.(this.el);
  }
  componentWillUnmount() {
    this.props.hook.unmount?.(this.el);
  }
  render() {
    return this.props.body(this.keep);
  }
}

/** Draws again only when one of `deps` is another object: an update of one message leaves hundreds alone. */
export class Memo extends Component {
  /** @param {{ deps: unknown[] }} next */
  shouldComponentUpdate(next) {
    return next.deps.some((part, i) => part !== this.props.deps[i]);
  }
  render() {
    return this.props.draw();
  }
}

/** As the styles have it: one column at a time. */
export const onPhone = () => matchMedia('(max-width: 720px)').matches;

/** True for an address that may be put into a link or an image. @param {unknown} url */
export function isSafeAddress(url) {
  if (typeof url !== 'string') return false;
  if (/^(\/(?!\/)|\.\/|#)/.test(url)) return true;
  return /^(https?:\/\/|mailto:|data:image\/(png|gif|jpeg|webp|svg\+xml)[;,])/i.test(url.trim());
}
