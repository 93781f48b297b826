import { icon } from '../core/icons.js';
import { h } from '../core/vdom.js';

/**
 * What stands where there is nothing yet.
 * @param {string} title
 * @param {string} words
 */
export function emptyState(title, words) {
  return h(
    'div',
    { class: 'empty' },
    h('div', { class: 'empty-mark', 'aria-hidden': 'true' }, icon('radar')),
    h('h3', null, title),
    h('p', null, words),
  );
}
