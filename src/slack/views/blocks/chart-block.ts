import type { Block } from './build.ts';
import { LIMITS } from './limits.ts';
import { cut, oneLine } from './text.ts';

/** https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block, which the SDK has no type for yet. */
export interface DataVisualizationBlock {
  readonly type: 'data_visualization';
  readonly title: string;
  readonly chart: {
    readonly type: 'bar' | 'line' | 'area';
    readonly series: readonly {
      readonly name: string;
      readonly data: readonly { readonly label: string; readonly value: number }[];
    }[];
    readonly axis_config: {
      readonly categories: readonly string[];
      readonly x_label?: string;
      readonly y_label?: string;
    };
  };
}

/** The values of all series at one place of the axis; null: it was not measured there. */
export interface ChartPoint {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface ChartShape {
  readonly type: DataVisualizationBlock['chart']['type'];
  readonly title: string;
  readonly series: readonly string[];
  /** In the order of the axis. */
  readonly points: readonly ChartPoint[];
  readonly xLabel?: string;
  readonly yLabel?: string;
  /** Which values are kept where there are too many: the highest, or the lowest. */
  readonly peak: 'highest' | 'lowest';
}

/** Fewer say no more than words do. */
const LEAST_POINTS = 3;

/**
 * Measured values as a chart within Slack's limits; null where there are too few. A point without a value for each series is
 * left out, since Slack takes no gap and 0 would be false; of too many points the first, the last and the peaks between stay.
 */
export function chartBlock(shape: ChartShape): Block | null {
  const { title, type, xLabel, yLabel, peak } = shape;
  const names = distinct(shape.series.slice(0, LIMITS.chartSeries));
  const whole = shape.points.filter(
    ({ values }) => names.length > 0 && names.every((_, at) => Number.isFinite(values[at])),
  );
  if (whole.length < LEAST_POINTS) return null;
  const points = downsample(whole, peak);
  const categories = distinct(points.map(({ label }) => label));
  const block: DataVisualizationBlock = {
    type: 'data_visualization',
    title: cut(oneLine(title) || 'Measured', LIMITS.chartTitle),
    chart: {
      type,
      series: names.map((name, nth) => ({
        name,
        data: points.map(({ values }, at) => ({ label: categories[at] ?? '', value: values[nth] as number })),
      })),
      axis_config: {
        categories,
        ...axisLabel('x_label', xLabel),
        ...axisLabel('y_label', yLabel),
      },
    },
  };
  return block as unknown as Block;
}

const axisLabel = (name: 'x_label' | 'y_label', text = '') =>
  oneLine(text) === '' ? {} : { [name]: cut(oneLine(text), LIMITS.chartTitle) };

/** As many as Slack takes: first and last as they are, of each stretch between them the worst. */
function downsample(points: readonly ChartPoint[], peak: ChartShape['peak']): readonly ChartPoint[] {
  const most = LIMITS.chartPoints;
  if (points.length <= most) return points;
  const inner = points.slice(1, -1);
  const worth = ({ values }: ChartPoint): number =>
    peak === 'highest' ? Math.max(...finite(values)) : -Math.min(...finite(values));
  const kept = Array.from({ length: most - 2 }, (_, nth) => {
    const edge = (n: number): number => Math.floor((n * inner.length) / (most - 2));
    return inner
      .slice(edge(nth), edge(nth + 1))
      .reduce((best, each) => (worth(each) > worth(best) ? each : best));
  });
  return [...points.slice(0, 1), ...kept, ...points.slice(-1)];
}

const finite = (values: ChartPoint['values']): number[] =>
  values.filter((value): value is number => value !== null && Number.isFinite(value));

/** Labels that fit and differ: Slack finds a value by its label. */
function distinct(texts: readonly string[]): readonly string[] {
  const used = new Set<string>();
  return texts.map((text) => {
    const base = cut(oneLine(text) || '–', LIMITS.chartLabel);
    let label = base;
    for (let n = 2; used.has(label); n += 1) label = `${cut(base, LIMITS.chartLabel - 5)} (${n})`;
    used.add(label);
    return label;
  });
}
