import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNELS, SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import type { LocalSlackClient } from '../support/local-slack.ts';
import { callMcp, mcpClient, mcpSecretOf, overHttp } from '../support/mcp.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import { type Product, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { nextThread } from './incident-thread.ts';

/** Secrets of several kinds by every entrance, in keys and in values; then all that Sentry has kept is read. */
const dataDir = scratchDir();
const ADMIN_TOKEN = 'a-test-token-of-an-admin';
let database: ScratchDatabase;
let product: Product;
let slack: LocalSlackClient;

beforeAll(async () => {
  database = await scratchDatabase();
  product = await startProduct({
    dataDir,
    env: {
      DATABASE_URL: database.url,
      SENTRY_MCP_SECRET: mcpSecretOf('everybody'),
      SENTRY_ADMIN_TOKEN: ADMIN_TOKEN,
      LOG_LEVEL: 'trace',
    },
    timeoutMs: 120_000,
  });
  slack = slackOf(product);
});
afterAll(async () => {
  await product?.stop();
  await database?.drop();
});

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const planted: string[] = [];
/** Well-known forms, none of them anybody's; each is told from the others by its end. */
function plant(kind: 'aws' | 'github' | 'url' | 'password'): string {
  const n = planted.length;
  const mark = `${LETTERS[n % 32]}${LETTERS[(n * 7 + 3) % 32]}Q7`;
  const [secret, whole] = {
    aws: () => [`AKIAIOSFODNN7${mark.toUpperCase()}EXA`, (secret: string) => secret] as const,
    github: () => [`ghp_16C7e42F292c6912E7710c838347Ae17${mark}`, (secret: string) => secret] as const,
    url: () =>
      [`hunt3r${mark}pass`, (secret: string) => `postgres://shop:${secret}@db.internal:5432/shop`] as const,
    password: () => [`S3cr3t${mark}Xy9`, (secret: string) => `password=${secret}`] as const,
  }[kind]();
  planted.push(secret);
  return whole(secret);
}

async function alertByWebhook(): Promise<void> {
  const response = await fetch(`${product.httpUrl}/webhooks/alertmanager?token=${plant('github')}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      version: '4',
      groupKey: `{}:{${plant('aws')}}`,
      status: 'firing',
      receiver: 'sentry',
      groupLabels: { [plant('aws')]: plant('github') },
      commonLabels: {},
      commonAnnotations: {},
      externalURL: plant('url'),
      alerts: [
        {
          status: 'firing',
          labels: {
            alertname: `Blocked ${plant('url')}`,
            severity: 'critical',
            [plant('aws')]: 'of a key',
            instance: `shop-db:5432 ${plant('url')}`,
          },
          annotations: { summary: plant('password'), [plant('github')]: 'of a key', note: plant('aws') },
          startsAt: new Date().toISOString(),
          endsAt: '0001-01-01T00:00:00Z',
          generatorURL: `http://prometheus/graph?x=${plant('github')}`,
          fingerprint: `f${plant('aws')}`,
        },
      ],
    }),
  });
  expect(response.status).toBe(202);
}

const olivia = USERS.onCall;

