import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseTargets } from '../../../../src/config/targets.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import type { Alertmanager } from '../../../../src/targets/alertmanager/alertmanager.ts';
import { alertmanager } from '../../../../src/targets/alertmanager/kind.ts';
import { host } from '../../../../src/targets/host/kind.ts';
import type { ActiveTool, ToolContext } from '../../../../src/tools/define.ts';
import {
  alertmanagerMissing,
  PROMETHEUS_USER,
  type Served,
  startAlertmanager,
} from '../../../support/prometheus.ts';
import { noDocs } from '../../../support/targets.ts';

type Labels = Readonly<Record<string, string>>;
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into the documented data of each tool
type Data = any;

function connect(url: string, more: object = {}, password: string = PROMETHEUS_USER.password) {
  const entry = {
    name: 'alerts-1',
    kind: 'alertmanager',
    environment: 'test',
    url,
    username: PROMETHEUS_USER.username,
    password_env: 'ALERTS_PASSWORD',
    ...more,
  };
  const [config] = parseTargets({ targets: [entry] }, { ALERTS_PASSWORD: password }, 'sentry.yaml', [
    host,
    alertmanager,
  ]);
  if (!config) throw new Error('no target');
  const connection = alertmanager.connect(config, { ownPorts: [] });
  const context: ToolContext<Alertmanager> = {
    target: config,
    system: connection.system as Alertmanager,
    docs: noDocs,
    signal: new AbortController().signal,
    timeoutMs: 5_000,
  };
  return { config, connection, context };
}

type At = ToolContext<Alertmanager>;

