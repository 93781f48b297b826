import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createLocalSlack, type LocalSlack } from '../../playground/slack/local-slack.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import { LocalSlackClient, textOf } from '../support/local-slack.ts';
import { patience } from '../support/patience.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import { type Product, productEnv, repository, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
/** The part *Connect it*, as somebody reads it who has nothing else. */
const readme = /^## Connect it\n([\s\S]*?)^## /m.exec(read('README.md'))?.[1] ?? '';
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'm').exec(readme)?.[1] ?? '';

/** The lines of step 4 that everybody needs. */
const lines = block('sh')
  .split('\n')
  .filter((line) => line !== '' && !/# (only where|optional)/.test(line))
  .map((line) => line.replace(/\s+#.*$/, ''));
const commands = lines.filter((line) => !line.startsWith('export '));
const asked = lines
  .filter((line) => line.startsWith('export '))
  .flatMap((line) => [...line.matchAll(/([A-Z_]+)=(\S*)/g)])
  .map(([, name = '', shown = '']) => ({ name, shown: shown.replace('…', '') }));

/** From a clone to a closed test incident, by README.md and what Sentry says in Slack. */
describe('a new user connects Slack', () => {
  let slack: LocalSlack;
  let client: LocalSlackClient;
  let database: ScratchDatabase;
  let product: Product;
  let env: Readonly<Record<string, string>>;
  const dataDir = scratchDir();
  const amara = () => client.asUser(USERS.admin);

  beforeAll(async () => {
    database = await scratchDatabase();
    slack = await createLocalSlack({
      rateLimits: { enabled: false },
      timing: { ackMs: 3_000 * patience, triggerMs: 3_000 * patience },
    });
    client = new LocalSlackClient(slack.url);
    writeFileSync(join(dataDir, 'sentry.yaml'), block('yaml'));
    const mine: Readonly<Record<string, string>> = {
      SLACK_BOT_TOKEN: SENTRY_APP.botToken,
      SLACK_APP_TOKEN: SENTRY_APP.appToken,
      SENTRY_WEBHOOK_SECRET: 'the-secret-of-a-test',
      ORDERS_READ_URL: database.url,
      ORDERS_ACT_URL: database.url,
    };
    env = {
      ...Object.fromEntries(asked.map(({ name }) => [name, mine[name] ?? ''])),
      // A real user has Slack's own, a folder to start in, and time for a database of one's own.
      SLACK_API_URL: slack.apiUrl,
      SENTRY_CONFIG: join(dataDir, 'sentry.yaml'),
      DATABASE_URL: database.url,
      MEMORY_ENABLED: 'false',
    };
  });
  afterAll(async () => {
    await product?.stop();
    await slack?.close();
    await database?.drop();
  });

  it('the manifest that README names is one that Slack takes, and the tokens are of the kinds it shows', () => {
    const [, manifest = ''] = /paste\s+\[`([\w.]+)`\]\(\1\)/.exec(readme) ?? [];
    const schema = JSON.parse(read('test/support/manifest.schema.json')) as object;
    expect(new Ajv({ strict: true }).validate(schema, parse(read(manifest)))).toBe(true);
    for (const { name, shown } of asked) {
      expect(env[name], `${name}: README asks for it, and this test has none`).not.toBe('');
      expect(env[name]?.startsWith(shown), `${name} begins with ${shown}`).toBe(true);
    }
    expect(asked.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN']),
    );
  });

  it('the check before the start finds nothing that has to be put right first', async () => {
    expect(commands).toHaveLength(2);
    const answer = await shell(commands[0] ?? '', productEnv({ dataDir, env }));
    expect(answer.out).toMatch(/^✓ Slack app +@sentry in Playground, with every scope$/m);
    expect(answer.out).toMatch(/^✓ Target orders-db /m);
    // One line says what is left to do in Slack.
    expect(answer.out.match(/nobody may approve/g)).toHaveLength(1);
    expect(answer).toMatchObject({ code: 0 });
  });

  it('starts by the last line, and says what is left', async () => {
    expect(commands[1]).toBe('npm start');
    product = await startProduct({ dataDir, env, byNpm: true, timeoutMs: 120_000 });
    expect(product.output()).toMatch(/Slack +connected by Socket Mode/);
    expect(product.output()).toContain('Nobody may approve yet: type /sentry settings');
    await client.waitForBot();
  });

  it('welcomes who may set it up, and takes what they enter', async () => {
    expect(await amara().openHome()).toMatchObject({ ok: true });
    const welcome = await client.waitForMessage((message) => textOf(message).includes('Set up Sentry'));
    expect(await amara().press(welcome, { actionId: 'sentry_settings' })).toMatchObject({ ok: true });
    const view = await client.waitForView(
      USERS.admin,
      ({ callback_id }) => callback_id === 'sentry_settings_view',
    );
    expect(
      await amara().submit(view, {
        alert_channels: { alert_channels: { kind: 'ids', values: [CHANNELS.alerts] } },
        approvers: { approvers: { kind: 'ids', values: [USERS.onCall] } },
        approver_group: { approver_group: { kind: 'option', value: 'oncall' } },
        oncall_group: { oncall_group: { kind: 'option', value: 'oncall' } },
        admins: { admins: { kind: 'ids', values: [USERS.admin] } },
        admin_channel: { admin_channel: { kind: 'id', value: CHANNELS.admin } },
      }),
    ).toMatchObject({ ok: true });
    const saved = await client.waitForView(USERS.admin, ({ blocks }) =>
      JSON.stringify(blocks).includes('Saved. '),
    );
    expect(textOf({ text: '', blocks: saved.blocks })).toContain('All is well.');
    expect(await amara().pressIn(saved, { actionId: 'sentry_settings_test' })).toMatchObject({ ok: true });
  });

  it('shows the whole way by a test incident that closes by itself', async () => {
    const isRoot = (
      message: Parameters<typeof textOf>[0] & { readonly thread_ts?: string; readonly ts: string },
    ) => textOf(message).includes('Test: nothing is wrong');
    const root = await client.waitForMessage(isRoot);
    expect(root.channel).toBe(CHANNELS.alerts);
    await client.waitForMessage(
      (message) => message.ts === root.ts && /Closed/i.test(textOf(message)),
      60_000,
    );
  });
});

async function shell(command: string, env: Readonly<Record<string, string>>) {
  const child = spawn('sh', ['-c', command], { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out };
}
