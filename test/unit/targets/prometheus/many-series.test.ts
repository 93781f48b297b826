import { expect, test } from 'vitest';
import { alertState } from '../../../../src/targets/prometheus/alert-state.ts';
import { comparePrometheus } from '../../../../src/targets/prometheus/read/compare.ts';
import { queryPrometheus } from '../../../../src/targets/prometheus/read/query.ts';
import type {
  AlertingRule,
  Answered,
  Labels,
  Point,
  Prometheus,
} from '../../../../src/targets/prometheus/system.ts';

// Whoever runs a service chooses how many series it gives. 8 MiB of an answer hold some 60,000; every pair of them looked at
// would hold the event loop for a quarter of an hour.
const MANY = 2_000;
const options = { timeoutMs: 20_000, signal: new AbortController().signal };

/** `reads`: how often the labels of a series were gone through. */
function manySeries(points: readonly Point[] = [[1, 1]]) {
  const counted = { reads: 0 };
  const labels = (at: number): Labels =>
    new Proxy({ job: 'shop', instance: `i-${at}` } as Labels, {
      ownKeys(target) {
        counted.reads += 1;
        return Reflect.ownKeys(target);
      },
    });
  const answered: Answered = {
    series: Array.from({ length: MANY }, (_, at) => ({ labels: labels(at), points })),
    warnings: [],
  };
  return { counted, answered };
}

const nothing: Answered = { series: [], warnings: [] };
const server = (of: Partial<Prometheus>): Prometheus =>
  ({ now: async () => 1_764_000_000, ...of }) as Prometheus;
const contextOf = (system: Prometheus) =>
  ({ system, ...options }) as unknown as Parameters<typeof comparePrometheus.run>[0];

test('thousands of series are compared without looking at every pair', async () => {
  const { counted, answered } = manySeries();
  const { data } = await comparePrometheus.run(contextOf(server({ query: async () => answered })), {
    query: 'x',
  });
  expect(data).toMatchObject({ total: MANY });
  expect(counted.reads).toBeLessThan(20 * MANY);
});

test('an alert of which thousands of series are read is judged without looking at every pair', async () => {
  const { counted, answered } = manySeries();
  const held = { series: [{ labels: { alertname: 'A', job: 'shop' }, points: [] }], warnings: [] };
  const query = async (text: string): Promise<Answered> => {
    if (text === 'x > 1') return nothing;
    return text.includes('ALERTS') ? held : answered;
  };
  const rule = { name: 'A', expression: 'x > 1', health: 'ok', labels: {} } as unknown as AlertingRule;
  const labels = { alertname: 'A', job: 'shop' };
  expect(await alertState({ system: server({ query }), rule, labels, options })).toMatchObject({
    unclear: null,
  });
  expect(counted.reads).toBeLessThan(20 * MANY);
});

test('of an alert that has held for hundreds of things it is not told that it is over', async () => {
  const held = {
    series: Array.from({ length: 300 }, (_, at) => ({
      labels: { alertname: 'A', instance: `i-${at}` },
      points: [],
    })),
    warnings: [],
  };
  const query = async (text: string) => (text.includes('ALERTS') ? held : nothing);
  const rule = { name: 'A', expression: 'x > 1', health: 'ok', labels: {} } as unknown as AlertingRule;
  expect(
    await alertState({ system: server({ query }), rule, labels: { alertname: 'A' }, options }),
  ).toMatchObject({ unclear: expect.stringContaining('too many') });
});

test('how long ago there was something is told of any number of samples', async () => {
  const { answered } = manySeries(Array.from({ length: 240 }, (_, at) => [1_763_999_000 + at, 1]));
  const system = server({ query: async () => nothing, queryRange: async () => answered });
  const { text } = await queryPrometheus.run(contextOf(system), { query: 'x' });
  expect(text).toContain('It last did 13 min ago.');
});
