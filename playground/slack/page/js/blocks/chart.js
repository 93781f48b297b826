import { html } from '../core/dom.js';
import { list, text } from './fields.js';

/** data_visualization: line, area, bar and pie, as SVG that takes its colours from the page. */

/**
 * @typedef {import('../core/types.js').Block} Block @typedef {import('../core/types.js').Child} Child
 * @typedef {{ name: string, values: number[] }} Series
 * @typedef {{ x: (i: number) => number, y: (value: number) => number, zero: number, band: number }} Scale
 */

const WIDTH = 440;
const HEIGHT = 190;
const PLOT = { left: 46, right: 10, top: 10, bottom: 24 };
const COLOURS = 6;

/** @param {Block} block */
export function chart(block) {
  const drawn = block.chart?.type === 'pie' ? pie(block.chart) : plot(block.chart);
  return html`<figure class="b-chart" data-testid="chart">
    <figcaption class="chart-title">${text(block.title)}</figcaption>
    ${drawn}
  </figure>`;
}

/** What all but the pie share: a value axis, categories below, and a legend where there is more than one series. @param {any} given */
function plot(given) {
  const categories = strings(given?.axis_config?.categories);
  /** @type {Series[]} */
  const series = list(given?.series).map((one) => ({
    name: text(one.name),
    values: list(one.data).map((point) => number(point.value)),
  }));
  const ticks = ticksOf(series.flatMap((one) => one.values));
  const low = ticks[0] ?? 0;
  const high = ticks.at(-1) ?? 1;
  const band = (WIDTH - PLOT.left - PLOT.right) / Math.max(1, categories.length);
  const plotHeight = HEIGHT - PLOT.top - PLOT.bottom;
  const y = (/** @type {number} */ value) => PLOT.top + plotHeight * (1 - (value - low) / (high - low));
  const scale = {
    x: (/** @type {number} */ i) => PLOT.left + band * (i + 0.5),
    y,
    zero: y(Math.min(Math.max(0, low), high)),
    band,
  };
  const every = Math.ceil(categories.reduce((sum, word) => sum + word.length + 2, 0) / 62) || 1;
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${inWords(given?.type, categories, series)}>
      ${ticks.map((tick) => html`<line class="chart-grid" x1=${PLOT.left} x2=${WIDTH - PLOT.right} y1=${y(tick)} y2=${y(tick)} />
        <text class="chart-label" x=${PLOT.left - 6} y=${y(tick) + 4} text-anchor="end">${short(tick)}</text>`)}
      ${categories.map((word, i) => i % every === 0 &&
        html`<text class="chart-label" x=${scale.x(i)} y=${HEIGHT - 7} text-anchor="middle">${word}</text>`)}
      ${series.map((one, i) => shape(given?.type, one, i, series.length, scale))}
    </svg>
    ${axisWords(given?.axis_config)}
    ${series.length > 1 && legend(series.map((one) => one.name))}`;
}

/** @param {string} type @param {Series} one @param {number} i @param {number} of @param {Scale} scale @returns {Child} */
function shape(type, one, i, of, scale) {
  const colour = `series-${i % COLOURS}`;
  if (type === 'bar') {
    const width = (scale.band * 0.72) / of;
    return one.values.map((value, at) => html`<rect class="chart-bar ${colour}" rx="2" width=${width}
      x=${scale.x(at) - scale.band * 0.36 + width * i} y=${Math.min(scale.y(value), scale.zero)}
      height=${Math.max(1, Math.abs(scale.y(value) - scale.zero))} />`);
  }
  const points = one.values.map((value, at) => `${scale.x(at)},${scale.y(value)}`);
  const ends = [`${scale.x(0)},${scale.zero}`, `${scale.x(one.values.length - 1)},${scale.zero}`];
  return html`${type === 'area' && html`<polygon class="chart-area ${colour}" points=${[ends[0], ...points, ends[1]].join(' ')} />`}
    <polyline class="chart-line ${colour}" points=${points.join(' ')} />
    ${one.values.length <= 20 &&
      one.values.map((value, at) => html`<circle class="chart-dot ${colour}" r="2.6" cx=${scale.x(at)} cy=${scale.y(value)} />`)}`;
}

/** @param {any} given */
function pie(given) {
  const segments = list(given?.segments).map((one) => ({ label: text(one.label), value: Math.max(0, number(one.value)) }));
  const sum = segments.reduce((total, one) => total + one.value, 0) || 1;
  const share = (/** @type {number} */ value) => `${Math.round((100 * value) / sum)} %`;
  let from = 0;
  const slices = segments.map((one, i) => {
    const to = from + one.value / sum;
    const path = slice(from, to);
    from = to;
    return html`<path class="chart-slice series-${i % COLOURS}" d=${path} />`;
  });
  const words = segments.map((one) => `${one.label} ${share(one.value)}`);
  return html`<svg class="chart chart-pie" viewBox="0 0 120 120" role="img" aria-label=${words.join(', ')}>${slices}</svg>
    ${legend(words)}`;
}

/** A slice of a circle around 60,60 from one share of the turn to another. @param {number} from @param {number} to */
function slice(from, to) {
  const end = Math.min(to, from + 0.9999);
  const at = (/** @type {number} */ turn) =>
    `${60 + 54 * Math.sin(2 * Math.PI * turn)} ${60 - 54 * Math.cos(2 * Math.PI * turn)}`;
  return `M60 60 L${at(from)} A54 54 0 ${end - from > 0.5 ? 1 : 0} 1 ${at(end)} Z`;
}

/** @param {string[]} names */
function legend(names) {
  return html`<ul class="chart-legend">
    ${names.map((name, i) => html`<li><span class="chart-key series-${i % COLOURS}" aria-hidden="true" />${name}</li>`)}
  </ul>`;
}

/** @param {any} axis */
function axisWords(axis) {
  const words = [text(axis?.y_label), text(axis?.x_label)].filter((word) => word !== '');
  return words.length > 0 && html`<p class="chart-axes">${words.join(' · ')}</p>`;
}

/** Four steps or so of a round size that hold every value, and zero where the values are near it. @param {number[]} values */
function ticksOf(values) {
  const low = Math.min(0, ...values);
  const high = Math.max(...values, low + 1);
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough) ?? rough;
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** As an axis tells a number: 12, 1.5k, 3M. @param {number} value */
function short(value) {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 }).format(value);
}

/** For those who cannot see it. @param {unknown} type @param {string[]} categories @param {Series[]} series */
function inWords(type, categories, series) {
  const told = series.map((one) => `${one.name}: ${one.values.map((value, i) => `${categories[i] ?? ''} ${value}`).join(', ')}`);
  return `${text(type)} chart. ${told.join('; ')}`;
}

/** @param {any} value */
function number(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** @param {any} value @returns {string[]} */
function strings(value) {
  return Array.isArray(value) ? value.map(text) : [];
}
