import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseTargets } from '../../../../src/config/targets.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { host } from '../../../../src/targets/host/kind.ts';
import { loki } from '../../../../src/targets/loki/kind.ts';
import type { Loki } from '../../../../src/targets/loki/loki.ts';
import { noDocs } from '../../../support/targets.ts';

/** As https://grafana.com/docs/loki/latest/reference/loki-http-api/ documents its answers: there is no Loki to install here. */
const STREAMS = {
  status: 'success',
  data: {
    resultType: 'streams',
    result: [
      {
        stream: { job: 'shop', level: 'error' },
        values: [
          ['1795431000000000002', 'second: no space left on device'],
          ['1795430999000000000', 'first', { structuredMetadata: { trace: 'x' } }],
        ],
      },
      { stream: { job: 'shop', level: 'warn' }, values: [['1795431000000000001', 'between']] },
    ],
    stats: {},
  },
};
const MATRIX = {
  status: 'success',
  data: {
    resultType: 'matrix',
    result: [{ metric: { level: 'error' }, values: [[1, '3']] }],
    stats: {},
  },
};

let answer: { readonly status: number; readonly body: string };
let asked: URL;
let tenant: unknown;
const server = createServer((request, response) => {
  asked = new URL(request.url ?? '', 'http://loki');
  tenant = request.headers['x-scope-orgid'];
  response.writeHead(answer.status);
  response.end(answer.body);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

function connect() {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entry = { name: 'logs-1', kind: 'loki', environment: 'test', url, tenant: 'shop' };
  const [config] = parseTargets({ targets: [entry] }, {}, 'sentry.yaml', [host, loki]);
  if (!config) throw new Error('no target');
  return { config, connection: loki.connect(config, { ownPorts: [] }) };
}

async function read(input: Json, given: { readonly status?: number; readonly body: object | string }) {
  answer = {
    status: given.status ?? 200,
    body: typeof given.body === 'string' ? given.body : JSON.stringify(given.body),
  };
  const [tool] = loki.tools;
  if (tool?.kind !== 'read') throw new Error('no tool');
  const { config, connection } = connect();
  const { text, data } = await tool.run(
    {
      target: config,
      system: connection.system as Loki,
      docs: noDocs,
      signal: new AbortController().signal,
      timeoutMs: 5_000,
    },
    tool.input.parse(input),
  );
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into the documented data of each tool
  return { text, data: data as any };
}

test('lines of all streams come in their order, to the nanosecond', async () => {
  const { text, data } = await read({ query: '{job="shop"}' }, { body: STREAMS });
  expect(data.lines.map(({ line }: { line: string }) => line)).toEqual([
    'first',
    'between',
    'second: no space left on device',
  ]);
  expect(data).toMatchObject({ total: 3, cut: false, lines: [{ labels: { level: 'error' } }, {}, {}] });
  expect(text).toContain('Z second: no space left on device');
  expect(asked.pathname).toBe('/loki/api/v1/query_range');
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    query: '{job="shop"}',
    limit: '100',
    direction: 'backward',
  });
  expect(Number(asked.searchParams.get('end')) - Number(asked.searchParams.get('start'))).toBeLessThanOrEqual(
    3_600,
  );
  expect(tenant).toBe('shop');
});

test('a hundred lines may not be all, and a long one is cut', async () => {
  const values = Array.from({ length: 100 }, (_, at) => [
    `${1795431000000000000n + BigInt(at)}`,
    'x'.repeat(5_000),
  ]);
  const body = { status: 'success', data: { resultType: 'streams', result: [{ stream: {}, values }] } };
  const { text, data } = await read({ query: '{job="shop"}' }, { body });
  expect(data.cut).toBe(true);
  expect(text).toContain('The newest 100 lines of {job="shop"}; there may be more');
  expect(text.length).toBeLessThan(60_000);
});

test('no line is not said to be quiet', async () => {
  const body = { status: 'success', data: { resultType: 'streams', result: [] } };
  expect((await read({ query: '{job="no"}' }, { body })).text).toContain('are not quiet');
});

test('a metric query has a course', async () => {
  const { data, text } = await read({ query: 'sum by (level) (rate({job="shop"}[5m]))' }, { body: MATRIX });
  expect(data).toMatchObject({ total: 1, chart: { series: [{ name: '{level="error"}' }] } });
  expect(text).toContain('1 series');
});

test('wrong LogQL is refused in Loki’s own words, which are no JSON', async () => {
  const given = { status: 400, body: 'parse error at line 1, col 2: syntax error: unexpected }' };
  await expect(read({ query: '{}' }, given)).rejects.toMatchObject({
    code: 'LOKI_REFUSED',
    message: expect.stringContaining('unexpected }'),
  });
});

test('what answers otherwise is no Loki', async () => {
  await expect(read({ query: '{a="b"}' }, { body: '<html>' })).rejects.toMatchObject({ code: 'LOKI_NO_API' });
  await expect(
    read({ query: '{a="b"}' }, { body: { status: 'success', data: { resultType: 'streams' } } }),
  ).rejects.toMatchObject({ code: 'LOKI_NO_API' });
});

test('the doctor tries it', async () => {
  answer = { status: 200, body: '{"status":"success","data":["job","level"]}' };
  const { config, connection } = connect();
  expect(await loki.doctor(config, connection)).toBe('Loki, its logs have 2 labels');
});
