import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createLocalSlack } from '../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import { startFaults } from '../../src/app/playground.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Database, openDatabase } from '../../src/infra/db/client.ts';
import { freePort } from '../../src/infra/process/free-port.ts';
import { nextThread } from '../e2e/incident-thread.ts';
import { openShopDb, shopUrls } from '../e2e/shop-db.ts';
import { alertmanagerBody } from '../support/alerts.ts';
import { startBalancer } from '../support/balancer.ts';
import { LocalSlackClient, textOf } from '../support/local-slack.ts';
import { scratchDatabase } from '../support/postgres.ts';
import { type Product, type ProductOptions, startProduct } from '../support/product.ts';
import { quiet } from '../support/quiet.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** The compiled product, as operators run it: behind a balancer, or under its parent. */
const SECRET = 'a secret of this test';
const SLOW_MS = 60_000;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A record and a Slack for as many processes as there are to be. */
async function deployment() {
  const scratch = await scratchDatabase();
  ends.push(scratch.drop);
  const server = await createLocalSlack();
  ends.push(() => server.close());
  const database = openDatabase(scratch.url, { max: 2 });
  ends.push(() => database.close());
  const env = {
    DATABASE_URL: scratch.url,
    SLACK_BOT_TOKEN: SENTRY_APP.botToken,
    SLACK_APP_TOKEN: SENTRY_APP.appToken,
    SLACK_API_URL: `${server.url}/api/`,
    SENTRY_VAULT_KEY: '01'.repeat(32),
    SENTRY_WEBHOOK_SECRET: SECRET,
    SENTRY_APPROVERS: USERS.onCall,
    SENTRY_ADMINS: USERS.admin,
    SENTRY_MODE: 'ACTIVE',
    MEMORY_ENABLED: 'false',
  };
  return { database, slack: new LocalSlackClient(server.url), env };
}

const post = (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}/webhooks/alertmanager`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${SECRET}`,
      connection: 'close',
      ...headers,
    },
  });

/** The system under care, whose alerts go to the balancer. */
async function shop(alertUrl: string) {
  const dataDir = scratchDir();
  const config = {
    ...loadConfig({ SENTRY_DATA_DIR: dataDir }),
    playgroundEngines: { docker: [], podman: [] },
  };
  const options = { port: await freePort(), alertUrl, webhookSecret: SECRET, slackWebhookUrl: null };
  const faults = await startFaults(config, options, quiet);
  ends.push(() => faults.stop());
  const db = openShopDb(dataDir);
  ends.push(() => db.close());
  const file = join(dataDir, 'sentry.yaml');
  writeFileSync(
    file,
    `targets:
  - { name: shop-db, kind: postgres, environment: production, aliases: [shop-db], read_url_env: READ_URL, act_url_env: ACT_URL }\n`,
  );
  return { db, env: { SENTRY_CONFIG: file, ...shopUrls(dataDir) } };
}

/** Which of them has a turn under way now. */
async function busyPid({ sql }: Database): Promise<number | undefined> {
  const [row] = await sql<{ pid: number }>`
    SELECT p.pid FROM dbos.workflow_status w JOIN process p USING (executor_id) WHERE w.status = 'PENDING' LIMIT 1`;
  return row?.pid;
}

