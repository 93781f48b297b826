import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormInput } from '../../../playground/slack/page-api.ts';
import { USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { type IncidentThread, nextThread } from '../../e2e/incident-thread.ts';
import { openShopDb, type ShopDb } from '../../e2e/shop-db.ts';
import { type LocalSlackClient, textOf } from '../../support/local-slack.ts';
import { type Product, sentry, slackOf, startProduct } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const REASON = 'I am working in that session, do not end it';

/** As people live it, on the page alone: a No, another incident about the same, a restart, and the explicit word. In this order. */
describe('a No to ending a session', { timeout: 180_000 }, () => {
  const dataDir = scratchDir();
  const known: string[] = [];
  let product: Product;
  let slack: LocalSlackClient;
  let shop: ShopDb;
  let first: IncidentThread;
  let second: IncidentThread;
  let denied: Message;
  let pid: number;

  async function begin(): Promise<void> {
    product = await startProduct({ dataDir, timeoutMs: 120_000 });
    slack = slackOf(product);
    shop = openShopDb(dataDir);
  }
  async function next(): Promise<IncidentThread> {
    const thread = await nextThread(slack, known, 90_000);
    known.push(thread.rootTs);
    return thread;
  }
  const pidOf = (message: Message): number => Number(/pid = (\d+)/.exec(textOf(message))?.[1]);
  /** A message of a thread as it is now. */
  const now = async (message: Message): Promise<Message> =>
    (await slack.messages()).find(({ ts }) => ts === message.ts) ?? message;
  const until = (what: string, ask: () => Promise<unknown>) =>
    waitFor(what, async () => (await ask()) || undefined, { timeoutMs: 90_000 });

  beforeAll(begin, 180_000);
  afterAll(async () => {
    await shop?.close();
    await product?.stop();
  }, 60_000);

  it('asks how far it reaches, and another way is answered by a new message: there is none', async () => {
    expect(await slack.act('fault.cause', { userId: USERS.onCall, id: 'idle_in_transaction' })).toMatchObject(
      { ok: true },
    );
    first = await next();
    const card = await first.reply(/pg_terminate_backend/, 90_000);
    pid = pidOf(card);
    const pressable = await waitFor('a card to press', async () => {
      const message = await now(card);
      return JSON.stringify(message.blocks).includes(ACTIONS.deny) ? message : undefined;
    });
    await slack.asUser(USERS.onCall).press(pressable, { actionId: ACTIONS.deny });
    const view = await slack.waitForView(USERS.onCall);
    const asked = JSON.stringify(view);
    for (const words of [
      `session ${pid}`,
      'all sessions of',
      `Don’t end session ${pid}`,
      'In every incident',
      'Until the session is gone',
    ])
      expect(asked).toContain(words);
    const form: FormInput = {
      reason: { reason: { kind: 'text', value: REASON } },
      far: { far: { kind: 'option', value: 'object' } },
      way: { way: { kind: 'options', values: ['yes'] } },
    };
    expect(await slack.asUser(USERS.onCall).submit(view, form)).toMatchObject({ ok: true });
    const answer = await first.reply(/There is no other way/, 90_000);
    expect(textOf(answer)).toContain(REASON);
    expect(textOf(answer)).toMatch(/Next: /);
    // The last of the thread, where whoever asked looks.
    expect((await first.replies()).at(-1)?.ts).toBe(answer.ts);
    await until('the card to say so', async () => {
      denied = await now(card);
      return /Not done: [^]* said no/.test(textOf(denied));
    });
    await until('the root to say so', async () => /said no/.test(textOf(await first.root())));
    expect(textOf(await first.root())).not.toMatch(/What next\? \s*End session/);
    const all = (await Promise.all((await first.replies()).map(now))).map(textOf).join('\n');
    expect(all).not.toMatch(/did not help|was tried/);
  });

  it('stands on the card of an incident that somebody opens in a direct message, and the two are linked', async () => {
    const opened = await slack.act('dm.open', { userId: USERS.onCall2 });
    const channel = opened.ok ? (opened as { readonly channel?: string }).channel : undefined;
    expect(channel).toBeDefined();
    await slack
      .asUser(USERS.onCall2)
      .say(channel ?? '', 'Something is idle in transaction on shop-db, checkout is slow');
    second = await next();
    await until('the link', async () => textOf(await second.root()).includes(first.id));
    await until('the link back', async () => textOf(await first.root()).includes(second.id));
    const card = await second.reply(/said no/, 120_000);
    expect(pidOf(card)).toBe(pid);
    expect(textOf(card)).toContain(REASON);
    const blocks = JSON.stringify(card.blocks);
    expect(blocks).toMatch(/Approve although [^"]*said no/);
    expect(blocks).not.toContain('"text":"End the session"');
    expect(await shop.hasSession(pid)).toBe(true);
  });

  it('is told by the record, at a terminal as well', async () => {
    const why = await sentry({ dataDir }, ['why', second.id]);
    expect(why.stdout).toContain('had said no');
    // It was said in another incident: the terminal says whom to ask, the thread that may read it says why.
    expect(why.stdout).not.toContain(REASON);
    const record = JSON.parse((await sentry({ dataDir }, ['incident', first.id, '--json'])).stdout) as {
      readonly denials: readonly { readonly reason: string; readonly kind: string }[];
    };
    expect(record.denials).toMatchObject([{ kind: 'session', reason: REASON }]);
  });

  it('survives kill -9, refuses a stranger, and yields to the explicit word only', async () => {
    await shop.close();
    await product.kill();
    await begin();
    const card = await waitFor('the card after the restart', async () =>
      (await second.replies()).find((message) => /Approve although/.test(JSON.stringify(message.blocks))),
    );
    await slack.asUser(USERS.stranger).press(card, { actionId: ACTIONS.approve });
    await slack.waitForEphemeral(USERS.stranger);
    expect(await shop.hasSession(pid)).toBe(true);
    await slack.asUser(USERS.onCall2).press(card, { actionId: ACTIONS.approve });
    await until('the session to be ended', async () => !(await shop.hasSession(pid)));
  });
});
