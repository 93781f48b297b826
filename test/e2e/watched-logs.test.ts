import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { type Product, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

describe('a log that is watched', { timeout: 240_000 }, () => {
  const dataDir = scratchDir();
  const log = join(dataDir, 'app.log');
  const config = join(dataDir, 'sentry.yaml');
  const env = { SENTRY_CONFIG: config };
  let product: Product;
  let slack: LocalSlackClient;
  const run = (...args: string[]) => sentry({ dataDir, env }, args);
  const listed = async () =>
    JSON.parse((await run('watch', '--json')).stdout)[0] as {
      readonly state: string;
      readonly matched: number;
    };
  const incidents = async () => (await run('incidents', '--json')).stdout.trim().split('\n').filter(Boolean);

  async function ask(userId: string, text: string, says: string): Promise<void> {
    await slack.act('command.run', { userId, channel: CHANNELS.alerts, text });
    await slack.waitForEphemeral(userId, (message) => textOf(message).includes(says));
  }

  beforeAll(async () => {
    writeFileSync(log, 'ERROR from before\n');
    const watch = `watch: [{ file: ${log}, patterns: [{ match: ERROR, name: ShopErrors }] }]`;
    writeFileSync(config, `targets:\n  - { name: shop, kind: host, roots: [${dataDir}], ${watch} }\n`);
    product = await startProduct({ dataDir, env });
    slack = slackOf(product);
    await waitFor('it is watched', async () => (await listed()).state === 'watched');
  });
  afterAll(() => product?.stop());

  it('opens an incident, is shown with its rates, stopped and started, in Slack and at a terminal', async () => {
    appendFileSync(log, 'ERROR order 17 failed\n');
    await slack.waitForMessage(({ text }) => text.includes('ShopErrors in app.log: ERROR order 17 failed'));
    expect((await run('watch')).stdout).toMatch(
      /app\.log of shop: .* lines\/s, .* matches\/s; so far 1 line, 1 that match/,
    );
    await ask(USERS.onCall, '/sentry watch', 'app.log of shop:');
    await ask(USERS.onCall, '/sentry watch stop shop', 'Only admins stop the watch of logs.');
    await ask(USERS.admin, '/sentry watch stop shpo', 'Did you mean shop?');
    await ask(USERS.admin, '/sentry watch stop shop', 'opens incidents until somebody starts it again');
    await waitFor('it is stopped', async () => (await run('watch')).stdout.includes('stopped by'));
    appendFileSync(log, 'ERROR while it is stopped\n');
    expect((await run('watch', 'start', 'shop', '/nowhere')).code).toBe(3);
    expect((await run('watch', 'start', 'shop', log)).stdout).toContain('watched again');
    await waitFor('it is told', async () => (await incidents()).length === 2);
    const audit = (await run('audit', 'tail')).stdout;
    expect([audit.includes('watch.stopped'), audit.includes('watch.started')]).toEqual([true, true]);
  });

  it('goes on after a kill -9 exactly where it was, through a rotation meanwhile', async () => {
    await product.kill();
    appendFileSync(log, 'ERROR while nobody watches\n');
    renameSync(log, `${log}.1`);
    writeFileSync(log, 'ERROR in the new file\n');
    product = await startProduct({ dataDir, env });
    await waitFor('all is told', async () => (await listed()).matched === 4);
    expect(await incidents()).toHaveLength(4);
  });
});
