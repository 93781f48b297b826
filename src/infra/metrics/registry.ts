export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels?: Labels, by?: number): void;
}
export interface Histogram {
  /** In the unit the name ends with. */
  observe(value: number, labels?: Labels): void;
}

/** Counts what happens and writes it in Prometheus' text format 0.0.4. */
export interface MetricsRegistry {
  counter(name: string, help: string): Counter;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
  /** `read` is called when the metrics are asked for. */
  gauge(name: string, help: string, read: () => number): void;
  /** The same with labels. */
  gauges(
    name: string,
    help: string,
    read: () => readonly { readonly labels: Labels; readonly value: number }[],
  ): void;
  readonly render: () => string;
}

export function createMetrics(): MetricsRegistry {
  const families: (() => readonly string[])[] = [];
  const family = (name: string, help: string, type: string, samples: () => readonly string[]): void => {
    const head = [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${type}`,
    ];
    families.push(() => [...head, ...samples()]);
  };
  return {
    counter(name, help) {
      const values = new Map<string, number>();
      family(name, help, 'counter', () => [...values].map(([labels, value]) => `${name}${labels} ${value}`));
      return {
        add(labels = {}, by = 1) {
          const key = labelText(labels);
          values.set(key, (values.get(key) ?? 0) + by);
        },
      };
    },
    histogram(name, help, buckets) {
      const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
      family(name, help, 'histogram', () =>
        [...series.values()].flatMap(({ labels, counts, sum, count }) => [
          ...buckets.map((le, i) => `${name}_bucket${labelText({ ...labels, le: String(le) })} ${counts[i]}`),
          `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
          `${name}_sum${labelText(labels)} ${sum}`,
          `${name}_count${labelText(labels)} ${count}`,
        ]),
      );
      return {
        observe(value, labels = {}) {
          const key = labelText(labels);
          const one = series.get(key) ?? { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
          series.set(key, one);
          buckets.forEach((le, i) => {
            if (value <= le) one.counts[i] = (one.counts[i] ?? 0) + 1;
          });
          one.sum += value;
          one.count += 1;
        },
      };
    },
    gauge(name, help, read) {
      family(name, help, 'gauge', () => [`${name} ${read()}`]);
    },
    gauges(name, help, read) {
      family(name, help, 'gauge', () =>
        read().map(({ labels, value }) => `${name}${labelText(labels)} ${value}`),
      );
    },
    render: () => `${families.flatMap((lines) => lines()).join('\n')}\n`,
  };
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, value]) =>
        `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
    );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
