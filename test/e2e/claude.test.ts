import { WebSocket } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockedSessions } from '../../playground/claude/blocked-sessions.ts';
import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../playground/claude/scripted-claude.ts';
import type { PageDelta } from '../../playground/slack/page-api.ts';
import { SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import type { Message } from '../../playground/slack/slack-shapes.ts';
import { priceOf } from '../../src/llm/pricing.ts';
import type { CostReport } from '../../src/record/cost.ts';
import { ACTIONS } from '../../src/slack/views/blocks/slot.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { type Product, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** The whole product on a real shop-db with a real fault; only the model is scripted. */
const FAULT = 'blocked_sessions';

let dataDir: string;
let claude: ScriptedClaude;
let product: Product;
let slack: LocalSlackClient;
let page: WebSocket;
/** Every state of every message, in the order in which a person watching saw them. */
const shown: Message[] = [];
const roots = new Set<string>();

beforeAll(async () => {
  dataDir = scratchDir();
  claude = await createScriptedClaude({ scenario: blockedSessions });
  await start();
}, 150_000);

async function start(): Promise<void> {
  page?.close();
  product = await startProduct({
    dataDir,
    env: { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: claude.url },
    timeoutMs: 120_000,
  });
  slack = slackOf(product);
  page = new WebSocket(`${slack.url.replace('http', 'ws')}/page/ws`);
  page.addEventListener('message', ({ data }) => {
    const delta = JSON.parse(String(data)) as PageDelta;
    if (delta.type === 'message') shown.push(delta.message);
  });
}

afterAll(async () => {
  page?.close();
  await product?.stop();
  await claude?.close();
}, 60_000);

/** Causes the fault; the root message of the incident that it becomes. */
async function cause(): Promise<Message> {
  await waitFor(
    'the last fault to be over',
    async () => {
      const { faults } = (await slack.snapshot()).faults;
      return faults.some((fault) => fault.id === FAULT && fault.state === 'idle');
    },
    { timeoutMs: 60_000 },
  );
  expect(await slack.act('fault.cause', { userId: USERS.onCall, id: FAULT })).toMatchObject({ ok: true });
  const root = await slack.waitForMessage(
    // A root that has replies already says that it is its own thread's.
    (message) =>
      message.user === SENTRY_APP.botUserId &&
      (message.thread_ts ?? message.ts) === message.ts &&
      !roots.has(message.ts) &&
      /INC-\d+/.test(textOf(message)),
    60_000,
  );
  roots.add(root.ts);
  return root;
}

const thread = async (root: Message): Promise<Message[]> =>
  (await slack.messages()).filter((message) => message.thread_ts === root.ts);

async function inThread(root: Message, pattern: RegExp, timeoutMs = 60_000): Promise<Message> {
  let seen: string[] = [];
  return waitFor(
    `${pattern} in the thread`,
    async () => {
      const messages = await thread(root);
      seen = messages.map(textOf);
      return messages.find((message) => pattern.test(textOf(message)));
    },
    { timeoutMs, seen: () => seen },
  );
}

/** Presses *Approve* on the incident's card and waits until it is verified; the card as it was, and the root at the end. */
async function approve(root: Message): Promise<{ readonly card: Message; readonly ended: Message }> {
  const card = await inThread(root, /pg_terminate_backend/);
  const pressable = await waitFor('a card to press', async () =>
    (await thread(root)).find((message) => JSON.stringify(message.blocks).includes(ACTIONS.approve)),
  );
  expect(await slack.asUser(USERS.onCall).press(pressable, { actionId: ACTIONS.approve })).toMatchObject({
    ok: true,
  });
  const ended = await waitFor(
    'the incident to be fixed',
    async () => {
      const now = (await slack.messages()).find((message) => message.ts === root.ts);
      return now !== undefined && /Resolved · fixed, and checked/.test(textOf(now)) ? now : null;
    },
    { timeoutMs: 90_000 },
  );
  return { card, ended };
}

/** The blocker as the live system showed it to the model: never as this test knows it. */
function rootBlocker(): { readonly pid: string; readonly session: string } {
  const results = claude.requests.flatMap((request) => toolResultTexts(request.body)).reverse();
  const found = results
    .map((text) => /root: pid (\d+) \(([^)]*)\)/.exec(text))
    .find((match) => match !== null);
  return { pid: found?.[1] ?? '', session: found?.[2] ?? '' };
}

