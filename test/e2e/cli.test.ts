import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookBody } from '../../playground/faults/alertmanager-payload.ts';
import { USERS } from '../../playground/slack/seed.ts';
import type { LocalSlackClient } from '../support/local-slack.ts';
import { type Product, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { nextThread } from './incident-thread.ts';
import { openShopDb, type ShopDb } from './shop-db.ts';

const commands = [
  'start',
  'doctor',
  'migrate',
  'alert',
  'normalize',
  'incidents',
  'incident',
  'why',
  'access',
  'runbooks',
  'bench',
] as const;

/** What the playground's Alertmanager posts for blocked sessions: the very same alert, handed in by a person. */
const payload = JSON.stringify(
  webhookBody({
    labels: {
      alertname: 'PostgresBlockedSessions',
      datname: 'shop_db',
      instance: 'shop-db:5432',
      job: 'postgres-exporter',
      source_type: 'database',
      team: 'shop',
      severity: 'critical',
    },
    annotations: { summary: 'Sessions are blocked by a lock on shop-db' },
    startsAt: '2026-11-21T10:00:00Z',
    endsAt: null,
  }),
);

describe('the sentry command beside a running Sentry', () => {
  const dataDir = scratchDir();
  let product: Product;
  let slack: LocalSlackClient;
  let shop: ShopDb;
  const run = (args: readonly string[], input = '') => sentry({ dataDir }, args, input);

  beforeAll(async () => {
    product = await startProduct({ dataDir });
    slack = slackOf(product);
    shop = openShopDb(dataDir);
    expect(await run(['incidents'])).toEqual({ code: 0, stdout: 'No incidents.\n', stderr: '' });
    await shop.fault('blocked_sessions', 'cause');
  });

  afterAll(async () => {
    await shop?.close();
    await product?.stop();
  });

  it('takes an alert from a file and from standard input: one incident, however often', async () => {
    const file = join(dataDir, 'alert.json');
    writeFileSync(file, payload);
    const first = await run(['alert', file]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^INC-1 {2}\w+ {2}\S.*\n$/);
    const second = await run(['alert', '-'], payload);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toMatch(/^INC-1 {2}\w+ {2}/);
    expect((await run(['incidents', '--json'])).stdout.trim().split('\n')).toHaveLength(1);
  });

  it('follows it through Slack to the verified fix', async () => {
    const thread = await nextThread(slack);
    expect(thread.id).toBe('INC-1');
    const [blocker] = await shop.rootBlockers();
    const { message, command } = await thread.card();
    expect(command).toContain(`pid = ${blocker} `);
    const open = await run(['incidents', '--open']);
    expect(open.stdout).toMatch(/INC-1 .*Waiting for approval .*shop-db/);
    await slack.asUser(USERS.stranger).press(message, { actionId: 'sentry_approve' });
    await slack.waitForEphemeral(USERS.stranger);
    await slack.asUser(USERS.onCall).press(message, { actionId: 'sentry_approve' });
    await thread.resolved();
    expect(await shop.hasSession(blocker as number)).toBe(false);
    await waitFor('no open incident', async () =>
      (await run(['incidents', '--open'])).stdout.includes('No incidents.'),
    );
  });

  it('tells why, under every name a person would give the incident', async () => {
    const full = await run(['why', 'INC-1']);
    expect(full).toMatchObject({ code: 0, stderr: '' });
    for (const part of ['Cause', 'pg_terminate_backend', 'approved by somebody in Slack', 'Cost'])
      expect(full.stdout).toContain(part);
    expect((await run(['why', '1'])).stdout).toBe(full.stdout);
    expect((await run(['why', 'inc-1'])).stdout).toBe(full.stdout);
  });

  it('shows the whole record, as text with every output and as one JSON document', async () => {
    const text = await run(['incident', '1']);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/--- postgres_blocking_tree on shop-db, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
    const json = await run(['incident', 'INC-1', '--json']);
    expect(json).toMatchObject({ code: 0, stderr: '' });
    const record = JSON.parse(json.stdout) as Readonly<Record<string, readonly unknown[]>>;
    expect(record['incident']).toMatchObject({ id: 'INC-1', state: 'resolved', verdict: 'fixed' });
    expect(record['actions']).toMatchObject([{ state: 'succeeded', decidedBy: USERS.onCall }]);
    expect(record['toolCalls']?.length).toBeGreaterThan(2);
    expect(record['episodes']).toHaveLength(1);
  });

  it('gives one JSON line an incident, and no more than asked for', async () => {
    const { stdout } = await run(['incidents', '--json', '--limit', '1']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly id: string });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.id).toMatch(/^INC-\d+$/);
  });

  it('has nothing to migrate and finds every part well', async () => {
    expect(await run(['migrate'])).toEqual({ code: 0, stdout: 'The database is up to date.\n', stderr: '' });
    const doctor = await run(['doctor']);
    expect(doctor).toMatchObject({ code: 0, stderr: '' });
    expect(doctor.stdout).not.toMatch(/^[✗!]/m);
    const findings = JSON.parse((await run(['doctor', '--json'])).stdout) as ReadonlyArray<{ ok: boolean }>;
    expect(findings.every(({ ok }) => ok)).toBe(true);
  });

  it('says with code 3 that there is no such incident', async () => {
    for (const args of [
      ['why', 'INC-999'],
      ['incident', '999', '--json'],
      ['why', 'nonsense'],
    ]) {
      const answer = await run(args);
      expect(answer, args.join(' ')).toMatchObject({ code: 3, stdout: '' });
      expect(answer.stderr).toContain(args[1]);
      expect(answer.stderr).toContain('sentry incidents');
    }
  });
});

