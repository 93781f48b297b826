import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { PageFrame } from '../../../playground/slack/page-api.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { parseFrame, rawBot } from './raw-bot.ts';

const MAIN = fileURLToPath(new URL('../../../playground/slack/main.ts', import.meta.url));
const channel = CHANNELS.alerts;
let dir: string;
let running: ChildProcess | undefined;

async function start(...more: string[]): Promise<{ child: ChildProcess; url: string; web: WebClient }> {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, '--data', dir, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running = child;
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, apiUrl } = JSON.parse(line) as { url: string; apiUrl: string };
  const web = new WebClient(SENTRY_APP.botToken, {
    slackApiUrl: apiUrl,
    retryConfig: { retries: 0 },
    logLevel: LogLevel.ERROR,
  });
  return { child, url, web };
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  child.kill(signal);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

beforeEach(() => {
  dir = scratchDir();
});

afterEach(async () => {
  if (running !== undefined && running.exitCode === null && running.signalCode === null)
    await kill(running, 'SIGKILL');
});

it('has after kill -9 every message, edit, reaction and home view it answered for', async () => {
  const first = await start();
  const { ts } = await first.web.chat.postMessage({ channel, text: 'root' });
  const thread = String(ts);
  await first.web.chat.postMessage({ channel, thread_ts: thread, text: 'reply' });
  await first.web.reactions.add({ channel, timestamp: thread, name: 'eyes' });
  await first.web.views.publish({
    user_id: USERS.admin,
    view: { type: 'home', blocks: [{ type: 'divider' }] },
  });
  await first.web.chat.update({ channel, ts: thread, text: 'edited' });
  const before = await new LocalSlackClient(first.url).snapshot();
  await kill(first.child, 'SIGKILL');

  const second = await start();
  const after = await new LocalSlackClient(second.url).snapshot();
  expect(after.messages).toEqual(before.messages);
  expect(after.homes).toEqual(before.homes);
  expect(after.messages[channel]?.[0]).toMatchObject({ text: 'edited', reply_count: 1 });
  const next = await second.web.chat.postMessage({ channel, text: 'after' });
  expect(Number(next.ts)).toBeGreaterThan(Number(after.messages[channel]?.at(-1)?.ts));
});

it('has every acknowledged post after kill -9 at any instant, three times over', async () => {
  const acknowledged: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { child, url, web } = await start();
    await new LocalSlackClient(url).control('rate-limits', { enabled: false });
    // Each poster goes on until the server is gone.
    const poster = async (name: number): Promise<void> => {
      for (let n = 0; ; n += 1) {
        const text = `${round}/${name}/${n}`;
        await web.chat.postMessage({ channel, text });
        acknowledged.push(text);
        if (acknowledged.length === (round + 1) * 40) child.kill('SIGKILL');
      }
    };
    await Promise.allSettled([0, 1, 2, 3].map(poster));
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(120);
  const last = await start();
  const texts = (await new LocalSlackClient(last.url).messages({ channel })).map((each) => each.text);
  expect(acknowledged.filter((text) => !texts.includes(text))).toEqual([]);
  expect(new Set(texts).size).toBe(texts.length);
});

it('starts again when the last write was torn', async () => {
  const first = await start();
  await first.web.chat.postMessage({ channel, text: 'kept' });
  await kill(first.child, 'SIGKILL');
  const [file] = readdirSync(dir).filter((each) => each.endsWith('.jsonl'));
  appendFileSync(join(dir, String(file)), '["messages","C0ALERTS/9","{"type":');
  const second = await start();
  const messages = await new LocalSlackClient(second.url).messages({ channel });
  expect(messages.map((each) => each.text)).toEqual(['kept']);
});

it('still delivers, after a restart, an event that nobody had acknowledged', async () => {
  const first = await start();
  await new LocalSlackClient(first.url).asUser(USERS.onCall).say(channel, '@sentry help');
  await kill(first.child, 'SIGKILL');
  const second = await start();
  await new LocalSlackClient(second.url).control('timing', { retryFactor: 0.001 });
  const types: string[] = [];
  const socket = await rawBot(second.url, ({ payload }) => void types.push(String(payload.event?.type)));
  await expect.poll(() => types.toSorted()).toEqual(['app_mention', 'message']);
  socket.close();
});

it('shows a page the whole workspace, then each change', async () => {
  const { url, web, child } = await start();
  await web.chat.postMessage({ channel, text: 'before' });
  const page = new WebSocket(`${url.replace('http', 'ws')}/page/ws`);
  const frames: PageFrame[] = [];
  page.on('message', (data) => void frames.push(parseFrame(data) as PageFrame));
  await expect.poll(() => frames.length).toBe(1);
  await web.chat.postMessage({ channel, text: 'after' });
  await expect.poll(() => frames.length).toBe(2);
  expect(frames[0]).toMatchObject({ type: 'snapshot', messages: { [channel]: [{ text: 'before' }] } });
  expect(frames[1]).toMatchObject({ type: 'message', message: { text: 'after' } });
  const foreign = new WebSocket(`${url.replace('http', 'ws')}/page/ws`, { origin: 'http://evil.example' });
  const [error] = (await once(foreign, 'error')) as [Error];
  expect(error.message).toContain('403');
  expect((await fetch(`${url}/archives/${channel}/p1`)).headers.get('content-type')).toContain('text/html');
  expect(await kill(child, 'SIGTERM')).toBe(0);
});

it('refuses a second server on the same folder, and says what to do', async () => {
  await start();
  const second = spawn(process.execPath, ['--import', 'tsx', MAIN, '--data', dir], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  second.stderr.on('data', (part) => {
    said += String(part);
  });
  const [code] = (await once(second, 'close')) as [number];
  expect(code).toBe(1);
  expect(said).toMatch(/already serves .*end that process/);
});

it('refuses a wrong option with exit code 2', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, '--port', 'many'], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(2);
});
