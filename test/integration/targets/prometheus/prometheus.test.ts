import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTargets } from '../../../../src/config/targets.ts';
import { readMeasure } from '../../../../src/core/measure.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { host } from '../../../../src/targets/host/kind.ts';
import type { TargetConfig } from '../../../../src/targets/kind.ts';
import { prometheus } from '../../../../src/targets/prometheus/kind.ts';
import type { Prometheus } from '../../../../src/targets/prometheus/system.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import {
  nodeExporter,
  type OwnExporter,
  type OwnPrometheus,
  ownExporter,
  PROMETHEUS_USER,
  postgresExporter,
  prometheusMissing,
  type Served,
  startPrometheus,
} from '../../../support/prometheus.ts';
import { noDocs } from '../../../support/targets.ts';
import { waitFor } from '../../../support/wait-for.ts';

const PASSWORD = { PROM_PASSWORD: PROMETHEUS_USER.password };

function configOf(fields: object, env: Readonly<Record<string, string>> = PASSWORD): TargetConfig {
  const entry = { name: 'prom-1', kind: 'prometheus', environment: 'test', ...fields };
  const [config] = parseTargets({ targets: [entry] }, env, 'sentry.yaml', [host, prometheus]);
  if (!config) throw new Error('no target');
  return config;
}

const connect = (fields: object, env?: Readonly<Record<string, string>>) => {
  const config = configOf(fields, env);
  return { config, connection: prometheus.connect(config, { ownPorts: [] }) };
};

function reader({ config, connection }: ReturnType<typeof connect>) {
  return async (name: string, input: Json = {}) => {
    const tool = prometheus.tools.find((each) => each.name === `prometheus_${name}`);
    if (!tool || tool.kind === 'active') throw new Error(`no prometheus_${name}`);
    const { text, data } = await tool.run(
      {
        target: config,
        system: connection.system as Prometheus,
        docs: noDocs,
        signal: new AbortController().signal,
        timeoutMs: 20_000,
      },
      tool.input.parse(input),
    );
    // oxlint-disable-next-line typescript/no-explicit-any -- tests look into the documented data of each tool
    return { text, data: data as any };
  };
}

const RULES = `
  - alert: QueueSlow
    expr: shop_queue_wait_seconds > 5
    labels: { severity: critical }
    annotations: { summary: 'Orders wait' }
  - alert: QueueSlow
    expr: shop_queue_wait_seconds > 2
    labels: { severity: warning }
  - alert: LoadSeen
    expr: node_load1 >= 0
    for: 1h
  - alert: DatabaseDown
    expr: pg_up == 0
  - alert: ShopGone
    expr: absent(shop_gone)
  - alert: SlowAndOn
    expr: shop_queue_wait_seconds > 5 and on(job) shop_on == 1
  - alert: SlowerThanBound
    expr: shop_queue_wait_seconds > on(job) group_left shop_bound_seconds
  - alert: FewQueues
    expr: count by (job) (shop_queue_wait_seconds < 5) < 2
  - alert: EitherSlow
    expr: shop_queue_wait_seconds > 5 or shop_mill_seconds > 5
  - alert: TwinSlow
    expr: twin_wait_seconds > 5
  - alert: Ambiguous
    expr: shop_pair * on(job) shop_single
`;

const page = (wait: number, more = ''): string => `
# TYPE shop_queue_wait_seconds gauge
shop_queue_wait_seconds{queue="orders"} ${wait}
shop_queue_wait_seconds{queue="mail"} 0.25
shop_undefined NaN
shop_endless +Inf
shop_bytes_total 1024
shop_pair{a="1"} 1
shop_pair{a="2"} 1
${more}`;

/** What db-1 did: its wait is 8 s for the last minutes, was 1 s before, 2 s a day and 4 s a week ago. */
function pastOf(now: number): string {
  const times = (ago: number, seconds: number): readonly number[] =>
    Array.from({ length: seconds / 30 }, (_, at) => now - ago - seconds / 2 + at * 30);
  const hour = Array.from({ length: 140 }, (_, at) => now - 4_200 + at * 30);
  const points = [
    ...times(7 * 86_400, 900).map((at) => [at, 4]),
    ...times(86_400, 900).map((at) => [at, 2]),
    ...hour.map((at) => [at, at > now - 300 ? 8 : 1]),
  ];
  const series = (name: string, value: (at: number, wait: number) => number): readonly string[] =>
    points.map(([at = 0, wait = 0]) => `${name}{host="db-1"} ${value(at, wait)} ${at}`);
  return [
    '# TYPE past_wait_seconds gauge',
    ...series('past_wait_seconds', (_, wait) => wait),
    '# TYPE past_steady gauge',
    ...series('past_steady', () => 5),
    '# TYPE past_requests counter',
    ...series('past_requests_total', (at) => at - now + 8 * 86_400),
    '# EOF\n',
  ].join('\n');
}