describe('the sentry command by itself', () => {
  const dataDir = scratchDir();
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, input = '') =>
    sentry({ dataDir, env }, args, input);

  // Each command's own help: test/integration/cli/wrong-words.test.ts, without a process for each.
  it('explains itself, and the commands that come from around it', async () => {
    const all = await run(['--help']);
    expect(all).toMatchObject({ code: 0, stderr: '' });
    for (const name of commands) expect(all.stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    for (const path of [['bench'], ['evals', 'run'], ['replay'], ['runbooks', 'validate']]) {
      const answer = await run([...path, '--help']);
      expect(answer, path.join(' ')).toMatchObject({ code: 0, stderr: '' });
      expect(answer.stdout).toMatch(new RegExp(`^Usage: ${['sentry', ...path].join(' ')}\\b`));
    }
  });

  it('prints the access table without touching anything', async () => {
    const answer = await run(['access'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    const row = (tool: string): string | undefined =>
      answer.stdout.split('\n').find((line) => line.startsWith(`${tool} `));
    expect(row('postgres_terminate_backend')?.trim().split(/\s+/)).toEqual([
      'postgres_terminate_backend',
      'active',
      'yes',
      '-',
      '-',
      'yes',
      '-',
      'yes',
    ]);
    expect(row('postgres_locks')?.trim().split(/\s+/).slice(1)).toEqual([
      'read',
      'yes',
      'yes',
      'yes',
      '-',
      'yes',
      'yes',
    ]);
  });

  it.each([
    [[], 'Usage: sentry'],
    [['nonsense'], 'nonsense'],
    [['why'], 'id'],
    [['incidents', '--limit', 'many'], 'whole number from 1 to 1000'],
    [['incidents', '--nonsense'], '--nonsense'],
    [['bench', 'nonsense'], 'startup'],
  ])('refuses %j with code 2 on stderr', async (args, says) => {
    const answer = await run(args);
    expect(answer).toMatchObject({ code: 2, stdout: '' });
    expect(answer.stderr).toContain(says);
  });

  it.each([
    ['not JSON', 'nonsense', 'JSON'],
    ['not an object', '7', 'payload'],
    ['of an empty list', '[]', 'alerts'],
    ['without alerts', payload.replace(/"alerts":\[.*\]/, '"alerts":[]'), 'alerts'],
    ['with a status nobody knows', payload.replaceAll('"firing"', '"burning"'), 'status'],
    ['with labels that are no text', payload.replace('"severity":"critical"', '"severity":{}'), 'severity'],
  ])('refuses an alert that is %s, naming the field', async (_what, input, names) => {
    const answer = await run(['alert', '-'], {}, input);
    expect(answer).toMatchObject({ code: 1, stdout: '' });
    expect(answer.stderr).toContain(names);
  });

  it('prints what it reads in an alert, in the normal form, without a record to store it in', async () => {
    const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const answer = await run(['normalize'], nowhere, payload);
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(answer.stdout)).toMatchObject([
      { source: 'alertmanager', status: 'firing', name: 'PostgresBlockedSessions', target: 'shop-db:5432' },
    ]);
    expect(await run(['normalize', '-'], nowhere, '{}')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('alerts: expected the array of alerts'),
    });
  });

  it('reads an alert as the source that is named, and says which there are', async () => {
    const message = { channel: 'C1', bot_id: 'B1', ts: '1700000000.000100', text: 'Triggered: disk full' };
    const answer = await run(['normalize', '--source', 'slack'], {}, JSON.stringify(message));
    expect(JSON.parse(answer.stdout)).toMatchObject([{ source: 'slack', title: 'disk full' }]);
    expect(await run(['alert', '--source', 'nobody', '-'], {}, payload)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/There are: alertmanager, .*datadog, .*slack\./),
    });
  });

  it('reads lines of samples, each by itself, and with a mapping of the operator’s own', async () => {
    const folder = join(scratchDir(), 'mappings');
    mkdirSync(folder);
    const mapping = '{"title": what, "status": state, "severity": "sev9"}';
    writeFileSync(
      join(folder, 'mine.yaml'),
      `name: mine\ntitle: Mine\ndocs: https://example.com\nalert: '${mapping}'\n`,
    );
    const samples = [
      { id: 'a', payload: { what: 'disk full', state: 'down' } },
      { id: 'b', payload: { state: 'down' } },
    ];
    const lines = samples.map((sample) => JSON.stringify(sample)).join('\n');
    const answer = await run(['normalize', '--source', 'mine'], { SENTRY_SOURCES_DIR: folder }, lines);
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    expect(
      answer.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        id: 'a',
        alerts: [
          {
            title: 'disk full',
            severity: 'sev9',
            status: 'firing',
            target: null,
            service: null,
            labels: {},
            fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
            startsAt: expect.stringMatching(/Z$/),
            url: null,
          },
        ],
      },
      { id: 'b', alerts: [], refused: [{ field: 'title', reason: 'expected a text' }] },
    ]);
  });

  it('refuses an alert file that is not there', async () => {
    const answer = await run(['alert', 'missing.json']);
    expect(answer).toMatchObject({ code: 1, stdout: '' });
    expect(answer.stderr).toContain('missing.json');
  });

  it.each([
    ['SENTRY_MODE', 'YOLO', 'AUDIT'],
    ['SENTRY_HTTP_PORT', 'eighty', 'number'],
    ['SLACK_BOT_TOKEN', 'xapp-swapped', 'xoxb-'],
    ['DATABASE_URL', 'mysql://x', 'postgres://'],
    ['CHROMA_HOST', 'nowhere', 'http'],
    ['SENTRY_APPROVERS', 'olivia', 'group:'],
    ['SENTRY_WEBHOOK_SECRET', 'short', '8'],
    ['MEMORY_ENABLED', 'perhaps', 'true or false'],
    ['SENTRY_CONFIG', 'missing.yaml', 'does not exist'],
  ])('refuses %s=%s with code 4, saying what was expected', async (name, value, expected) => {
    const answer = await run(['incidents'], { [name]: value });
    expect(answer).toMatchObject({ code: 4, stdout: '' });
    expect(answer.stderr).toContain(name);
    expect(answer.stderr).toContain(expected);
  });

  it('names every wrong variable at once, whatever it was to do', async () => {
    for (const command of ['start', 'doctor', 'migrate']) {
      const answer = await run([command], { SENTRY_MODE: 'YOLO', CHROMA_HOST: 'nowhere' });
      expect(answer, command).toMatchObject({ code: 4, stdout: '' });
      expect(answer.stderr).toMatch(/SENTRY_MODE[^]*CHROMA_HOST|CHROMA_HOST[^]*SENTRY_MODE/);
    }
  });

  it('names the variable that a target wants', async () => {
    const config = join(dataDir, 'targets.yaml');
    writeFileSync(
      config,
      'targets:\n  - name: orders\n    kind: postgres\n    read_url_env: ORDERS_READ_URL\n',
    );
    const answer = await run(['incidents'], { SENTRY_CONFIG: config });
    expect(answer).toMatchObject({ code: 4, stdout: '' });
    expect(answer.stderr).toContain('ORDERS_READ_URL');
    writeFileSync(config, 'targets:\n  - name: Orders DB\n    kind: postgres\n    read_url_env: X\n');
    const named = await run(['incidents'], { SENTRY_CONFIG: config });
    expect(named).toMatchObject({ code: 4, stdout: '' });
    expect(named.stderr).toContain('targets.0.name');
  });

  it('migrates a fresh database, and says so only once', async () => {
    const first = await run(['migrate']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^Applied:\n {2}\d{14}_/);
    expect(await run(['migrate'])).toEqual({ code: 0, stdout: 'The database is up to date.\n', stderr: '' });
  });

  it('finds what is wrong, says what to do, and fails only for what is required', async () => {
    const closed = `127.0.0.1:${await closedPort()}`;
    const noDatabase = await run(['doctor'], { DATABASE_URL: `postgres://u:secret-word@${closed}/x` });
    expect(noDatabase).toMatchObject({ code: 1, stderr: '' });
    expect(noDatabase.stdout).toMatch(/^✗ PostgreSQL .*\n +→ \S/m);
    expect(noDatabase.stdout).not.toContain('secret-word');

    const noSlack = await run(['doctor'], {
      SLACK_BOT_TOKEN: 'xoxb-1',
      SLACK_APP_TOKEN: 'xapp-1',
      SLACK_API_URL: `http://${closed}/api/`,
    });
    expect(noSlack).toMatchObject({ code: 1, stderr: '' });
    expect(noSlack.stdout).toMatch(/^✗ Slack .*\n +→ \S/m);
    expect(noSlack.stdout).toMatch(/^! Approvers .*\n +→ .*SENTRY_APPROVERS/m);

    const noMemory = await run(['doctor', '--json'], { CHROMA_HOST: `http://${closed}` });
    expect(noMemory).toMatchObject({ code: 0, stderr: '' });
    const findings = JSON.parse(noMemory.stdout) as ReadonlyArray<Readonly<Record<string, unknown>>>;
    expect(findings.find(({ part }) => part === 'Chroma')).toMatchObject({ ok: false, required: false });

    const file = join(dataDir, 'a-file');
    writeFileSync(file, '');
    const noFolder = await run(['doctor'], { SENTRY_DATA_DIR: join(file, 'below') });
    expect(noFolder).toMatchObject({ code: 1, stderr: '' });
    expect(noFolder.stdout).toMatch(/^✗ Data folder /m);
  });

  it('finds a broken runbook by file and line', async () => {
    const runbooks = join(dataDir, 'runbooks', 'postgres');
    mkdirSync(runbooks, { recursive: true });
    writeFileSync(join(runbooks, 'broken.md'), '---\nid: broken\ntitle: Broken\n---\n\nNothing.\n');
    const answer = await run(['runbooks', 'validate', join(dataDir, 'runbooks')]);
    expect(answer).toMatchObject({ code: 1 });
    expect(answer.stderr).toMatch(/broken\.md:\d+/);
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address ? address.port : 1;
}
