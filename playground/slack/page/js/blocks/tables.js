import { html } from '../core/dom.js';
import { richText } from '../text/rich-text.js';
import { list, text, typed } from './fields.js';

/** table and data_table. The first row is the head. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Child} Child */

/** @param {any} value @returns {any[][]} */
function rowsOf(value) {
  return Array.isArray(value) ? value.filter(Array.isArray) : [];
}

/** @param {Ctx} ctx @param {any} cell @returns {Child} */
function cellBody(ctx, cell) {
  if (cell?.type === 'rich_text') return richText(ctx, cell);
  return cellText(cell);
}

/** @param {any} cell @returns {string} */
function cellText(cell) {
  if (cell === null || typeof cell !== 'object') return '';
  if (cell.type === 'raw_number') return text(cell.text) || String(cell.value ?? '');
  if (cell.type === 'rich_text') return list(cell.elements).map(cellText).join(' ');
  if (Array.isArray(cell.elements)) return list(cell.elements).map(cellText).join('');
  return text(cell.text);
}

/** @param {Ctx} ctx @param {Block} block */
export function table(ctx, block) {
  const [head = [], ...body] = rowsOf(block.rows);
  const settings = list(block.column_settings);
  const cellClass = (/** @type {any} */ cell, /** @type {number} */ column) => {
    const align = settings[column]?.align ?? (cell?.type === 'raw_number' ? 'right' : 'left');
    const known = ['left', 'center', 'right'].includes(align) ? align : 'left';
    return `align-${known}${settings[column]?.is_wrapped === true ? ' is-wrapped' : ''}`;
  };
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="Table">
    <table class="table">
      <thead>
        <tr>${head.map((cell, i) => html`<th scope="col" class=${cellClass(cell, i)}>${cellBody(ctx, cell)}</th>`)}</tr>
      </thead>
      <tbody>
        ${body.map((row) =>
          html`<tr>${row.map((cell, i) => html`<td class=${cellClass(cell, i)}>${cellBody(ctx, cell)}</td>`)}</tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** With filter, sorting and pages, all kept per message. @param {Ctx} ctx @param {Block} block */
export function dataTable(ctx, block) {
  const key = `table:${text(block.block_id)}`;
  /** @type {{ page: number, sort: number, down: boolean, filter: string }} */
  const state = ctx.local.get(key) ?? { page: 0, sort: -1, down: false, filter: '' };
  const set = (/** @type {Partial<typeof state>} */ change) => ctx.local.set(key, { ...state, ...change });
  const [head = [], ...all] = rowsOf(block.rows);
  const rows = sorted(filtered(all, state.filter), state.sort, state.down);
  const size = Math.max(1, Math.min(100, Number(block.page_size) || 5));
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(state.page, pages - 1);
  const headColumn = Number(block.row_header_column_index) || 0;
  return html`<div class="data-table">
    ${all.length > size && tableFilter(state.filter, (filter) => set({ filter, page: 0 }))}
    <div class="table-scroll" tabindex="0" role="region" aria-label=${text(block.caption) || 'Table'}>
      <table class="table">
        <caption>${text(block.caption)}</caption>
        <thead>
          <tr>
            ${head.map((cell, i) =>
              sortHead(cellText(cell), i, state, all[0]?.[i]?.type === 'raw_number', () =>
                set({ sort: i, down: state.sort === i && !state.down }),
              ),
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.slice(page * size, (page + 1) * size).map((row) =>
            html`<tr>${row.map((cell, i) => dataCell(ctx, cell, i === headColumn))}</tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${pages > 1 && pager(page, pages, rows.length, (next) => set({ page: next }))}
  </div>`;
}

/** @param {Ctx} ctx @param {any} cell @param {boolean} isHead */
function dataCell(ctx, cell, isHead) {
  const className = cell?.type === 'raw_number' ? 'align-right' : undefined;
  return html`<${isHead ? 'th' : 'td'} class=${className} scope=${isHead ? 'row' : undefined}>${cellBody(ctx, cell)}<//>`;
}

/** @param {string} value @param {(value: string) => void} change */
function tableFilter(value, change) {
  return html`<input type="search" class="text-input table-filter" placeholder="Filter rows" aria-label="Filter rows" value=${value}
    onInput=${(/** @type {Event} */ event) => change(typed(event))} />`;
}

/**
 * @param {string} label
 * @param {number} column
 * @param {{ sort: number, down: boolean }} state
 * @param {boolean} isNumber
 * @param {() => void} toggle
 */
function sortHead(label, column, state, isNumber, toggle) {
  const active = state.sort === column;
  const order = !active ? 'none' : state.down ? 'descending' : 'ascending';
  return html`<th scope="col" aria-sort=${order} class=${isNumber ? 'align-right' : undefined}>
    <button type="button" class="sort-button" onClick=${toggle}>
      ${label}
      <span aria-hidden="true">${active ? (state.down ? ' ↓' : ' ↑') : ''}</span>
    </button>
  </th>`;
}

/** @param {number} page @param {number} pages @param {number} count @param {(page: number) => void} go */
function pager(page, pages, count, go) {
  return html`<div class="pager">
    <button type="button" class="btn btn-small" disabled=${page === 0} onClick=${() => go(page - 1)}>Previous</button>
    <span class="pager-text">Page ${page + 1} of ${pages} · ${count} rows</span>
    <button type="button" class="btn btn-small" disabled=${page >= pages - 1} onClick=${() => go(page + 1)}>
      Next
    </button>
  </div>`;
}

/** @param {any[][]} rows @param {string} filter */
function filtered(rows, filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const line = row.map(cellText).join(' ').toLowerCase();
    return words.every((word) => line.includes(word));
  });
}

/** @param {any[][]} rows @param {number} column @param {boolean} down */
function sorted(rows, column, down) {
  if (column < 0) return rows;
  const compare = (/** @type {any} */ a, /** @type {any} */ b) => {
    if (a?.type === 'raw_number' && b?.type === 'raw_number') return Number(a.value) - Number(b.value);
    return cellText(a).localeCompare(cellText(b), undefined, { numeric: true });
  };
  return rows.toSorted((a, b) => (down ? -1 : 1) * compare(a[column], b[column]));
}