/** What the server says it charged for, by the price list, US dollars. */
function charged(): number {
  return [...claude.requests, ...claude.doubts].reduce((sum, { usage, body }) => {
    const price = priceOf(body.model);
    if (usage === undefined || price === undefined) return sum;
    const tokens = (name: string) => Number(usage[name] ?? 0);
    return (
      sum +
      (tokens('input_tokens') * price.input +
        tokens('cache_creation_input_tokens') * price.cacheWrite5m +
        tokens('cache_read_input_tokens') * price.cacheRead +
        tokens('output_tokens') * price.output) /
        1e6
    );
  }, 0);
}

describe('Claude investigates a real incident', () => {
  const FIRST_HALF = `${Array.from({ length: 36 }, (_, line) => `Line ${line + 1} of what I see here. `).join('')}HALFWAY`;
  const SECOND_HALF = ' AFTERWARDS and this is the rest of the sentence.';

  /** The demonstration, with a long text before its conclusion that is held half-way. */
  const slowly = (request: MessagesRequest): ScriptedReply => {
    const reply = blockedSessions(request);
    const concludes = (reply.blocks ?? []).some(
      (block) => 'tool' in block && block.tool === 'report_diagnosis',
    );
    if (!concludes) return reply;
    const rest = (reply.blocks ?? []).filter((block) => 'tool' in block);
    return {
      ...reply,
      blocks: [{ text: FIRST_HALF + SECOND_HALF }, ...rest],
      deltaChars: 24,
      eventDelayMs: 75,
      holdBefore: ' AFTER',
    };
  };

  it('shows its words while it speaks, proposes exactly the blocker, and the fix holds', async () => {
    claude.play(slowly);
    const root = await cause();
    await claude.held();
    const live = await inThread(root, /HALFWAY/, 5_000);
    expect(textOf(live)).not.toContain('AFTERWARDS');
    const grown = shown
      .filter((message) => message.ts === live.ts)
      .map((message) => (textOf(message).match(/Line \d+ of/g) ?? []).length)
      .filter((lines, index, all) => lines > (all[index - 1] ?? 0));
    process.stdout.write(`  the live message showed so many lines, edit by edit: ${grown.join(', ')}\n`);
    expect(grown.length).toBeGreaterThanOrEqual(3);
    claude.release();

    const { pid, session } = rootBlocker();
    expect(session).toContain('shop-backoffice');
    const { card, ended } = await approve(root);
    expect(textOf(card)).toContain(`pid = ${pid}`);
    expect(textOf(await inThread(root, /Cause found/))).toContain(pid);
    expect((await thread(root)).map(textOf).join('\n')).not.toContain('the playbook goes on');
    expect((await thread(root)).map(textOf).join('\n')).not.toContain('HALFWAY');
    expect(claude.requests.filter((request) => request.problem !== undefined)).toEqual([]);

    expect(charged()).toBeGreaterThan(0.01);
    expect(textOf(ended)).toContain(`$${charged().toFixed(2)}`);
    expect(textOf(ended)).toContain('claude-opus-5-5');
    const id = /INC-\d+/.exec(textOf(root))?.[0] ?? '';
    const { stdout } = await sentry({ dataDir }, ['incident', id, '--json']);
    const record = JSON.parse(stdout) as { incident: { costUsd: number }; events: { type: string }[] };
    expect(record.incident.costUsd).toBeCloseTo(charged(), 6);
    const report = JSON.parse((await sentry({ dataDir }, ['cost', id, '--json'])).stdout) as CostReport;
    expect(report.incident?.usd).toBeCloseTo(charged(), 6);
    expect(report.today.usd).toBeCloseTo(charged(), 6);
    const metrics = await (await fetch(`${product.httpUrl}/metrics`)).text();
    const counted = [...metrics.matchAll(/^sentry_model_cost_usd_total\{.*\} (\S+)$/gm)];
    expect(counted.reduce((sum, [, usd]) => sum + Number(usd), 0)).toBeCloseTo(charged(), 6);
    expect(record.events.find((event) => event.type === 'investigator.chosen')).toMatchObject({
      model: 'claude-opus-5-5',
      prompts: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  }, 180_000);
});

describe('a restart of the bot while the model speaks', () => {
  it('pays for no finished message again, and the incident goes on to its end', async () => {
    claude.play((request) => {
      const reply = blockedSessions(request);
      const concludes = (reply.blocks ?? []).some(
        (block) => 'tool' in block && block.tool === 'report_diagnosis',
      );
      return concludes ? { ...reply, holdBefore: 'Nothing else' } : reply;
    });
    const from = claude.requests.length;
    const bodies = () => claude.requests.slice(from).map((request) => JSON.stringify(request.body));
    const root = await cause();
    await claude.held();
    const before = bodies();
    await product.kill();
    claude.play(blockedSessions);
    claude.release();
    await start();
    const { ended } = await approve(root);
    const words = (await thread(root)).map(textOf).join('\n');
    expect(words).not.toContain('the playbook goes on');
    expect(textOf(ended)).toContain('fixed');
    // Once more the message that was cut off, to the byte, then the surgeon's.
    expect(bodies().slice(0, before.length)).toEqual(before);
    expect(bodies()[before.length]).toBe(before.at(-1));
    expect(bodies()).toHaveLength(before.length + 2);
  }, 240_000);
});

// Refusals, reports that stay invalid and the like: test/integration/agents/claude.
describe('when the model fails, the playbook takes over and says why', () => {
  const spoilt =
    (fault: ScriptedReply['fault']) =>
    (request: MessagesRequest): ScriptedReply => ({
      ...blockedSessions(request),
      ...(fault === undefined ? {} : { fault }),
    });
  /** The demonstration, with something else for its diagnosis. */
  const diagnosing =
    (reply: ScriptedReply) =>
    (request: MessagesRequest): ScriptedReply => {
      const scripted = blockedSessions(request);
      const reads = (request.tools ?? []).some((tool) => tool.name === 'report_diagnosis');
      return reads && toolResultTexts(request).length > 0 ? reply : scripted;
    };

  it.each<[string, (request: MessagesRequest) => ScriptedReply, RegExp]>([
    ['it answers 529 every time', spoilt({ kind: 'http', status: 529 }), /the model is overloaded/],
    ['it drops in the middle', spoilt({ kind: 'cut', afterBytes: 900 }), /broke off in the middle/],
    [
      'its tool input is nonsense',
      () => ({ blocks: [{ tool: 'postgres_blocking_tree', input: { target: 42, banana: ['yes'] } }] }),
      /made no progress/,
    ],
    [
      'it finds the cause and then proposes nothing',
      (request: MessagesRequest): ScriptedReply =>
        (request.tools ?? []).some((tool) => tool.name === 'report_no_action')
          ? { blocks: [{ text: 'Somebody should end that session.' }] }
          : blockedSessions(request),
      /stopped without a conclusion/,
    ],
    [
      'it makes its evidence up',
      diagnosing({
        blocks: [
          {
            tool: 'report_diagnosis',
            input: {
              verdict: 'cause_found',
              rootCause: 'Pid 1 is to blame.',
              confidence: 0.99,
              evidence: [
                { claim: 'Pid 1 blocks all.', toolCallIds: ['tc_neverhappened'], quote: 'pid 1 blocks' },
              ],
            },
          },
        ],
      }),
      /nothing it read carries what it said/,
    ],
  ])(
    'because %s',
    async (_, scenario, words) => {
      claude.play(scenario);
      const root = await cause();
      const said = textOf(await inThread(root, /The model failed, the playbook goes on/));
      expect(said).toMatch(words);
      expect(said).not.toMatch(/[{}]|Error|undefined/);
      const { card } = await approve(root);
      expect(textOf(card)).toMatch(/pid = \d+/);
    },
    180_000,
  );
});
