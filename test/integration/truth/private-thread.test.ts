import { AssertionError } from 'node:assert';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHANNELS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import { type LocalSlackClient, textOf } from '../../support/local-slack.ts';
import { type Product, slackOf, startProduct } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The product as it is started, with a private alert channel beside the public one. */
let product: Product;
let slack: LocalSlackClient;
beforeAll(async () => {
  product = await startProduct({
    dataDir: scratchDir(),
    env: { SENTRY_ALERT_CHANNELS: `alerts,${CHANNELS.admin}` },
    timeoutMs: 120_000,
  });
  slack = slackOf(product);
  await slack.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
}, 180_000);
afterAll(() => product?.stop());

const known = new Set<string>();
const isRoot = ({ text, ts }: Message): boolean => /^INC-\d+ /.test(text) && !known.has(ts);

/** The thread of an alert, once its investigation has ended. */
async function investigated(
  channel: string,
  alert: string,
): Promise<{ readonly id: string; readonly said: string }> {
  await slack.control('post-as-app', {
    channel,
    kind: 'classic',
    username: 'Alertmanager',
    attachments: [
      {
        title: `[FIRING:1] PostgresBlockedSessions (${alert} shop-db critical)`,
        text: 'Sessions wait for a lock.',
        color: 'danger',
      },
    ],
  });
  let said = '';
  let texts: readonly string[] = [];
  let id = '';
  await waitFor(
    `the thread of ${alert}`,
    async () => {
      const all = (await slack.control('messages', { channel }))['messages'] as readonly Message[];
      texts = all.map((one) => one.text);
      const root = all.find(isRoot);
      const thread = all.filter((message) => root !== undefined && message.thread_ts === root.ts);
      said = thread.map(textOf).join('\n');
      id = /INC-\d+/.exec(root?.text ?? '')?.[0] ?? '';
      if (!root || !/Investigated/.test(said)) return false;
      known.add(root.ts);
      return true;
    },
    { timeoutMs: 90_000, seen: () => [said, texts] },
  );
  return { id, said };
}

/** Threads of one alert after the other, until one of them says it: an incident is remembered shortly after its thread has it. */
async function untilSaid(channel: string, alert: string, words: string) {
  for (let n = 1; ; n += 1) {
    const thread = await investigated(channel, `${alert}${n}`);
    threads.push(thread);
    if (thread.said.includes(words)) return thread;
    if (n === 6)
      throw new AssertionError({ message: `never said in ${channel}: ${words}; last: ${thread.said}` });
  }
}
const threads: { readonly id: string; readonly said: string }[] = [];

test('what was learnt in a private channel is not told in a public thread, and is in its own [F3]', async () => {
  const hidden = await investigated(CHANNELS.admin, 'nightfall-layoff-export');
  const open = await untilSaid(
    CHANNELS.alerts,
    'checkout',
    'A similar incident exists that you may not see.',
  );
  for (const { said } of threads) {
    expect(said).not.toMatch(new RegExp(`\\b${hidden.id}\\b`));
    expect(said).not.toMatch(/nightfall/i);
  }
  const own = await untilSaid(CHANNELS.admin, 'payroll', 'Seen before');
  expect(own.said).not.toContain('that you may not see');
  expect(Number(own.id.slice(4))).toBeGreaterThan(Number(open.id.slice(4)));
}, 900_000);
