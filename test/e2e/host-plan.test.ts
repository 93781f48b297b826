import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../playground/slack/seed.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { type Product, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { GREEN, type IncidentThread, nextThread, stripOf } from './incident-thread.ts';
import { openShopDb, type ShopDb } from './shop-db.ts';

// One fault that no single act ends: its file has to be put back *and* its service started. The tests are the stages of it.
describe('a bad configuration on a host', () => {
  const dataDir = scratchDir();
  const file = join(dataDir, 'faults', 'data', 'shop-host', 'app', 'worker.conf');
  let product: Product;
  let slack: LocalSlackClient;
  let shop: ShopDb;
  let thread: IncidentThread;

  beforeAll(async () => {
    product = await startProduct({ dataDir });
    slack = slackOf(product);
    shop = openShopDb(dataDir);
  });

  afterAll(async () => {
    await shop?.close();
    await product?.stop();
  });

  it('is asked for as one plan of two steps, on one card', async () => {
    await shop.fault('bad_configuration', 'cause');
    thread = await nextThread(slack, [], 60_000);
    const { message } = await thread.card(120_000);
    const shown = textOf(message);
    expect(shown).toContain('1. Change file worker.conf');
    expect(shown).toContain('2. Restart service shop-worker');
    expect(shown).toMatch(/Undo:\s+takes back /);
    expect(shown).toContain('Stop shop-worker again');
    expect((await thread.replies()).filter((each) => textOf(each).includes(' asks: '))).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toContain('workers=plenty');
  });

  it('runs both after one Approve, in order, and is fixed by nothing else', async () => {
    const { message } = await thread.card();
    await slack.asUser(USERS.onCall).press(message, { actionId: 'sentry_approve' });
    const result = textOf(await thread.reply(/: ✓ (Put back|Changed) file/, 60_000));
    expect(result).toMatch(/✓ \w+ file worker\.conf, then \w+ service shop-worker on shop-host/);
    const root = await thread.resolved(120_000);
    expect(stripOf(root)).toBe(GREEN);
    expect(readFileSync(file, 'utf8')).toContain('workers=4');
    const replies = (await thread.replies()).map(textOf);
    expect(replies.filter((text) => text.includes('Investigated'))).toHaveLength(1);
    expect(replies.join('\n')).not.toContain('✗');
    expect(replies.at(-1)).toMatch(/🟢 Fixed ·[^]*file worker\.conf, then \w+ service shop-worker/);
  });

  it('is told step by step by why', async () => {
    const { stdout } = await sentry({ dataDir }, ['why', thread.id]);
    expect(stdout).toMatch(/Plan.* 2 steps: Change file worker.conf, then restart service shop-worker/);
    expect(stdout).toMatch(/✓ step 1, ran: .?patch/);
    expect(stdout).toMatch(/✓ step 2, ran: .?restart service shop-worker/);
  });
});
