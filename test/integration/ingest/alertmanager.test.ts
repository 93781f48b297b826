import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpServer, type HttpServer } from '../../../src/http/server.ts';
import { webhookRoute } from '../../../src/http/webhook-route.ts';
import { freePort } from '../../../src/infra/process/free-port.ts';
import { type Accept, createAccept } from '../../../src/ingest/accept.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

const program = findProgram();
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

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
  // oxlint-disable-next-line node/no-process-env -- only a test's own switch
  if (process.env['CI'] === 'true')
    throw new Error('CI has no Alertmanager: apt-get install prometheus-alertmanager');
  return null;
}

describe.skipIf(program === null)(
  program === null
    ? 'a real Alertmanager (skipped: not installed; apt-get install prometheus-alertmanager)'
    : 'a real Alertmanager',
  () => {
    let db: AcceptDatabase;
    let accept: Accept;
    let http: HttpServer;
    let slack: ReturnType<typeof createServer>;
    let server: ChildProcess;
    let url: string;
    const dir = mkdtempSync(join(tmpdir(), 'sentry-test-am-'));
    const posted: object[] = [];

    beforeAll(async () => {
      db = await acceptDatabase();
      accept = createAccept(
        db.sql,
        [{ name: 'shop-db', kind: 'postgres', domain: 'postgres', environment: 'test', aliases: [] }],
        domainOf,
      );
      http = createHttpServer({
        host: '127.0.0.1',
        port: 0,
        log,
        routes: [webhookRoute({ source: alertSource('alertmanager'), accept, secret: 'open sesame', log })],
      });
      const { port } = await http.listen();
      // Stands where Slack's incoming webhook is: what Alertmanager posts there becomes a channel message.
      slack = createServer((request, response) => void collect(request).then(() => response.end('ok')));
      await new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve));
      const slackPort = (slack.address() as AddressInfo).port;
      const amPort = await freePort();
      url = `http://127.0.0.1:${amPort}`;
      writeFileSync(join(dir, 'am.yml'), configuration(port, slackPort));
      server = spawn(
        program as string,
        [
          `--config.file=${join(dir, 'am.yml')}`,
          `--storage.path=${join(dir, 'data')}`,
          `--web.listen-address=127.0.0.1:${amPort}`,
          '--cluster.listen-address=',
        ],
        { stdio: 'ignore' },
      );
      await until(
        'Alertmanager is ready',
        async () => (await fetch(`${url}/-/ready`).catch(() => null))?.ok === true,
      );
    });

    afterAll(async () => {
      server?.kill();
      slack?.close();
      await http?.close(0);
      await db?.close();
      rmSync(dir, { recursive: true, force: true });
    });

    test('opens one incident by webhook and Slack message, and ends it by both', async () => {
      const labels = { alertname: 'PostgresBlockedSessions', instance: 'shop-db:5432', severity: 'critical' };
      const startsAt = new Date().toISOString();
      await alert(labels, { startsAt });
      await until('the webhook came', async () => (await incidents()).length === 1);
      await until('the Slack message came', () => posted.length === 1);
      expect(await deliver(posted[0])).toMatchObject({ kind: 'repeated' });
      expect(await incidents()).toMatchObject([
        {
          state: 'open',
          target: 'shop-db',
          domain: 'postgres',
          severity: 'critical',
          occurrences: 1,
          source_resolved_at: null,
        },
      ]);

      await alert(labels, { startsAt, endsAt: new Date().toISOString() });
      await until(
        'the end came by webhook',
        async () => (await incidents())[0]?.['source_resolved_at'] !== null,
      );
      await until('the end came to Slack', () => posted.length === 2);
      expect(await deliver(posted[1])).toMatchObject({ kind: 'resolved' });
      expect(await incidents()).toHaveLength(1);
      expect((await db.turns()).map(({ reason }) => reason)).toEqual(['opened', 'source_resolved']);
    });

    test('is enough with its Slack receiver alone', async () => {
      await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
      const [begun, ended] = posted;
      expect(await deliver(begun)).toMatchObject({ kind: 'opened' });
      expect(await incidents()).toMatchObject([
        {
          alert_name: 'PostgresBlockedSessions',
          target: 'shop-db',
          severity: 'critical',
          domain: 'postgres',
        },
      ]);
      expect(await deliver(ended)).toMatchObject({ kind: 'resolved' });
    });

    test('sends a group as one webhook, and each alert of it is an incident', async () => {
      await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
      const startsAt = new Date().toISOString();
      const group = ['a', 'b', 'c'].map((instance) => ({
        labels: { alertname: 'PostgresDown', instance },
        startsAt,
      }));
      await post(group);
      await until('the group came', async () => (await incidents()).length === 3);
    });

    test.each([
      ['a name with spaces', { alertname: 'High Latency', service: 'orders-db', severity: 'critical' }],
      ['a name with words of a sentence', { alertname: 'Postgres down in dc1', severity: 'critical' }],
      [
        'a value with words of a sentence and an external label',
        {
          alertname: 'LongTransaction',
          prometheus: 'peers',
          state: 'idle in transaction',
          severity: 'warning',
        },
      ],
      [
        'marks, entities and an emoji',
        {
          alertname: 'CPU > 80 % & rising 🔥',
          path: '/api/*',
          note: '<!channel> "x"\nline two',
          severity: 'warning',
        },
      ],
    ])(
      'with %s: one incident by webhook and Slack, whichever comes first, and both end it',
      async (_what, labels) => {
        await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
        const before = posted.length;
        const startsAt = new Date().toISOString();
        await alert(labels, { startsAt });
        await until('the webhook came', async () => (await incidents()).length === 1);
        await until('the Slack message came', () => posted.length === before + 1);
        expect(await deliver(posted[before])).toMatchObject({ kind: 'repeated' });
        await alert(labels, { startsAt, endsAt: new Date().toISOString() });
        await until('the end came to Slack', () => posted.length === before + 2);
        expect(await deliver(posted[before + 1])).toMatchObject({ kind: 'resolved' });
        expect(await incidents()).toMatchObject([
          { severity: labels.severity, alert_name: labels.alertname },
        ]);

        await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
        expect(await deliver(posted[before])).toMatchObject({ kind: 'opened' });
        await alert({ ...labels }, { startsAt: new Date().toISOString() });
        await until(
          'the webhook came again',
          async () => (await db.sql<Row>`SELECT FROM alert`).length === 2,
        );
        expect(await incidents()).toMatchObject([
          { severity: labels.severity, alert_name: labels.alertname },
        ]);
        await alert(labels, { startsAt, endsAt: new Date().toISOString() });
        await until('it is over', async () => (await incidents())[0]?.['source_resolved_at'] !== null);
      },
    );

    const incidents = () => db.sql<Row>`SELECT * FROM incident ORDER BY opened_at`;
    const alert = (labels: Record<string, string>, times: object) =>
      post([{ labels, annotations: { summary: 'Five sessions wait for a lock' }, ...times }]);

    async function post(alerts: object[]): Promise<void> {
      const answer = await fetch(`${url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      expect(answer.status).toBe(200);
    }

    async function collect(request: IncomingMessage): Promise<void> {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      posted.push(JSON.parse(Buffer.concat(chunks).toString()) as object);
    }

    /** As Slack passes an incoming webhook's post on. */
    async function deliver(message: object | undefined) {
      const ts = (Date.now() / 1000).toFixed(6);
      const event = {
        ...message,
        type: 'message',
        subtype: 'bot_message',
        bot_id: 'B0AM',
        channel: 'C0ALERTS',
        ts,
      };
      const read = await alertSource('slack').read(event, { receivedAt: new Date() });
      if (!read.ok || !read.alerts[0]) throw new Error(`not read: ${JSON.stringify(read)}`);
      return accept(read.alerts[0]);
    }
  },
);

const configuration = (webhookPort: number, slackPort: number): string => `
route:
  receiver: sentry
  group_by: [alertname]
  group_wait: 100ms
  group_interval: 500ms
receivers:
  - name: sentry
    webhook_configs:
      - url: http://127.0.0.1:${webhookPort}/webhooks/alertmanager
        send_resolved: true
        http_config: { authorization: { credentials: open sesame } }
    slack_configs:
      - api_url: http://127.0.0.1:${slackPort}/services/T/B/X
        channel: '#alerts'
        send_resolved: true
`;

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await waitFor(what, async () => holds());
}