const missing = prometheusMissing();
describe.skipIf(missing !== null)(
  missing === null ? 'a real Prometheus' : `a real Prometheus (skipped: ${missing})`,
  () => {
    let database: ScratchDatabase;
    let shop: OwnExporter;
    let second: OwnExporter;
    let twins: readonly [OwnExporter, OwnExporter];
    let server: OwnPrometheus;
    let scrape: Readonly<Record<string, Served | readonly Served[]>>;
    let started: Served[] = [];
    let url: string;
    let read: ReturnType<typeof reader>;
    let target: ReturnType<typeof connect>;

    beforeAll(async () => {
      database = await scratchDatabase();
      [shop, second] = await Promise.all([ownExporter(page(1)), ownExporter('shop_other 1\n')]);
      const [node, postgres] = await Promise.all([nodeExporter(), postgresExporter(database.url)]);
      twins = await Promise.all([ownExporter('twin_wait_seconds 1\n'), ownExporter('twin_wait_seconds 1\n')]);
      scrape = { shop, second, node, postgres, twins };
      server = await startPrometheus({
        scrape,
        rules: RULES,
        past: pastOf(Math.floor(Date.now() / 1_000)),
      });
      started = [server, shop, second, node, postgres, ...twins];
      ({ url } = server);
      target = connect({ url, username: PROMETHEUS_USER.username, password_env: 'PROM_PASSWORD' });
      read = reader(target);
      await waitFor('all is scraped', async () => {
        const { total, down } = (await read('targets')).data;
        return total === 6 && down === 0;
      });
      await waitFor(
        'rules are evaluated',
        async () => (await read('alert', { alert: 'ShopGone' })).data.returned === 1,
      );
    });
    afterAll(async () => {
      await Promise.all(started.map((each) => each.stop()));
      await database.drop();
    });

    const seen = (metric: string, value: number) =>
      waitFor(`${metric} is ${value}`, async () =>
        (await read('query', { query: metric })).data.series.some(
          (one: { value: number }) => one.value === value,
        ),
      );
    /** As a recovery criterion judges it. */
    async function condition(alert: string, labels: Readonly<Record<string, string>> = {}) {
      const tool = prometheus.tools.find(({ name }) => name === 'prometheus_alert');
      const [measure] = (tool && 'measures' in tool && tool.measures) || [];
      if (!measure) throw new Error('it has no measure');
      const { text, data } = await read('alert', { alert, labels });
      return { text, isHealthy: readMeasure(measure, measure.bound, data).isHealthy };
    }

    test('says what it scrapes, to the doctor as well', async () => {
      const { data, text } = await read('targets');
      expect(data).toMatchObject({ total: 6, down: 0 });
      expect(text).toContain('6 scrape targets, 0 of them not up.');
      expect((await read('targets', { contains: 'NODE' })).data).toMatchObject({ total: 1 });
      expect(await prometheus.doctor(target.config, target.connection)).toMatch(
        /^Prometheus \d+\.\d+\.\S+, 6 of 6 scrape targets are up$/,
      );
    });

    test('answers with values in the unit that the metric’s name tells', async () => {
      const { text, data } = await read('query', { query: 'shop_queue_wait_seconds' });
      expect(data).toMatchObject({ total: 2, unit: 's', series: [{ value: 1 }, { value: 0.25 }] });
      expect(text).toContain('queue="orders"}: 1 s');
      expect((await read('query', { query: 'node_memory_MemTotal_bytes' })).text).toMatch(/: [\d.]+ [GM]iB/);
      expect((await read('query', { query: 'rate(shop_bytes_total[10s])' })).data.unit).toBe('B/s');
      expect((await read('query', { query: 'pg_up' })).data.series).toMatchObject([{ value: 1 }]);
    });

    test('what is no number is said, and is no number in the data', async () => {
      const { text, data } = await read('query', { query: '{__name__=~"shop_undefined|shop_endless"}' });
      expect(text).toContain(': NaN');
      expect(text).toContain(': +Inf');
      expect(data.series.map(({ value }: { value: unknown }) => value)).toEqual([null, null]);
    });

    test('shows a course with a bar a step, and where nothing was measured', async () => {
      const { text, data } = await read('query', { query: 'shop_queue_wait_seconds', minutes: 60 });
      expect(data.chart).toMatchObject({ unit: 's', series: [{}, {}] });
      const [{ values }] = data.chart.series;
      expect(values.length).toBeGreaterThan(30);
      expect(values[0]).toBeNull();
      expect(text).toMatch(/·+[▁-█]+ \(no sample at \d+ of \d+ steps\)/);
    });

    test('an empty answer is no zero, and one that was there is told from one that never was', async () => {
      expect((await read('query', { query: 'no_such_metric' })).text).toContain(
        'returns no series now: that is not zero. Nor did it in the last hour.',
      );
      shop.page = page(1, 'shop_leaves 7\n');
      await seen('shop_leaves', 7);
      shop.page = page(1);
      await waitFor(
        'it has gone',
        async () => (await read('query', { query: 'shop_leaves' })).data.total === 0,
      );
      await waitFor('a step of the last hour shows it', async () =>
        (await read('query', { query: 'shop_leaves' })).text.includes('It last did 0 min ago.'),
      );
    });

    test('compares with an hour, a day and a week ago, and says what was not there', async () => {
      const { data, text } = await read('compare', { query: 'past_wait_seconds' });
      expect(data.series).toEqual([
        {
          labels: { __name__: 'past_wait_seconds', host: 'db-1' },
          now: 8,
          hour_ago: 1,
          hour_ratio: 8,
          day_ago: 2,
          day_ratio: 4,
          week_ago: 4,
          week_ratio: 2,
        },
      ]);
      expect(text).toContain('8 s now, 1 s an hour ago (×8), 2 s a day ago (×4), 4 s a week ago (×2)');
      expect((await read('compare', { query: 'shop_queue_wait_seconds{queue="mail"}' })).text).toContain(
        'not there a week ago',
      );
      expect((await read('compare', { query: 'no_such_metric' })).text).toContain('that is not zero');
    });

    test('finds what moved among the series that share labels, and leaves out what goes on as usual', async () => {
      const { data, text } = await read('related', { labels: { host: 'db-1' } });
      expect(data).toMatchObject({ total: 3, moved: 1, series: [{ usual: 1, now: 8, unit: 's' }] });
      expect(text).toMatch(/past_wait_seconds: usually 1 s, now 8 s ▁+█+$/m);
      expect((await read('related', { labels: { host: 'no-such-host' } })).data).toMatchObject({ total: 0 });
      await expect(read('related', { labels: {} })).rejects.toThrow(/at least one label/);
    });

    test('wrong PromQL is refused in Prometheus’ own words', async () => {
      await expect(read('query', { query: 'sum(' })).rejects.toMatchObject({
        code: 'PROMETHEUS_REFUSED',
        message: expect.stringContaining('parse error'),
      });
      await expect(read('query', { query: 'x', minutes: 60 * 24 * 32 })).rejects.toThrow(/minutes/);
    });

    test('shows only some of many series, the largest, and says how many there are', async () => {
      const many = Array.from({ length: 60 }, (_, at) => `shop_many{at="${at}"} ${at}\n`).join('');
      shop.page = page(1, many);
      await waitFor('many', async () => (await read('query', { query: 'shop_many' })).data.total === 60);
      const { text, data } = await read('query', { query: 'shop_many' });
      expect(data.series).toHaveLength(20);
      expect(data.series[0]).toMatchObject({ value: 59 });
      expect(text).toContain('… and 40 more, not shown');
      shop.page = page(1);
    });

    test('an alert: its rules, what they return and compare, and when its condition is over', async () => {
      shop.page = page(9);
      await seen('shop_queue_wait_seconds', 9);
      const both = await waitFor('it fires', async () => {
        const found = await read('alert', { alert: 'QueueSlow', minutes: 5 });
        return found.text.includes('QueueSlow is firing') ? found : null;
      });
      expect(both.data).toMatchObject({ returned: 2, rules: [{ bound: 5, sign: '>' }, { bound: 2 }] });
      const { data, text } = await read('alert', {
        alert: 'QueueSlow',
        labels: { severity: 'critical', queue: 'orders' },
        minutes: 5,
      });
      expect(data).toMatchObject({
        returned: 1,
        rules: [
          { annotations: { summary: 'Orders wait' }, samples: [{ value: 9, labels: { queue: 'orders' } }] },
        ],
      });
      expect(text).toContain('(fires at > 5 s)');
      expect(text).toMatch(/now 9 s, least 1 s, most 9 s, ·*[▁-█·]+█/);
      expect((await condition('QueueSlow', { queue: 'orders' })).isHealthy).toBe(false);
      expect((await condition('QueueSlow', { queue: 'mail' })).isHealthy).toBe(true);
      // Labels that only the alert has, and its series has not.
      expect((await condition('QueueSlow', { alertname: 'QueueSlow' })).isHealthy).toBe(false);
      expect((await condition('QueueSlow', { alertname: 'Other' })).isHealthy).toBeNull();
      expect((await condition('QueueSlow', { alertstate: 'firing' })).isHealthy).toBeNull();
      expect((await condition('QueueSlow', { queue: 'mistyped' })).isHealthy).toBeNull();
      shop.page = page(1);
      await seen('shop_queue_wait_seconds', 1);
      expect((await condition('QueueSlow')).isHealthy).toBe(true);
    });

    test('an alert of what is no longer measured is not over', async () => {
      shop.page = page(9);
      await seen('shop_queue_wait_seconds', 9);
      // One series only: its exporter lives, and gives the others.
      shop.page = page(9).replace(/^.*queue="orders".*$/m, '');
      await waitFor(
        'it has gone',
        async () => (await read('query', { query: 'shop_queue_wait_seconds' })).data.total === 1,
      );
      await waitFor(
        'the subquery has seen it',
        async () => (await condition('QueueSlow')).isHealthy === null,
      );
      expect((await condition('QueueSlow')).text).toContain('which does not show that it is over');
      // All of the exporter.
      shop.page = null;
      await waitFor('it is down', async () => (await read('targets')).data.down === 1);
      expect((await read('targets')).text).toContain('shop 127.0.0.1');
      expect(await condition('QueueSlow')).toMatchObject({
        isHealthy: null,
        text: expect.stringContaining('nobody measures it'),
      });
      shop.page = page(1);
      await seen('shop_queue_wait_seconds', 1);
      expect((await condition('QueueSlow')).isHealthy).toBe(true);
    });

    /** The page shows a problem for which an alert fires. */
    async function firing(alert: string, text: string, on: OwnExporter = shop) {
      on.page = text;
      await waitFor(`${alert} fires`, async () => {
        const { text: said, isHealthy } = await condition(alert);
        return isHealthy === false && said.includes(`${alert} is firing`);
      });
    }
    /** From the moment on at which it returns nothing, it must never be called over. */
    async function never(alert: string, why: RegExp, labels: Readonly<Record<string, string>> = {}) {
      await waitFor(`it cannot be told: ${why}`, async () => {
        const { isHealthy, text } = await condition(alert, labels);
        expect(isHealthy, text).not.toBe(true);
        return isHealthy === null && why.test(text);
      });
    }
    const back = async (alert: string, text: string, on: OwnExporter = shop) => {
      on.page = text;
      await waitFor(`${alert} is over`, async () => (await condition(alert)).isHealthy === true);
    };
    const SLOW = { queue: 'orders' };

    test('what is no number is on no side of a bound', async () => {
      await firing('QueueSlow', page(9));
      shop.page = page(Number.NaN);
      await never('QueueSlow', /NaN/, SLOW);
      await never('QueueSlow', /NaN/);
      await back('QueueSlow', page(1));
      await firing('SlowerThanBound', page(9, 'shop_bound_seconds 5\n'));
      shop.page = page(9, 'shop_bound_seconds NaN\n');
      await never('SlowerThanBound', /NaN/, SLOW);
      await back('SlowerThanBound', page(1, 'shop_bound_seconds 5\n'));
    });

    test.each([
      ['SlowAndOn', 'shop_on 1\n'],
      ['SlowerThanBound', 'shop_bound_seconds 5\n'],
      ['EitherSlow', 'shop_mill_seconds{queue="orders"} 1\n'],
    ])(
      '%s is not over when just its own series is gone, or the other side of it is',
      async (alert, other) => {
        await firing(alert, page(9, other));
        shop.page = page(9, other).replace(/^shop_queue_wait_seconds\{queue="orders".*$/m, '');
        await never(alert, /not measured now|gave .* does not now/, SLOW);
        await never(alert, /not measured now|gave .* does not now/);
        await firing(alert, page(9, other));
        if (alert !== 'EitherSlow') {
          shop.page = page(9);
          await never(alert, /nobody measures it/, SLOW);
        }
        await back(alert, page(1, other));
      },
    );

    test('a condition about how many hold is over when it is measured and holds no more', async () => {
      await firing('FewQueues', page(9));
      await back('FewQueues', page(1));
    });

    test('a rule that is written anew without the alert’s labels, or is gone, does not end it', async () => {
      await firing('QueueSlow', page(9));
      const anew = (expr: string) =>
        server.reload({
          scrape,
          rules: `\n  - alert: QueueSlow\n    expr: ${expr}\n    labels: { severity: critical }\n`,
        });
      shop.page = page(1);
      anew('max by (job) (shop_queue_wait_seconds) > 5');
      await waitFor('the rule is another', async () =>
        (await read('alert', { alert: 'QueueSlow' })).text.includes('max by'),
      );
      await never('QueueSlow', /not measured now/, SLOW);
      await never('QueueSlow', /not measured now/);
      anew('label_replace(shop_queue_wait_seconds, "line", "$1", "queue", "(.*)") > 5');
      await waitFor('the rule is evaluated', async () =>
        (await read('alert', { alert: 'QueueSlow' })).text.includes('label_replace'),
      );
      await waitFor(
        'the same labels and one more',
        async () => (await condition('QueueSlow', SLOW)).isHealthy === true,
      );
      server.reload({ scrape, rules: '\n  - alert: Other\n    expr: vector(1) > 2\n' });
      await waitFor('the rule is gone', async () =>
        read('alert', { alert: 'QueueSlow' }).then(
          () => false,
          ({ code }: { code: string }) => code === 'PROMETHEUS_NO_RULE',
        ),
      );
      server.reload({ scrape, rules: RULES });
      await waitFor('the rules are back', async () =>
        read('alert', { alert: 'ShopGone' }).then(
          ({ data }) => data.returned === 1,
          () => false,
        ),
      );
    });

    test('an instance that is scraped no more is not over because another of its job is well', async () => {
      const [sick, well] = twins;
      const labels = { job: 'twins', instance: `127.0.0.1:${sick.port}` };
      await firing('TwinSlow', 'twin_wait_seconds 9\n', sick);
      server.reload({ scrape: { ...scrape, twins: [well] }, rules: RULES });
      await waitFor(
        'it is scraped no more',
        async () => (await read('query', { query: 'twin_wait_seconds' })).data.total === 1,
      );
      await never('TwinSlow', /not measured now|gave .* does not now/, labels);
      await never('TwinSlow', /not measured now|gave .* does not now/);
      server.reload({ scrape, rules: RULES });
      await back('TwinSlow', 'twin_wait_seconds 1\n', sick);
    });

    test('an alert that has held for nothing lately is over only for labels that are named', async () => {
      expect((await condition('DatabaseDown')).isHealthy).toBeNull();
      expect((await condition('DatabaseDown', { job: 'postgres' })).isHealthy).toBe(true);
    });

    test('an alert whose rule cannot be evaluated is not over, and one that wants absence is when it is there', async () => {
      await expect(read('alert', { alert: 'NoSuchAlert' })).rejects.toMatchObject({
        code: 'PROMETHEUS_NO_RULE',
      });
      shop.page = page(1, 'shop_gone 1\n');
      await seen('shop_gone', 1);
      expect((await condition('ShopGone')).isHealthy).toBe(true);
      shop.page = page(1, 'shop_single{a="1"} 1\nshop_single{a="2"} 1\n');
      await waitFor('it cannot be evaluated', async () =>
        condition('Ambiguous').then(
          () => false,
          (error: { code: string }) => error.code === 'PROMETHEUS_REFUSED',
        ),
      );
      shop.page = page(1);
    });

    test('a wrong password is told from a server that is away, and says what to grant', async () => {
      const wrong = connect(
        { url, username: PROMETHEUS_USER.username, password_env: 'PROM_PASSWORD' },
        { PROM_PASSWORD: 'not-the-password' },
      );
      await expect(reader(wrong)('targets')).rejects.toMatchObject({ code: 'PROMETHEUS_DENIED' });
      await expect(reader(connect({ url: 'http://127.0.0.1:1' }))('targets')).rejects.toMatchObject({
        code: 'PROMETHEUS_AWAY',
        retryable: true,
      });
      const failed = { tool: 'prometheus_query', target: 'prom-1', input: {}, result: null, output: '' };
      expect(prometheus.advise({ ...failed, code: 'PROMETHEUS_DENIED' }, null)).toMatchObject({
        way: 'grant',
      });
      expect(prometheus.advise({ ...failed, code: 'PROMETHEUS_AWAY' }, null)).toMatchObject({ isAway: true });
    });
  },
);

describe('a server that is no honest Prometheus', () => {
  const asked: {
    readonly url: string;
    readonly authorization: string | undefined;
    readonly tenant: unknown;
  }[] = [];
  let answer: (url: string) => { readonly status: number; readonly body: string; readonly location?: string };
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    asked.push({ url: request.url ?? '', authorization, tenant: request.headers['x-scope-orgid'] });
    const { status, body, location } = answer(request.url ?? '');
    response.writeHead(status, location === undefined ? {} : { location });
    response.end(body);
  });
  let read: ReturnType<typeof reader>;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prometheus/`;
    read = reader(connect({ url, token_env: 'PROM_TOKEN', tenant: 'shop' }, { PROM_TOKEN: 'test-token' }));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const vector = (series: number, pad = ''): string =>
    JSON.stringify({
      status: 'success',
      data: {
        resultType: 'vector',
        result: Array.from({ length: series }, (_, at) => ({
          metric: { at: `${at}${pad}` },
          value: [1, '1'],
        })),
      },
      warnings: ['results truncated due to limit'],
    });

  test('is asked below its path, with the token, the tenant and limits of time and series', async () => {
    answer = () => ({ status: 200, body: vector(1) });
    const { text } = await read('query', { query: 'up' });
    expect(text).toContain('The server warns: results truncated due to limit');
    expect(asked.at(-1)).toMatchObject({ authorization: 'Bearer test-token', tenant: 'shop' });
    const { pathname, searchParams } = new URL(asked.at(-1)?.url ?? '', 'http://x');
    expect(pathname).toBe('/prometheus/api/v1/query');
    expect(Object.fromEntries(searchParams)).toMatchObject({ query: 'up', timeout: '19s', limit: '2000' });
  });

  test('gets no credential by a redirect', async () => {
    answer = () => ({ status: 302, body: '', location: 'http://127.0.0.1:1/elsewhere' });
    const before = asked.length;
    await expect(read('targets')).rejects.toMatchObject({ code: 'PROMETHEUS_REDIRECTED' });
    expect(asked.length).toBe(before + 1);
  });

  test('cannot flood', async () => {
    answer = () => ({ status: 200, body: vector(100, 'x'.repeat(100_000)) });
    await expect(read('query', { query: 'up' })).rejects.toMatchObject({ code: 'PROMETHEUS_TOO_LARGE' });
  });

  test.each([
    ['a page', 200, '<html>'],
    ['another shape', 200, '{"status":"success","data":{"resultType":"vector","result":[{"metric":3}]}}'],
    ['nothing', 204, ''],
  ])('answers with %s: that is said', async (_, status, body) => {
    answer = () => ({ status, body });
    await expect(read('query', { query: 'up' })).rejects.toMatchObject({ code: 'PROMETHEUS_NO_API' });
  });

  test('refuses for load: that is said in its words', async () => {
    answer = () => ({
      status: 503,
      body: '{"status":"error","errorType":"timeout","error":"query timed out"}',
    });
    await expect(read('query', { query: 'up' })).rejects.toMatchObject({
      code: 'PROMETHEUS_REFUSED',
      message: expect.stringContaining('query timed out'),
    });
  });
});

test.each([
  [{ url: 'http://user:word@prom:9090' }, /url/],
  [{ url: 'ftp://prom' }, /url/],
  [{ url: 'http://prom:9090', token_env: 'NOT_SET' }, /NOT_SET is not set/],
  [{ url: 'http://prom:9090', username: 'x' }, /belong together/],
  [
    { url: 'http://prom:9090', token_env: 'PROM_PASSWORD', username: 'x', password_env: 'PROM_PASSWORD' },
    /not both/,
  ],
  [{ url: 'http://prom:9090', token_env: 'TWO_LINES' }, /TWO_LINES/],
])('a wrong entry is told: %j', (fields, says) => {
  const env = { ...PASSWORD, TWO_LINES: 'a\r\nx-evil: 1' };
  expect(() => configOf(fields, env)).toThrow(says);
  expect(() => configOf(fields, env)).not.toThrow(/prometheus-test|x-evil/);
});