function toolNamed(name: string) {
  const tool = alertmanager.tools.find((each) => each.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

function active(name: string): ActiveTool<Json, Json, Alertmanager> {
  const tool = toolNamed(name);
  if (tool.kind !== 'active') throw new Error(`${name} only reads`);
  return tool as ActiveTool<Json, Json, Alertmanager>;
}

async function read(context: At, name: string, input: Json = {}): Promise<{ text: string; data: Data }> {
  const tool = toolNamed(name);
  if (tool.kind === 'active') throw new Error(`${name} changes something`);
  return tool.run(context, tool.input.parse(input));
}

const HIGH_CPU: Json = {
  fingerprint: '1',
  labels: { alertname: 'HighCpu' },
  startsAt: '2026-11-22T10:00:00Z',
  status: { state: 'active', silencedBy: [] },
};

/** Of a card that hit no more than one. */
const ONE_ALERT = { hits: '' };
const NO_DEADLINE = { clock: null, withinMs: 60_000 };

/** As the gate does: pre-flight, then run with its guard. */
async function act(context: At, name: string, input: Json) {
  const tool = active(name);
  const parsed = tool.input.parse(input);
  const before = await tool.preflight(context, parsed);
  return { before, outcome: await tool.run(context, parsed, before.guard, NO_DEADLINE) };
}

const silence = (labels: Labels, minutes = 120): Json => ({ labels, minutes, incident: 'INC-3' });

const missing = alertmanagerMissing();
describe.skipIf(missing !== null)('a real Alertmanager', () => {
  let server: Served & { readonly url: string };
  let at: At;
  beforeEach(async () => {
    server = await startAlertmanager();
    at = connect(server.url).context;
  });
  afterEach(() => server.stop());

  const basic = `Basic ${Buffer.from(`${PROMETHEUS_USER.username}:${PROMETHEUS_USER.password}`).toString('base64')}`;
  async function fire(...labels: readonly Labels[]): Promise<void> {
    const answer = await fetch(`${server.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basic },
      body: JSON.stringify(labels.map((each) => ({ labels: each }))),
    });
    expect(answer.status).toBe(200);
  }
  const disk = (instance: string, severity = 'warning'): Labels => ({
    alertname: 'DiskFull',
    instance,
    severity,
  });

  test('silences what it is asked for and nothing else, and the undo has it notify again', async () => {
    await fire(disk('db-1'), disk('db-2'), { ...disk('db-1'), severity: 'critical' });
    const { before, outcome } = await act(at, 'alertmanager_silence', silence(disk('db-1')));
    expect(before.lines).toContain('silences the 1 alert with these labels that fires now, 0 others');
    expect(outcome).toMatchObject({ kind: 'succeeded', data: { id: expect.any(String) } });
    const { data } = await read(at, 'alertmanager_alerts');
    const states = data.alerts.map(
      ({ labels, state }: Data) => `${labels.instance} ${labels.severity} ${state}`,
    );
    expect(states.filter((state: string) => state.endsWith('suppressed'))).toEqual([
      'db-1 warning suppressed',
    ]);
    expect(data).toMatchObject({ total: 3, silenced: 1 });
    const [made] = (await read(at, 'alertmanager_silences', { labels: disk('db-1') })).data.silences;
    expect(made).toMatchObject({ by: 'Sentry', comment: expect.stringMatching(/^INC-3: /) });
    expect(Math.round((Date.parse(made.until) - Date.parse(data.alerts[0].starts_at)) / 3_600_000)).toBe(2);

    const undo = active('alertmanager_silence').inverse?.(
      outcome.kind === 'succeeded' ? (outcome.data ?? null) : null,
    );
    expect(undo).toEqual({ tool: 'alertmanager_expire_silence', input: { id: made.id } });
    const ended = await act(at, 'alertmanager_expire_silence', undo?.input ?? null);
    expect(ended.before.lines.join('\n')).toContain('it keeps 1 alert quiet now');
    expect(ended.outcome).toMatchObject({ kind: 'succeeded' });
    expect((await read(at, 'alertmanager_alerts')).data).toMatchObject({ total: 3, silenced: 0 });
    await expect(act(at, 'alertmanager_expire_silence', undo?.input ?? null)).rejects.toMatchObject({
      code: 'GONE',
      message: expect.stringContaining('ended already'),
    });
  });

  test('its card says which others it hits, and does not hold once another joins them', async () => {
    const tool = active('alertmanager_silence');
    const asked = silence({ alertname: 'DiskFull', severity: 'warning' });
    await fire(disk('db-1'), disk('db-2'));
    const before = await tool.preflight(at, asked);
    expect(before.lines).toEqual(
      expect.arrayContaining([
        'silences 2 alerts that fire now, which differ in other labels:',
        'instance="db-1"',
        'instance="db-2"',
      ]),
    );
    await fire(disk('db-3'));
    expect((await tool.preflight(at, asked)).guard).not.toEqual(before.guard);
    const outcome = await tool.run(at, asked, before.guard, NO_DEADLINE);
    expect(outcome).toMatchObject({ kind: 'failed', text: expect.stringContaining('other alerts') });
    expect((await read(at, 'alertmanager_silences')).data.total).toBe(0);
  });

  test('nothing that gets worse is silenced with what it was, and the worst needs more than who asks', async () => {
    const tool = active('alertmanager_silence');
    const worse = { ...disk('db-9', 'crit'), priority: 'P3' };
    await fire({ ...disk('db-9'), priority: 'P3' }, worse, {
      alertname: 'DiskFull',
      instance: 'db-9',
      priority: 'P3',
    });
    const asked = (more: Readonly<Record<string, string>>) =>
      silence({ alertname: 'DiskFull', instance: 'db-9', severity: 'warning', ...more });
    await expect(tool.preflight(at, asked({}))).rejects.toMatchObject({ code: 'TOO_WIDE' });
    expect((await tool.preflight(at, asked({ priority: 'P3' }))).risk).toBe('medium');
    expect((await tool.preflight(at, asked({ severity: 'crit', priority: 'P3' }))).risk).toBe('high');
    expect((await tool.preflight(at, asked({ severity: '', priority: 'P3' }))).risk).toBe('medium');
  });

  test('a lost answer is looked up: it took effect, and asked again it is the same silence', async () => {
    await fire(disk('db-1'));
    const proxy = await losingAnswers(server.port);
    try {
      const { context } = connect(proxy.url);
      const { outcome } = await act(context, 'alertmanager_silence', silence(disk('db-1')));
      expect(outcome.kind).toBe('unknown');
    } finally {
      await proxy.stop();
    }
    const tool = active('alertmanager_silence');
    expect(await tool.look(at, silence(disk('db-1')), null)).toBe('done');
    expect(await tool.look(at, silence(disk('db-2')), null)).toBe('not_done');
    const again = await tool.run(at, silence(disk('db-1')), ONE_ALERT, NO_DEADLINE);
    const { data } = await read(at, 'alertmanager_silences');
    expect(data.total).toBe(1);
    expect(again).toMatchObject({ kind: 'succeeded', data: { id: data.silences[0].id } });
    await expect(tool.preflight(at, silence(disk('db-1')))).rejects.toMatchObject({ code: 'GONE' });
  });

  test.each(['a"b', 'back\\slash', '.*', 'db-[0-9]+|x', 'größe – 数据 🐘', 'it\'s, {so}="1"', 'line\nbreak'])(
    '%j is taken to the letter',
    async (instance) => {
      await fire(disk(instance), disk('db-1'), disk('xx'));
      const { before, outcome } = await act(at, 'alertmanager_silence', silence(disk(instance)));
      expect(before.lines).toContain('silences the 1 alert with these labels that fires now, 0 others');
      expect(outcome.kind).toBe('succeeded');
      expect((await read(at, 'alertmanager_alerts')).data).toMatchObject({ total: 3, silenced: 1 });
      expect((await read(at, 'alertmanager_alerts', { labels: disk(instance) })).data).toMatchObject({
        total: 1,
        active: 0,
      });
    },
  );

  test('an alert name of quotes and backslashes is found, too', async () => {
    const labels = { alertname: 'Odd "\\name\\" of {x}', severity: '' };
    await fire({ alertname: labels.alertname });
    const { outcome } = await act(at, 'alertmanager_silence', silence(labels));
    expect(outcome.kind).toBe('succeeded');
    expect((await read(at, 'alertmanager_alerts')).data).toMatchObject({ total: 1, silenced: 1 });
  });

  test('who may not ask is told so, and nothing is done', async () => {
    const { context, config, connection } = connect(server.url, {}, 'wrong');
    await expect(read(context, 'alertmanager_alerts')).rejects.toMatchObject({ code: 'ALERTMANAGER_DENIED' });
    await expect(alertmanager.doctor(config, connection)).rejects.toMatchObject({
      code: 'ALERTMANAGER_DENIED',
    });
    await expect(
      active('alertmanager_silence').run(context, silence(disk('db-1')), ONE_ALERT, NO_DEADLINE),
    ).rejects.toMatchObject({ code: 'ALERTMANAGER_DENIED' });
    expect((await read(at, 'alertmanager_silences')).data.total).toBe(0);
  });

  test('where no such alert fires, nothing is silenced: not asked for, nor once it is over', async () => {
    const tool = active('alertmanager_silence');
    await fire(disk('db-2'));
    await expect(tool.preflight(at, silence(disk('db-1')))).rejects.toMatchObject({ code: 'GONE' });
    const outcome = await tool.run(at, silence(disk('db-1')), ONE_ALERT, NO_DEADLINE);
    expect(outcome).toMatchObject({ kind: 'failed', text: expect.stringContaining('fires there any more') });
    expect((await read(at, 'alertmanager_silences')).data.total).toBe(0);
  });

  test('nothing is silenced after its deadline', async () => {
    const late = { clock: 'another boot/1', withinMs: 1 };
    const outcome = await active('alertmanager_silence').run(at, silence(disk('db-1')), ONE_ALERT, late);
    expect(outcome).toMatchObject({ kind: 'failed', text: expect.stringContaining('deadline') });
    expect((await read(at, 'alertmanager_silences')).data.total).toBe(0);
  });

  test('somebody else’s silence takes a second approval to end', async () => {
    await fire(disk('db-1'));
    const made = await fetch(`${server.url}/api/v2/silences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basic },
      body: JSON.stringify({
        matchers: [{ name: 'instance', value: 'db-.*', isRegex: true }],
        startsAt: new Date().toISOString(),
        endsAt: new Date(Date.now() + 3_600_000).toISOString(),
        createdBy: 'olivia',
        comment: 'moving disks',
      }),
    });
    const { silenceID: id } = (await made.json()) as { silenceID: string };
    const before = await active('alertmanager_expire_silence').preflight(at, { id });
    expect(before.objection).toContain('olivia');
    expect(before.lines[0]).toContain('instance=~"db-.*"');
    // It is not Sentry's own, whatever it hits.
    expect(await active('alertmanager_silence').look(at, silence(disk('db-1')), null)).toBe('not_done');
  });

  test('a silence that was prolonged after its card was drawn is not ended', async () => {
    await fire(disk('db-1'));
    const { outcome } = await act(at, 'alertmanager_silence', silence(disk('db-1')));
    const id = (outcome as Data).data.id;
    const tool = active('alertmanager_expire_silence');
    const before = await tool.preflight(at, { id });
    const [shown] = (await read(at, 'alertmanager_silences')).data.silences;
    const prolonged = await fetch(`${server.url}/api/v2/silences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basic },
      body: JSON.stringify({
        id,
        matchers: Object.entries(disk('db-1')).map(([name, value]) => ({ name, value, isRegex: false })),
        startsAt: new Date(Date.parse(shown.until) - 120 * 60_000).toISOString(),
        endsAt: new Date(Date.parse(shown.until) + 3_600_000).toISOString(),
        createdBy: 'olivia',
        comment: 'longer',
      }),
    });
    expect(await prolonged.json()).toEqual({ silenceID: id });
    expect(await tool.run(at, { id }, before.guard, NO_DEADLINE)).toMatchObject({ kind: 'failed' });
    expect((await read(at, 'alertmanager_silences')).data.total).toBe(1);
  });

  test('is in sentry.yaml and for the doctor', async () => {
    await fire(disk('db-1'));
    const { config, connection } = connect(`${server.url}/`);
    expect(await alertmanager.doctor(config, connection)).toMatch(
      /^Alertmanager \d.*, 1 alert, 0 silences in force$/,
    );
    expect(await alertmanager.facts(connection.system)).toHaveProperty('alertmanager');
  });

  /** Hands everything on, and loses the answer to a POST. */
  async function losingAnswers(port: number): Promise<Served & { readonly url: string }> {
    const proxy = createServer((from, to) => {
      const { method, url: path, headers } = from;
      const onward = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        if (method === 'POST') {
          answer.resume().on('end', () => to.destroy());
          return;
        }
        to.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(to);
      });
      from.pipe(onward);
    });
    return listening(proxy);
  }
});

describe('what may be asked for', () => {
  const { input } = active('alertmanager_silence');
  test.each<readonly [string, Json]>([
    ['everything', {}],
    ['every alert of one host', { instance: 'db-1', severity: 'warning' }],
    ['an alert of whichever severity', { alertname: 'DiskFull' }],
    ['alerts that lack a label', { alertname: 'DiskFull', severity: 'warning', instance: '' }],
    ['an empty name', { alertname: '', severity: 'warning' }],
    ['an odd label', { alertname: 'DiskFull', severity: 'warning', 'a"b': 'x' }],
  ])('never %s', (_, labels) => {
    expect(input.safeParse(silence(labels as Labels)).success).toBe(false);
  });

  test('not for longer than sentry.yaml lets it, which is a day', async () => {
    const at = (more: object) => connect('http://127.0.0.1:1', more).context;
    const rules = (more: object, minutes: number) =>
      active('alertmanager_silence').rules?.(
        at(more),
        silence({ alertname: 'DiskFull', severity: '' }, minutes),
      );
    expect(await rules({}, 24 * 60)).toBeUndefined();
    expect(await rules({}, 24 * 60 + 1)).toMatchObject({ code: 'TOO_LONG' });
    expect(await rules({ max_silence_hours: 2 }, 121)).toMatchObject({ code: 'TOO_LONG' });
    const { config } = connect('http://127.0.0.1:1', { max_silence_hours: 0 });
    expect(Object.keys(alertmanager.refuses?.(config) ?? {})).toEqual([
      'alertmanager_silence',
      'alertmanager_expire_silence',
    ]);
  });
});

/**
 * Synthetic: the documented form of https://grafana.com/docs/grafana/latest/developers/http_api/alerting/ (POST answers 202, and
 * no status names a version); there is no Grafana to install here.
 */
describe('Grafana’s own Alertmanager API', () => {
  let grafana: Served & { readonly url: string };
  const made = new Map<
    string,
    { readonly matchers: Json; readonly endsAt: string; state: string; comment: string }
  >();
  beforeAll(async () => {
    const base = '/api/alertmanager/grafana/api/v2';
    grafana = await listening(
      createServer((request, response) => {
        const { pathname } = new URL(request.url ?? '', 'http://grafana');
        const answer = (status: number, body: Json): void => {
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        };
        const shown = (id: string): Json => {
          const { state = '', ...silence } = made.get(id) ?? {};
          return { id, ...silence, createdBy: 'Sentry', status: { state } } as Json;
        };
        const id = pathname.split('/').at(-1) ?? '';
        if (request.headers.authorization !== 'Bearer glsa_test')
          return answer(401, { message: 'Unauthorized' });
        if (pathname === `${base}/status`) return answer(200, { cluster: { status: 'ready' }, config: {} });
        if (pathname === `${base}/alerts`) return answer(200, [HIGH_CPU]);
        if (pathname === `${base}/silences` && request.method === 'GET')
          return answer(200, [...made.keys()].map(shown));
        if (pathname.startsWith(`${base}/silence/`) && !made.has(id))
          return answer(404, { message: 'silence not found' });
        if (pathname.startsWith(`${base}/silence/`) && request.method === 'GET')
          return answer(200, shown(id));
        if (pathname.startsWith(`${base}/silence/`) && request.method === 'DELETE') {
          Object.assign(made.get(id) ?? {}, { state: 'expired' });
          return answer(200, { message: 'silence deleted' });
        }
        if (pathname !== `${base}/silences`) return answer(404, { message: 'Not found' });
        let text = '';
        request.on('data', (part: Buffer) => {
          text += part.toString();
        });
        request.on('end', () => {
          made.set('s-1', { ...JSON.parse(text), state: 'active' });
          answer(202, { silenceID: 's-1', message: 'silence created' });
        });
      }),
    );
  });
  afterAll(() => grafana.stop());

  test('is silenced and heard again by the same tools', async () => {
    const more = { username: undefined, password_env: undefined, token_env: 'ALERTS_PASSWORD' };
    const { context, config, connection } = connect(
      `${grafana.url}/api/alertmanager/grafana`,
      more,
      'glsa_test',
    );
    expect(await alertmanager.doctor(config, connection)).toBe('Alertmanager, 1 alert, 0 silences in force');
    const { outcome } = await act(
      context,
      'alertmanager_silence',
      silence({ alertname: 'HighCpu', severity: '' }),
    );
    expect(outcome).toMatchObject({ kind: 'succeeded', data: { id: 's-1' } });
    expect(made.get('s-1')?.matchers).toEqual([
      { name: 'alertname', value: 'HighCpu', isRegex: false, isEqual: true },
      { name: 'severity', value: '', isRegex: false, isEqual: true },
    ]);
    expect((await act(context, 'alertmanager_expire_silence', { id: 's-1' })).outcome.kind).toBe('succeeded');
    expect((await read(context, 'alertmanager_silences')).data.total).toBe(0);
    await expect(act(context, 'alertmanager_expire_silence', { id: 's-2' })).rejects.toMatchObject({
      code: 'GONE',
    });
  });

  test('an address that is no such API says so', async () => {
    const more = { username: undefined, password_env: undefined, token_env: 'ALERTS_PASSWORD' };
    const { context } = connect(grafana.url, more, 'glsa_test');
    await expect(read(context, 'alertmanager_alerts')).rejects.toMatchObject({ code: 'ALERTMANAGER_404' });
  });
});

async function listening(server: Server): Promise<Served & { readonly url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
