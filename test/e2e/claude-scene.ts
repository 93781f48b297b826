import { WebSocket } from 'undici';
import { expect } from 'vitest';
import { blockedSessions } from '../../playground/claude/blocked-sessions.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../playground/claude/scripted-claude.ts';
import type { PageDelta } from '../../playground/slack/page-api.ts';
import { SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import type { Message } from '../../playground/slack/slack-shapes.ts';
import { ACTIONS } from '../../src/slack/views/blocks/slot.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { type Product, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const FAULT = 'blocked_sessions';

/** The whole product on a real shop-db with a real fault; only the model is scripted. */
export class ClaudeScene {
  readonly dataDir = scratchDir();
  /** Every state of every message, in the order in which a person watching saw them. */
  readonly shown: Message[] = [];
  claude!: ScriptedClaude;
  product!: Product;
  private slack!: LocalSlackClient;
  private page: WebSocket | undefined;
  private readonly roots = new Set<string>();

  async begin(): Promise<void> {
    this.claude = await createScriptedClaude({ scenario: blockedSessions });
    await this.start();
  }

  /** Again after the product was killed. */
  async start(): Promise<void> {
    this.page?.close();
    this.product = await startProduct({
      dataDir: this.dataDir,
      env: { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: this.claude.url },
      timeoutMs: 120_000,
    });
    this.slack = slackOf(this.product);
    this.page = new WebSocket(`${this.slack.url.replace('http', 'ws')}/page/ws`);
    this.page.addEventListener('message', ({ data }) => {
      const delta = JSON.parse(String(data)) as PageDelta;
      if (delta.type === 'message') this.shown.push(delta.message);
    });
  }

  async end(): Promise<void> {
    this.page?.close();
    await this.product?.stop();
    await this.claude?.close();
  }

  /** Causes the fault; the root message of the incident that it becomes. */
  async cause(): Promise<Message> {
    await waitFor(
      'the last fault to be over',
      async () => {
        const { faults } = (await this.slack.snapshot()).faults;
        return faults.some((fault) => fault.id === FAULT && fault.state === 'idle');
      },
      { timeoutMs: 60_000 },
    );
    expect(await this.slack.act('fault.cause', { userId: USERS.onCall, id: FAULT })).toMatchObject({
      ok: true,
    });
    const root = await this.slack.waitForMessage(
      // A root that has replies already says that it is its own thread's.
      (message) =>
        message.user === SENTRY_APP.botUserId &&
        (message.thread_ts ?? message.ts) === message.ts &&
        !this.roots.has(message.ts) &&
        /INC-\d+/.test(textOf(message)),
      60_000,
    );
    this.roots.add(root.ts);
    return root;
  }

  async thread(root: Message): Promise<Message[]> {
    return (await this.slack.messages()).filter((message) => message.thread_ts === root.ts);
  }

  async inThread(root: Message, pattern: RegExp, timeoutMs = 60_000): Promise<Message> {
    let seen: string[] = [];
    return waitFor(
      `${pattern} in the thread`,
      async () => {
        const messages = await this.thread(root);
        seen = messages.map(textOf);
        return messages.find((message) => pattern.test(textOf(message)));
      },
      { timeoutMs, seen: () => seen },
    );
  }

  /** Presses *Approve* on the incident's card and waits until it is verified; the card as it was, and the root at the end. */
  async approve(root: Message): Promise<{ readonly card: Message; readonly ended: Message }> {
    const card = await this.inThread(root, /pg_terminate_backend/);
    const pressable = await waitFor('a card to press', async () =>
      (await this.thread(root)).find((message) => JSON.stringify(message.blocks).includes(ACTIONS.approve)),
    );
    expect(
      await this.slack.asUser(USERS.onCall).press(pressable, { actionId: ACTIONS.approve }),
    ).toMatchObject({
      ok: true,
    });
    const ended = await waitFor(
      'the incident to be fixed',
      async () => {
        const now = (await this.slack.messages()).find((message) => message.ts === root.ts);
        return now !== undefined && /Resolved · fixed, and checked/.test(textOf(now)) ? now : null;
      },
      { timeoutMs: 90_000 },
    );
    return { card, ended };
  }
}
