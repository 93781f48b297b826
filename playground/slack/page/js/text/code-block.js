import { h } from '../core/vdom.js';

/** @typedef {import('../core/types.js').Child} Child */

/**
 * Preformatted text with a *Copy* button. The button copies what is shown.
 * @param {Child} body
 * @param {string} [language]
 */
export function codeBlock(body, language) {
  return h(
    'div',
    { class: 'code-wrap' },
    language ? h('span', { class: 'code-language' }, language) : null,
    h('pre', { class: 'code-block', tabindex: '0' }, h('code', null, body)),
    h('button', { type: 'button', class: 'code-copy', 'aria-label': 'Copy this text', onClick: copy }, 'Copy'),
  );
}

/** @param {MouseEvent} event */
function copy(event) {
  const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
  const text = button.parentElement?.querySelector('pre')?.textContent ?? '';
  const said = (/** @type {string} */ word) => {
    button.textContent = word;
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  };
  navigator.clipboard.writeText(text).then(
    () => said('Copied'),
    () => said('Not allowed'),
  );
}
