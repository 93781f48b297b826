import { html } from '../core/dom.js';

/** @typedef {import('../core/types.js').Child} Child */

/**
 * Preformatted text with a *Copy* button. The button copies what is shown.
 * @param {Child} body
 * @param {string} [language]
 */
export function codeBlock(body, language) {
  return html`<div class="code-wrap">
    ${language ? html`<span class="code-language">${language}</span>` : null}
    <pre class="code-block" tabindex="0"><code>${body}</code></pre>
    <button type="button" class="code-copy" aria-label="Copy this text" onClick=${copy}>Copy</button>
  </div>`;
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
