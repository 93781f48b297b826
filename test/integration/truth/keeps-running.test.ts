import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/infra/db/client.ts';
import {
  isRunning,
  type ProcessIdentity,
  processIdentity,
  signalProcess,
} from '../../../src/infra/process/process-identity.ts';
import { alertmanagerBody } from '../../support/alerts.ts';
import { partOf, recordUrl, signalPart } from '../../support/chaos.ts';
import { killLeftovers } from '../../support/processes-under.ts';
import { type Product, repository, startProduct } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Sentry as a user starts it, by `npm start`: whatever ends the bot, it comes back; who stops it, stops all of it. */
const SLOW_MS = 40_000;
const LIMIT = { timeout: 10 * SLOW_MS };
const preload = join(repository, 'test', 'support', 'throw-on-signal.mjs');

let dataDir: string;
let product: Product;

beforeAll(async () => {
  dataDir = scratchDir();
  product = await startProduct({
    dataDir,
    byNpm: true,
    timeoutMs: SLOW_MS,
    env: { NODE_OPTIONS: `--import=${preload}` },
  });
}, LIMIT.timeout);

afterAll(async () => {
  const left = product ? family().map(({ process }) => process) : [];
  await product?.stop();
  for (const each of left) signalProcess(each, 'SIGKILL');
  if (dataDir) killLeftovers(dataDir);
}, LIMIT.timeout);

interface Relative {
  readonly process: ProcessIdentity;
  readonly args: string;
}

/** npm and everything below it, whoever is nearest to it first. */
function family(): readonly Relative[] {
  const rows = execFileSync('ps', ['-axo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return args === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
    });
  const found = rows.filter(({ pid }) => pid === product.pid);
  for (const one of found) found.push(...rows.filter(({ parent }) => parent === one.pid));
  return found.flatMap(({ pid, args }) => {
    const identity = processIdentity(pid);
    return identity ? [{ process: identity, args }] : [];
  });
}

/** The process that is Sentry itself; there must be one. */
function bot(): ProcessIdentity {
  const bots = family().filter(({ args }) => /(dist\/src\/main\.js|bootstrap\.mjs) start$/.test(args));
  const last = bots.at(-1);
  assert(last, `Sentry runs no more; it said: ${product.output().slice(-1_000)}`);
  return last.process;
}

let sent = 0;

/** What a sender of a new alert is answered. Nobody there: 0. */
async function sendAlert(): Promise<number> {
  sent += 1;
  const labels = { alertname: `KeepsRunning${sent}`, target: 'shop-db' };
  const answer = await fetch(`${product.httpUrl}/webhooks/alertmanager`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(alertmanagerBody(labels)),
  }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status ?? 0;
}

const acceptsAlerts = (): Promise<boolean> =>
  waitFor(
    'an alert to be accepted',
    async () => {
      bot();
      return (await sendAlert()) === 202;
    },
    { timeoutMs: SLOW_MS, everyMs: 250, seen: () => product.output().slice(-1_000) },
  );

const starts = (): number => product.output().match(/Sentry is ready/g)?.length ?? 0;

test.each(['SIGKILL', 'SIGINT'] as const)(
  'the database restarts (%s) while transactions are open: the same bot goes on',
  LIMIT,
  async (signal) => {
    const before = bot();
    const record = openDatabase(recordUrl(dataDir), { max: 2, name: 'test' });
    try {
      const server = partOf(dataDir, 'record')?.pid;
      // Five incidents are being worked on: whoever reads one of them now waits inside its transaction.
      for (let n = 0; n < 5; n += 1) await acceptsAlerts();
      const locked = record.sql`
        DO $$ BEGIN LOCK TABLE event IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(600); END $$`.then(
        () => 'ended',
        () => 'lost',
      );
      const answers = Array.from({ length: 5 }, () => sendAlert());
      // For that table: locks of its own it waits for before ours stands, and a server that ends while we still connect is another matter.
      await waitFor('the bot to wait inside of a transaction', async () => {
        const [row] = await record.sql<Row>`
          SELECT count(*) AS n FROM pg_stat_activity
           WHERE wait_event_type = 'Lock' AND wait_event = 'relation' AND application_name LIKE 'sentry%' AND xact_start < query_start`;
        return Number(row?.['n']) > 0;
      });
      signalPart(dataDir, 'record', signal);
      await waitFor(
        'the database to be back',
        async () => {
          bot();
          const now = partOf(dataDir, 'record')?.pid;
          return now !== undefined && now !== server;
        },
        { timeoutMs: SLOW_MS },
      );
      expect(await locked).toBe('lost');
      // Either it is taken or the sender is told to come again; nobody is hung up on.
      for (const status of await Promise.all(answers)) expect([202, 503]).toContain(status);
      await acceptsAlerts();
      expect(bot()).toEqual(before);
      expect(product.output()).not.toContain("reading 'write'");
    } finally {
      await record.close();
    }
  },
);

const ends = [
  ['kill -9', 'SIGKILL', 'signal SIGKILL'],
  ['a crash of Node itself', 'SIGSEGV', 'signal SIGSEGV'],
  ['an error nobody caught', 'SIGUSR2', 'an error in Sentry itself'],
] as const;

test.each(ends)(
  '%s ends the bot: it is started again, says so, and takes alerts',
  LIMIT,
  async (_, signal, why) => {
    const before = starts();
    const [npm] = family();
    assert(npm, 'npm start runs no more');
    signalProcess(bot(), signal);
    // Nothing comes back where nobody starts it.
    await waitFor('the next start', async () => starts() > before || !isRunning(npm.process), {
      timeoutMs: SLOW_MS,
    });
    expect(starts()).toBe(before + 1);
    expect(product.output()).toContain(`Sentry ended unexpectedly (${why}). Starting it again in`);
    expect(product.output()).toContain(
      `"because":"${why}","msg":"started again: Sentry had ended unexpectedly"`,
    );
    await acceptsAlerts();
  },
);

test('SIGTERM to npm ends all of it, and says so [M1]', LIMIT, async () => {
  bot();
  const all = family().map(({ process }) => process);
  product.signal('SIGTERM');
  await product.exited;
  const left = () => all.filter(isRunning);
  await waitFor('everything to be gone', async () => left().length === 0, { seen: left });
  expect(product.output()).toMatch(/Stopping[\s\S]*Stopped\./);
  expect(partOf(dataDir, 'record')).toBeUndefined();
});

test('a bot whose parent is killed stops by itself', LIMIT, async () => {
  product = await startProduct({ dataDir, byNpm: true, timeoutMs: SLOW_MS });
  const orphan = bot();
  const parent = family().find(({ args }) => args.endsWith('bootstrap.mjs start'));
  assert(parent, 'npm start has no process between npm and Sentry');
  expect(parent.process).not.toEqual(orphan);
  signalProcess(parent.process, 'SIGKILL');
  await waitFor('the bot to be gone', async () => !isRunning(orphan), { timeoutMs: SLOW_MS });
  expect(partOf(dataDir, 'record')).toBeUndefined();
});
