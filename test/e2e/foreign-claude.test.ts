import { afterAll, beforeAll, expect, it } from 'vitest';
import { SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import { ACTIONS } from '../../src/slack/views/blocks/slot.ts';
import { type ForeignClaude, naiveScript, startForeignClaude } from '../support/foreign-claude.ts';
import { textOf } from '../support/local-slack.ts';
import { type Product, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** The product with a model that knows nothing of it but what a request says. */
let claude: ForeignClaude;
let product: Product;

beforeAll(async () => {
  claude = await startForeignClaude(naiveScript());
  product = await startProduct({
    dataDir: scratchDir(),
    env: { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: claude.url },
    timeoutMs: 120_000,
  });
});

afterAll(async () => {
  await product?.stop();
  await claude?.close();
});

it('finds the blocking session and has it ended by what tool names, schemas and results tell', async () => {
  const slack = slackOf(product);
  expect(await slack.act('fault.cause', { userId: USERS.onCall, id: 'blocked_sessions' })).toMatchObject({
    ok: true,
  });
  const card = await slack.waitForMessage(
    (message) => JSON.stringify(message.blocks ?? []).includes(ACTIONS.approve),
    60_000,
  );
  const words = async () => (await slack.messages()).map(textOf).join('\n');
  expect(await words()).not.toContain('the playbook goes on');
  const pid = /root: pid (\d+) \([^)]*shop-backoffice/.exec(JSON.stringify(claude.requests))?.[1];
  expect(textOf(card)).toContain(`pid = ${pid}`);
  expect(await slack.asUser(USERS.onCall).press(card, { actionId: ACTIONS.approve })).toMatchObject({
    ok: true,
  });
  await waitFor(
    'the incident to be fixed',
    async () =>
      (await slack.messages()).some(
        (message) =>
          message.user === SENTRY_APP.botUserId && /Resolved · fixed, and checked/.test(textOf(message)),
      ),
    { timeoutMs: 90_000 },
  );
});
