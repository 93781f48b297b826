import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOKS } from '../../playground/slack/seed.ts';
import { freePort } from '../../src/infra/process/free-port.ts';
import type { LocalSlackClient } from '../support/local-slack.ts';
import { type Product, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { GREY, type IncidentThread, nextThread, stripOf } from './incident-thread.ts';

const SECRET = 'open sesame';
const program = findProgram();

/** Debian calls it prometheus-alertmanager, everybody else alertmanager. CI must have it. */
function findProgram(): string | null {
  for (const name of ['prometheus-alertmanager', 'alertmanager']) {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return name;
    } catch {
      // Not under this name.
    }
  }
  // oxlint-disable-next-line node/no-process-env -- the one switch that CI is known by
  if (process.env['CI'] === 'true')
    throw new Error('CI has no Alertmanager: apt-get install prometheus-alertmanager');
  process.stderr.write('skipped: a real Alertmanager (apt-get install prometheus-alertmanager)\n');
  return null;
}

describe.skipIf(program === null)('a real Alertmanager', () => {
  const dataDir = scratchDir();
  const known: string[] = [];
  let product: Product;
  let slack: LocalSlackClient;
  let server: ChildProcess;
  let url: string;

  beforeAll(async () => {
    product = await startProduct({ dataDir, env: { SENTRY_WEBHOOK_SECRET: SECRET } });
    slack = slackOf(product);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const file = join(dataDir, 'alertmanager.yml');
    const [incoming = ''] = Object.entries(WEBHOOKS).find(([, hook]) => hook.kind === 'classic') ?? [];
    writeFileSync(file, configuration(product.httpUrl, `${slack.url}${incoming}`));
    server = spawn(
      program as string,
      [
        `--config.file=${file}`,
        `--storage.path=${join(dataDir, 'alertmanager')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
      { stdio: 'ignore' },
    );
    await waitFor(
      'Alertmanager to be ready',
      async () => (await fetch(`${url}/-/ready`).catch(() => null))?.ok === true,
    );
  });

  afterAll(async () => {
    server?.kill();
    await product?.stop();
  });

  /** One alert to Alertmanager, as Prometheus sends it; `team` chooses the receivers. */
  async function post(team: string, ended: boolean): Promise<void> {
    const now = Date.now();
    const alert = {
      labels: { alertname: 'DiskWillFill', instance: 'shop-db:5432', severity: 'warning', team },
      annotations: { summary: `The disk of ${team} will be full in 4 hours` },
      startsAt: new Date(now - 60_000).toISOString(),
      endsAt: new Date(ended ? now : now + 600_000).toISOString(),
    };
    const answer = await fetch(`${url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([alert]),
    });
    expect(answer.status).toBe(200);
  }

  async function opened(): Promise<IncidentThread> {
    const thread = await nextThread(slack, known);
    known.push(thread.rootTs);
    return thread;
  }

  const over = (thread: IncidentThread): Promise<boolean> =>
    waitFor('the root to turn grey', async () => stripOf(await thread.root()) === GREY, {
      timeoutMs: 45_000,
    });

  /** What is on record of its alerts: `alertmanager firing`, `slack resolved`, … */
  async function notices(thread: IncidentThread): Promise<readonly string[]> {
    const { stdout } = await sentry({ dataDir }, ['incident', thread.id, '--json']);
    const record = JSON.parse(stdout) as {
      readonly alerts: ReadonlyArray<{ readonly source: string; readonly status: string }>;
    };
    return record.alerts.map(({ source, status }) => `${source} ${status}`);
  }

  it('opens one incident by webhook and Slack message together, and both end it', async () => {
    await post('both', false);
    const thread = await opened();
    await waitFor('both notices', async () => {
      const seen = await notices(thread);
      return seen.includes('alertmanager firing') && seen.includes('slack firing');
    });
    await post('both', true);
    await over(thread);
    await waitFor('both ends', async () => {
      const seen = await notices(thread);
      return seen.includes('alertmanager resolved') && seen.includes('slack resolved');
    });
    expect(await incidents()).toHaveLength(known.length);
  });

  it.each([
    ['webhook', 'alertmanager'],
    ['slack', 'slack'],
  ])('opens and ends an incident by its %s receiver alone', async (team, source) => {
    await post(team, false);
    const thread = await opened();
    await post(team, true);
    await over(thread);
    const seen = new Set(await notices(thread));
    expect([...seen].sort()).toEqual([`${source} firing`, `${source} resolved`]);
    expect(await incidents()).toHaveLength(known.length);
  });

  it('is answered 401 without the secret, and nothing is opened', async () => {
    const answer = await fetch(`${product.httpUrl}/webhooks/alertmanager`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
    expect(await incidents()).toHaveLength(known.length);
  });

  async function incidents(): Promise<readonly string[]> {
    const { stdout } = await sentry({ dataDir }, ['incidents', '--json']);
    return stdout.trim().split('\n').filter(Boolean);
  }
});

const configuration = (sentryUrl: string, slackUrl: string): string => {
  const webhook = `
    webhook_configs:
      - url: ${sentryUrl}/webhooks/alertmanager
        send_resolved: true
        http_config: { authorization: { credentials: ${SECRET} } }`;
  const message = `
    slack_configs:
      - api_url: ${slackUrl}
        channel: '#alerts'
        send_resolved: true`;
  return `
route:
  receiver: both
  group_by: [alertname, team]
  group_wait: 200ms
  group_interval: 1s
  routes:
    - { matchers: ['team="webhook"'], receiver: webhook }
    - { matchers: ['team="slack"'], receiver: slack }
receivers:
  - name: both${webhook}${message}
  - name: webhook${webhook}
  - name: slack${message}
`;
};