test('three processes behind a balancer are one Sentry, and go on when one is killed [C10]', async () => {
  const balancer = await startBalancer();
  ends.push(() => balancer.close());
  const [{ database, slack, env: common }, system] = await Promise.all([
    deployment(),
    shop(`${balancer.url}/webhooks/alertmanager`),
  ]);
  const options = (dataDir: string): ProductOptions => ({
    dataDir,
    env: { ...common, ...system.env, SENTRY_HTTP_RATE: '300', SENTRY_HTTP_PROXIES: '127.0.0.1' },
    timeoutMs: 90_000,
  });
  const folders = [scratchDir(), scratchDir(), scratchDir()];
  const bots: Product[] = await Promise.all(
    folders.map(async (folder) => {
      const bot = await startProduct(options(folder));
      ends.push(() => bot.kill());
      return bot;
    }),
  );
  balancer.backends = bots.map(({ httpUrl }) => httpUrl);

  // Without the key of the others none joins them.
  const other = options(scratchDir());
  await expect(
    startProduct({ ...other, env: { ...other.env, SENTRY_VAULT_KEY: '02'.repeat(32) } }),
  ).rejects.toThrow(/ended before it was ready[^]*another vault key[^]*SENTRY_VAULT_KEY/);

  // The same alert to all at once is one incident.
  const same = alertmanagerBody({ alertname: 'CertificateExpires', instance: 'edge' });
  const answers = await Promise.all(bots.map(({ httpUrl }) => post(httpUrl, same)));
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  const accepted = (
    (await Promise.all(answers.map((answer) => answer.json()))) as {
      readonly accepted: readonly { readonly kind: string; readonly incident: string }[];
    }[]
  ).flatMap((answer) => answer.accepted);
  expect(new Set(accepted.map(({ incident }) => incident)).size).toBe(1);
  expect(accepted.filter(({ kind }) => kind === 'opened')).toHaveLength(1);
  const first = await nextThread(slack, [], SLOW_MS);

  // Strangers get a tenth of the limit, whichever process they come to, and are counted by who they are.
  const begun = performance.now();
  const flood = await Promise.all(
    Array.from({ length: 75 }, () =>
      post(balancer.url, same, { authorization: 'Bearer wrong', 'x-forwarded-for': '203.0.113.9' }),
    ),
  );
  const letIn = flood.filter(({ status }) => status !== 429).length;
  // 30 a minute over all; each alone would let in 25 of its 25.
  const refilled = Math.ceil(((performance.now() - begun) / 60_000) * 30);
  expect(letIn).toBeLessThanOrEqual(30 + 3 + refilled);
  const elsewhere = { authorization: 'Bearer wrong', 'x-forwarded-for': '203.0.113.10' };
  expect((await post(balancer.url, same, elsewhere)).status).toBe(401);

  // Killed in the middle of an incident that came through the balancer: the others go on with it.
  await system.db.fault('blocked_sessions', 'cause');
  const busy = await waitFor('a turn under way', () => busyPid(database), { timeoutMs: SLOW_MS, everyMs: 5 });
  const victim = bots.find(({ pid }) => pid === busy) ?? bots[0];
  await victim?.kill();
  const alive = bots.filter((bot) => bot !== victim);
  const thread = await nextThread(slack, [first.rootTs], SLOW_MS);
  const { message } = await thread.card(SLOW_MS);

  // A file in one folder stops all: the card offers nothing to approve, and says which file it is.
  const folder = folders[bots.indexOf(alive[1] as Product)] ?? '';
  const file = join(folder, 'STOP_SENTRY');
  writeFileSync(file, '');
  await waitFor('the file to be on record', async () => {
    const rows = await database.sql`SELECT FROM switch WHERE stopped AND reason LIKE ${`%${folder} on %`}`;
    return rows.length > 0;
  });
  const says = new RegExp(`the file STOP_SENTRY.*${folder} on `, 's');
  await slack.waitForMessage((each) => each.ts === message.ts && says.test(textOf(each)), SLOW_MS);
  // Whichever of the two is asked.
  for (let asked = 1; asked <= 3; asked += 1) {
    await slack.asUser(USERS.admin).command(CHANNELS.general, '/sentry status');
    await waitFor('the answer', async () => {
      const { ephemerals } = await slack.snapshot();
      const heard = ephemerals.filter(
        (each) => each.userId === USERS.admin && says.test(textOf(each.message)),
      );
      return heard.length >= asked;
    });
  }
  const [begunActions] = await database.sql<{ n: number }>`
    SELECT count(*)::int AS n FROM action WHERE started_at IS NOT NULL`;
  expect(begunActions?.n).toBe(0);
  rmSync(file);
  await waitFor('it to be lifted', async () => {
    const rows = await database.sql`SELECT FROM switch WHERE stopped`;
    return rows.length === 0;
  });

  const card = await slack.waitForMessage(
    (each) => each.thread_ts === thread.rootTs && JSON.stringify(each.blocks).includes('sentry_approve'),
    SLOW_MS,
  );
  await slack.asUser(USERS.onCall).press(card, { actionId: 'sentry_approve' });
  await thread.resolved(SLOW_MS);
  const [ran] = await database.sql<{ n: number }>`
    SELECT count(*)::int AS n FROM action WHERE started_at IS NOT NULL`;
  expect(ran?.n).toBe(1);
  expect(await system.db.waiting()).toBe(0);
}, 600_000);

test('while the bot is killed again and again its port answers 202 or 503, and what it took is not lost [C1]', async () => {
  const { database, env } = await deployment();
  const product = await startProduct({ dataDir: scratchDir(), env, byNpm: true, timeoutMs: 120_000 });
  ends.push(() => product.stop());
  const seen = new Map<string, number>();
  const taken: string[] = [];
  let going = true;
  let n = 0;
  const sending = (async () => {
    while (going) {
      n += 1;
      const answer = await post(
        product.httpUrl,
        alertmanagerBody({ alertname: `Alert${n % 5}`, instance: `host-${n}` }),
      ).then(
        async (response) => {
          const body = (await response.json()) as {
            readonly accepted?: readonly { readonly incident: string }[];
          };
          if (response.status === 202) taken.push(...(body.accepted ?? []).map(({ incident }) => incident));
          return `${response.status} ${response.headers.get('retry-after') ?? ''}`.trim();
        },
        (error: Error) => String((error.cause as NodeJS.ErrnoException | undefined)?.code ?? error),
      );
      seen.set(answer, (seen.get(answer) ?? 0) + 1);
      await sleep(300);
    }
  })();
  const count = (what: string): number => seen.get(what) ?? 0;
  const more = async (what: string): Promise<void> => {
    const before = count(what);
    await waitFor(what, async () => count(what) > before, {
      timeoutMs: SLOW_MS,
      seen: () => [...seen, product.output().slice(-2_000)],
    });
  };
  const killed = new Set<number>();
  for (let kills = 0; kills < 2; kills += 1) {
    await more('202');
    const pid = await waitFor('the bot', async () => {
      const rows = await database.sql<{ pid: number }>`SELECT pid FROM process ORDER BY beat_at DESC`;
      return rows.find((row) => !killed.has(row.pid))?.pid;
    });
    process.kill(pid, 'SIGKILL');
    killed.add(pid);
    await more('503 5');
  }
  await more('202');
  going = false;
  await sending;
  for (const each of ['202', '503 5', 'ECONNRESET', 'UND_ERR_SOCKET']) seen.delete(each);
  expect([...seen]).toEqual([]);
  const rows = await database.sql<{ id: string }>`SELECT id FROM incident`;
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(taken));
  expect(await product.stop()).toBe(0);
  await expect(fetch(product.httpUrl)).rejects.toThrow('fetch failed');
}, 600_000);
