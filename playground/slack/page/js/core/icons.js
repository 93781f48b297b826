import { html } from './dom.js';

/** Line icons drawn here, so that the page needs nothing from elsewhere. 24 × 24, stroke in the text's colour. */
/** @type {Record<string, string[]>} */
const PATHS = {
  hash: ['M9 4 7 20', 'M17 4l-2 16', 'M4.5 9h16', 'M3.5 15h16'],
  lock: ['M6 11h12v9H6z', 'M8.5 11V8a3.5 3.5 0 0 1 7 0v3'],
  close: ['M6 6l12 12', 'M18 6 6 18'],
  back: ['M15 5l-7 7 7 7'],
  menu: ['M4 7h16', 'M4 12h16', 'M4 17h16'],
  send: ['M4 4.5 20.5 12 4 19.5l2.2-7.5z', 'M6.2 12H13'],
  thread: ['M5 5h14v10H11l-4.5 4v-4H5z'],
  smile: ['M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z', 'M8.5 14a4.2 4.2 0 0 0 7 0', 'M9.2 9.6v.3', 'M14.8 9.6v.3'],
  more: ['M5.5 12h.01', 'M12 12h.01', 'M18.5 12h.01'],
  bolt: ['M13 3 5 13.5h6L10.5 21 19 10h-6.2z'],
  undo: ['M8 6 4 10l4 4', 'M4 10h10.5a5 5 0 0 1 0 10H11'],
  chevron: ['M7 9.5l5 5 5-5'],
  pin: ['M9 4h6l-1 6 3 3H7l3-3z', 'M12 13v7'],
  home: ['M4 11.5 12 5l8 6.5', 'M6 10.5V19h12v-8.5'],
  wifiOff: ['M4 4l16 16', 'M8.5 15.5a5 5 0 0 1 5.8-.9', 'M5 12a10 10 0 0 1 4-2.4', 'M12 19h.01'],
  replay: ['M4.5 12a7.5 7.5 0 1 0 2.4-5.5', 'M4.5 4v4h4', 'M10.5 9l4.5 3-4.5 3z'],
  bell: ['M6.5 16.5V11a5.5 5.5 0 0 1 11 0v5.5l1.5 1.5H5z', 'M10.5 20.5h3'],
  radar: ['M12 12l6-6', 'M20 12a8 8 0 1 1-4.7-7.3', 'M16 12a4 4 0 1 1-2.3-3.6'],
};

/** @param {string} name @param {string} [className] */
export function icon(name, className = 'icon') {
  return html`<svg class=${className} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    ${(PATHS[name] ?? []).map((d) => html`<path d=${d} />`)}
  </svg>`;
}
