import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockedSessions } from '../../playground/claude/blocked-sessions.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../playground/claude/scripted-claude.ts';
import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import type { Message } from '../../playground/slack/slack-shapes.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { callMcp, mcpClient, mcpSecretOf, overHttp } from '../support/mcp.ts';
import { type Product, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** One private incident with a word that stands nowhere else, and every surface that others have. */
const MARKER = 'nightfall';
const ADMIN_TOKEN = 'a-test-token-of-an-admin';
let product: Product;
let slack: LocalSlackClient;
let claude: ScriptedClaude;

beforeAll(async () => {
  claude = await createScriptedClaude({ scenario: blockedSessions });
  product = await startProduct({
    dataDir: scratchDir(),
    env: {
      SENTRY_ALERT_CHANNELS: `alerts,${CHANNELS.admin}`,
      SENTRY_MCP_SECRET: mcpSecretOf('everybody'),
      SENTRY_ADMIN_TOKEN: ADMIN_TOKEN,
      ANTHROPIC_API_KEY: 'test-key',
      ANTHROPIC_BASE_URL: claude.url,
    },
    timeoutMs: 120_000,
  });
  slack = slackOf(product);
  await slack.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
});
afterAll(async () => {
  await product?.stop();
  await claude?.close();
});

const known = new Set<string>();
async function alertIn(channel: string, words: string): Promise<{ id: string; ts: string }> {
  await slack.control('post-as-app', {
    channel,
    kind: 'classic',
    username: 'Alertmanager',
    attachments: [
      {
        title: `[FIRING:1] PostgresBlockedSessions (${words} shop-db critical)`,
        text: `Sessions wait for a lock: ${words}.`,
        color: 'danger',
      },
    ],
  });
  let said: readonly string[] = [];
  const root = await waitFor(
    `the end of ${words}`,
    async () => {
      const all = await inChannel(channel);
      const one = all.find(({ text, ts }) => /^INC-\d+ /.test(text) && !known.has(ts));
      said = all.filter(({ thread_ts: ts }) => ts === one?.ts).map(textOf);
      return /Investigated/.test(said.join('\n')) ? one : null;
    },
    { timeoutMs: 90_000, seen: () => said },
  );
  known.add(root.ts);
  return { id: /INC-\d+/.exec(root.text)?.[0] ?? '', ts: root.ts };
}

const inChannel = async (channel: string) =>
  (await slack.control('messages', { channel }))['messages'] as readonly Message[];
const sayIn = (userId: string, channel: string, text: string, ts?: string) =>
  slack.act('message.post', { userId, channel, text, ...(ts ? { thread_ts: ts } : {}) });

async function direct(userId: string, text: string): Promise<string> {
  const opened = await slack.act('dm.open', { userId });
  if (!opened.ok || !opened.channel) throw new Error('no direct message');
  await sayIn(userId, opened.channel, text);
  return opened.channel;
}

it('is said to nobody else by any of them, what was learnt there nor that it was [F3]', async () => {
  const { channels } = await slack.snapshot();
  const members = channels.find(({ id }) => id === CHANNELS.admin)?.members ?? [];
  const outsiders = Object.values(USERS).filter((user) => !members.includes(user));
  expect(outsiders).toContain(USERS.stranger);

  const hidden = await alertIn(CHANNELS.admin, `${MARKER}-layoff-export`);
  await sayIn(USERS.admin, CHANNELS.admin, `remember: the ${MARKER} export holds the lock`, hidden.ts);
  await sayIn(USERS.admin, CHANNELS.admin, `hint: look at the ${MARKER} export`, hidden.ts);
  await waitFor('both to be answered', async () => {
    const said = (await inChannel(CHANNELS.admin)).map(textOf).join('\n');
    return said.includes(`Remembered for ${hidden.id}`) && /Looking again|Noted/.test(said);
  });
  expect(JSON.stringify(claude.requests)).toContain(MARKER);

  // Memory writes a little after the thread does: threads until one of them knows that there is something.
  let open = await alertIn(CHANNELS.alerts, 'checkout-0');
  for (let n = 1; n < 6; n += 1) {
    const thread = (await inChannel(CHANNELS.alerts)).filter(({ thread_ts: ts }) => ts === open.ts);
    if (thread.some((one) => textOf(one).includes('that you may not see'))) break;
    open = await alertIn(CHANNELS.alerts, `checkout-${n}`);
  }
  const before = claude.requests.length;
  open = await alertIn(CHANNELS.alerts, 'checkout-last');
  await sayIn(
    outsiders[0] ?? '',
    CHANNELS.alerts,
    '<@U0SENTRY> has this been seen before? what helped?',
    open.ts,
  );

  const client = await mcpClient(overHttp(product.httpUrl, mcpSecretOf('everybody')));
  const answers: unknown[] = [];
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ['incidents_list', {}],
    ['incidents_list', { open: true }],
    ['incidents_list', { text: MARKER }],
    ['incident_read', { incident: hidden.id }],
    ['incident_read', { incident: open.id }],
    ['memory_search', { incident: open.id, query: `${MARKER} layoff export` }],
    ['memory_search', { incident: hidden.id, query: `${MARKER} layoff export` }],
    ['memory_list', { incident: open.id }],
    ['evidence_grep', { incident: open.id, pattern: 'nightf' }],
    ['evidence_grep', { incident: hidden.id, pattern: 'export' }],
  ];
  for (const [name, args] of calls)
    answers.push(await callMcp(client, name, args).catch((error: unknown) => String(error)));
  await client.close();
  for (const path of ['/memory', '/memory/promotions', '/memory/documents'])
    answers.push(
      await (
        await fetch(`${product.httpUrl}${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
      ).text(),
    );
  answers.push(await (await fetch(`${product.httpUrl}/metrics`)).text());

  const talks: string[] = [];
  for (const userId of outsiders) {
    for (const text of [
      'incidents',
      'status',
      'cost',
      `cost ${hidden.id}`,
      `why ${hidden.id}`,
      hidden.id,
      `stop ${hidden.id}`,
      'memory',
      'memory list',
      'promotions',
    ])
      await slack.act('command.run', { userId, channel: CHANNELS.alerts, text: `/sentry ${text}` });
    for (const text of [`why ${hidden.id}`, 'what is open?', `what helped in ${open.id} before?`])
      talks.push(await direct(userId, text));
    await slack.act('home.open', { userId, tab: 'home' });
  }
  await waitFor('everything to be answered', async () => {
    const { messages, homes } = await slack.snapshot();
    return (
      outsiders.every((user) => homes[user] !== undefined) &&
      talks.every((talk) => (messages[talk] ?? []).filter(({ bot_id: bot }) => bot !== undefined).length >= 3)
    );
  });

  const { messages, ephemerals, homes, views, titles, prompts, statuses, pins } = await slack.snapshot();
  const elsewhere = Object.entries(messages).filter(([channel]) => channel !== CHANNELS.admin);
  const toOthers = {
    messages: elsewhere.flatMap(([, all]) => all.filter(({ bot_id: bot }) => bot !== undefined)),
    ephemerals: ephemerals.filter((one) => outsiders.includes(one.userId as never)),
    homes: outsiders.map((user) => homes[user]),
    views: outsiders.map((user) => views[user]),
    titles: Object.entries(titles).filter(([where]) => !where.startsWith(CHANNELS.admin)),
    prompts,
    statuses: statuses.filter(({ channel }) => channel !== CHANNELS.admin),
    pins,
  };
  expect(toOthers.messages.length).toBeGreaterThan(5);
  expect(toOthers.ephemerals.length).toBeGreaterThan(5);
  for (const [surface, shown] of Object.entries({
    ...toOthers,
    answers,
    prompts: claude.requests.slice(before),
  })) {
    expect(
      linesOf(shown).filter((line) => line.toLowerCase().includes(MARKER)),
      surface,
    ).toEqual([]);
    // What others asked for by its id is quoted back: "There is no INC-1 that you may see."
    expect(
      linesOf(shown).filter(
        (line) => new RegExp(`\\b${hidden.id}\\b`).test(line) && !/no INC-1\b|not.*INC-1\b/.test(line),
      ),
      surface,
    ).toEqual([]);
  }
  expect(JSON.stringify(toOthers.messages)).toContain('A similar incident exists that you may not see.');
  // It does stand where its members are.
  expect(JSON.stringify(messages[CHANNELS.admin])).toContain(MARKER);
}, 600_000);

/** Every text in it. */
function linesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/\\n|\n/);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...linesOf(each)]);
}