it('stand nowhere in what is kept: tables, memory, logs, files [F12]', async () => {
  await alertByWebhook();
  const thread = await nextThread(slack);
  await slack.control('post-as-app', {
    channel: CHANNELS.alerts,
    kind: 'classic',
    username: 'Alertmanager',
    attachments: [
      {
        title: '[FIRING:1] PostgresBlockedSessions (other shop-db critical)',
        text: `Sessions wait: ${plant('url')} ${plant('github')}`,
        fields: [{ title: plant('aws'), value: plant('password') }],
        color: 'danger',
      },
    ],
  });
  const said = (text: string) =>
    slack.act('message.post', { userId: olivia, channel: CHANNELS.alerts, text, thread_ts: thread.rootTs });
  await said(`hint: look at ${plant('url')}`);
  await said(`remember: the replica is reached by ${plant('url')}`);
  await said(`<@U0SENTRY> what is ${plant('github')}?`);
  const command = (text: string) =>
    slack.act('command.run', { userId: olivia, channel: CHANNELS.alerts, text });
  await command(`/sentry investigate orders fail with ${plant('url')} ${plant('aws')}`);
  await command(`/sentry ${plant('github')}`);
  const direct = await slack.act('dm.open', { userId: olivia });
  if (!direct.ok || !direct.channel) throw new Error('no direct message');
  await slack.act('message.post', {
    userId: olivia,
    channel: direct.channel,
    text: `checkout fails since noon with ${plant('url')}, ${plant('github')}`,
  });
  await slack.control('emit-event', {
    event: { type: 'reaction_added', [plant('aws')]: plant('github'), event_ts: '1700000000.000900' },
  });
  await fetch(`${product.httpUrl}/memory/promotions/${plant('github')}/decision`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ as: USERS.admin, decision: 'reject', reason: plant('url') }),
  });
  await fetch(`${product.httpUrl}/nowhere/${plant('github')}?x=${plant('aws')}`);
  const client = await mcpClient(overHttp(product.httpUrl, mcpSecretOf('everybody')));
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ['postgres_blocking_tree', { incident: thread.id, [plant('aws')]: plant('github') }],
    ['memory_search', { incident: thread.id, query: plant('url') }],
    ['evidence_grep', { incident: thread.id, pattern: plant('github') }],
    ['incident_open', { text: `orders ${plant('url')}`, [plant('aws')]: 1 }],
    ['incident_open', { text: `the orders are slow ${plant('url')}`, title: plant('github') }],
    [plant('github'), {}],
  ];
  // Most of them are refused: that is on record as well.
  for (const [name, args] of calls) await callMcp(client, name, args).catch(() => undefined);
  await client.close();

  const sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  try {
    await waitFor('all that came in to be handled', async () => {
      const [row] = await sql`SELECT count(*)::int AS n FROM slack_inbox WHERE processed_at IS NULL`;
      const open = (await slack.messages()).filter(({ text }) => /^INC-\d+ /.test(text));
      return row?.['n'] === 0 && open.length >= 3;
    });
    await waitFor(
      'the investigations to end',
      async () => {
        const [row] = await sql`SELECT count(*)::int AS n FROM incident WHERE state NOT IN
        ('reported', 'escalated', 'resolved', 'awaiting_approval', 'ignored', 'stopped')`;
        return row?.['n'] === 0;
      },
      { timeoutMs: 60_000 },
    );
    const tables = await sql`
      SELECT format('%I.%I', n.nspname, c.relname) AS name
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('r', 'm', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')`;
    expect(tables.map(({ name }) => String(name))).toEqual(
      expect.arrayContaining(['public.slack_inbox', 'public.alert', 'dbos.operation_outputs']),
    );
    const found: string[] = [];
    for (const { name } of tables)
      for (const { row } of await sql.unsafe(`SELECT t::text AS row FROM ${String(name)} t`))
        found.push(...foundIn(String(name), String(row)));
    const shown = (await slack.messages()).filter(({ bot_id: bot }) => bot === SENTRY_APP.botId);
    expect(shown.length).toBeGreaterThan(5);
    await product.stop();
    for (const path of filesOf(dataDir)) found.push(...foundIn(relative(dataDir, path), read(path)));
    found.push(...foundIn('what it printed', product.output()));
    for (const message of shown) found.push(...foundIn('a message of the bot', JSON.stringify(message)));
    expect(found).toEqual([]);
    expect(planted.length).toBeGreaterThan(30);
  } finally {
    await sql.end({ timeout: 1 });
  }
}, 300_000);

function foundIn(where: string, text: string): string[] {
  const lower = text.toLowerCase();
  return planted
    .map((secret) => ({ secret, at: lower.indexOf(secret.toLowerCase()) }))
    .filter(({ at }) => at >= 0)
    .map(({ secret, at }) => `${where}: ${secret} in ${text.slice(Math.max(0, at - 200), at + 60)}`);
}

/** All but what stands for Slack itself, and the shop that is broken. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => !/^(slack|faults|shop)/.test(relative(dataDir, path)));
}

const read = (path: string): string => readFileSync(path, 'latin1');
