import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookBody } from '../../playground/faults/alertmanager-payload.ts';
import { CHANNELS } from '../../playground/slack/seed.ts';
import type { LocalSlackClient } from '../support/local-slack.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import { type Product, sentry, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

describe('sentry.yaml beside a running Sentry', () => {
  const dataDir = scratchDir();
  const path = join(dataDir, 'sentry.yaml');
  let db: ScratchDatabase;
  let env: Record<string, string>;
  let product: Product;
  let slack: LocalSlackClient;
  const entry = (name: string) => `  - { name: ${name}, kind: postgres, read_url_env: ORDERS_URL }\n`;
  const run = (...args: string[]) => sentry({ dataDir, env }, args);

  beforeAll(async () => {
    db = await scratchDatabase();
    env = { SENTRY_CONFIG: path, ORDERS_URL: db.url };
    writeFileSync(path, `targets:\n${entry('orders')}`);
    product = await startProduct({ dataDir, env });
    slack = slackOf(product);
  });
  afterAll(async () => {
    await product?.stop();
    await db.drop();
  });

  /** The target of the incident that an alert about this instance opens. */
  async function targetOf(instance: string): Promise<string | null> {
    const alertname = `About ${instance}`;
    const answer = await fetch(`${product.httpUrl}/webhooks/alertmanager`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(
        webhookBody({
          labels: { alertname, instance, severity: 'warning' },
          annotations: { summary: alertname },
          startsAt: new Date().toISOString(),
          endsAt: null,
        }),
      ),
    });
    expect(answer.status).toBe(202);
    const { stdout } = await run('incidents', '--json');
    const lines = stdout.trim().split('\n');
    return lines.map((line) => JSON.parse(line)).find(({ alertName }) => alertName === alertname)?.target;
  }

  it('has no target for an alert, says so on its card with the line to add, and has it once it is added', async () => {
    expect(await targetOf('billing')).toBeNull();
    const said = await slack.waitForMessage(({ blocks }) =>
      JSON.stringify(blocks ?? []).includes('No target fits this alert'),
    );
    expect(JSON.stringify(said.blocks)).toContain('aliases: [billing]');
    const { code } = await run(
      'targets',
      'add',
      'bills',
      '--kind',
      'postgres',
      '--set',
      'read_url_env=ORDERS_URL',
      '--set',
      'aliases=[billing, pay]',
    );
    expect(code).toBe(0);
    await waitFor('it is in the audit log', async () =>
      (await run('audit', 'tail')).stdout.includes('"bills"'),
    );
    await waitFor('it is known', async () => (await targetOf('pay')) === 'bills');
  });

  it('keeps its targets when the file is broken, and tells the admins what to correct', async () => {
    writeFileSync(
      path,
      `targets:\n${entry('orders')}  - { name: more, kind: postgres, read_url_env: NOT_SET }\n`,
    );
    const said = await slack.waitForMessage(
      ({ channel, text }) => channel === CHANNELS.admin && text.includes('NOT_SET is not set'),
    );
    expect(said.text).toContain('sentry.yaml:3: target "more"');
    writeFileSync(path, `targets:\n${entry('orders')}${entry('third')}`);
    await slack.waitForMessage(
      ({ channel, text }) => channel === CHANNELS.admin && text.includes('good again'),
    );
    expect(await targetOf('third')).toBe('third');
  });
});
