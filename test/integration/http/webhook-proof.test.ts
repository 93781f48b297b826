import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { webhookRoutes } from '../../../src/http/webhook-route.ts';
import { webhookSources } from '../../../src/sources/registry.ts';
import type { ChangeFixtures, SourceFixtures } from '../../contract/sources/fixtures.ts';
import { fixtures as github } from '../../contract/sources/github.ts';
import { fixtures as robusta } from '../../contract/sources/robusta.ts';
import { fixtures as statuscake } from '../../contract/sources/statuscake.ts';
import { alertmanagerBody } from '../../support/alerts.ts';
import { quiet } from '../../support/quiet.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const GENERAL = 'correct horse';
const OWN = 'battery staple';

/** All webhooks; GitHub and Robusta have secrets of their own. */
async function start(secret: string | null = GENERAL) {
  const accepted: Alert[] = [];
  const routes = webhookRoutes({
    accept: async (alert) => {
      accepted.push(alert);
      return { kind: 'opened', incidentId: asIncidentId(`INC-${accepted.length}`) };
    },
    secret,
    ownSecrets: secret === null ? new Map() : new Map([['github', OWN]]),
    log: quiet,
  });
  const http = createHttpServer({ host: '127.0.0.1', port: 0, routes, log: quiet });
  const { port } = await http.listen();
  closing.push(() => http.close(0));
  const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}/webhooks/${path}`, { method: 'POST', body, headers });
  return { post, accepted };
}

const signed = (body: string, secret: string) => createHmac('sha256', secret).update(body).digest('hex');
const json = { 'content-type': 'application/json' };

describe('who may send alerts', () => {
  test('is who presents the secret of the source, and no other’s', async () => {
    const { post } = await start();
    const body = JSON.stringify(github.firing);
    const status = async (path: string, secret: string) =>
      (await post(path, body, { ...json, authorization: `Bearer ${secret}` })).status;
    expect(await status('github', OWN)).toBe(202);
    expect(await status('github', GENERAL)).toBe(401);
    expect(await status('generic', OWN)).toBe(401);
  });

  test('is who has it in the URL, where a sender can set nothing else', async () => {
    const { post } = await start();
    const body = JSON.stringify(alertmanagerBody({ instance: 'a' }));
    expect((await post('alertmanager?secret=correct+horse', body, json)).status).toBe(202);
    expect((await post('alertmanager?secret=correct', body, json)).status).toBe(401);
  });

  test.each(webhookSources().flatMap(({ name, signature }) => (signature ? [{ name, signature }] : [])))(
    'is who signs with it: $name',
    async ({ name, signature: { header, prefix } }) => {
      const { post } = await start();
      const { fixtures, changes } = (await import(`../../contract/sources/${name}.ts`)) as {
        readonly fixtures?: SourceFixtures;
        readonly changes?: ChangeFixtures;
      };
      const body = JSON.stringify(fixtures?.firing ?? changes?.succeeded);
      const secret = name === 'github' ? OWN : GENERAL;
      const status = async (sent: string, signature: string) =>
        (await post(name, sent, { ...json, [header]: signature })).status;
      expect(await status(body, prefix + signed(body, secret))).toBe(202);
      expect(
        await status(body, `${prefix}${signed(body, 'an older one')},${prefix}${signed(body, secret)}`),
      ).toBe(202);
      expect(await status(`${body} `, prefix + signed(body, secret))).toBe(401);
      expect(await status(body, prefix + signed(body, 'another'))).toBe(401);
      expect(await status(body, prefix + signed(body, ''))).toBe(401);
      expect(await status(body, '')).toBe(401);
      if (prefix !== '') expect(await status(body, signed(body, secret))).toBe(401);
    },
  );

  test('is nobody by a signature where the source has none', async () => {
    const { post } = await start();
    const body = JSON.stringify(alertmanagerBody({ instance: 'a' }));
    const signature = { 'x-hub-signature-256': `sha256=${signed(body, GENERAL)}` };
    expect((await post('alertmanager', body, { ...json, ...signature })).status).toBe(401);
  });

  test('is this machine alone without a secret, and no page in a browser on it', async () => {
    const { post, accepted } = await start(null);
    const form = new URLSearchParams(statuscake.firing as Record<string, string>).toString();
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])
      expect((await post('statuscake', form, { 'content-type': type })).status).toBe(415);
    expect((await post('statuscake', new TextEncoder().encode(form))).status).toBe(415);
    expect(accepted).toEqual([]);
  });

  test('is told at the start that a secret is of no source', () => {
    const options = { accept: () => Promise.reject(new Error('no')), secret: null, log: quiet };
    const withSecretOf = (name: string) => () =>
      webhookRoutes({ ...options, ownSecrets: new Map([[name, OWN]]) });
    expect(withSecretOf('pagrduty')).toThrow('There is no alert source "pagrduty".');
    expect(withSecretOf('slack')).toThrow('SENTRY_WEBHOOK_SECRETS: slack does not call by a webhook.');
  });
});

describe('what they may send', () => {
  const authorization = `Bearer ${GENERAL}`;

  test.each([
    [
      'a form',
      'statuscake',
      'application/x-www-form-urlencoded',
      new URLSearchParams(statuscake.firing as Record<string, string>).toString(),
      'shop front page',
    ],
    ['a text', 'robusta', 'text/plain', robusta.firing as string, 'Crashing pod web-1 in namespace shop'],
    ['a text of no type', 'robusta', '', robusta.firing as string, 'Crashing pod web-1 in namespace shop'],
    [
      'JSON called a text',
      'generic',
      'text/plain; charset=UTF-8',
      '{"title": "disk full", "status": "firing"}',
      'disk full',
    ],
  ])('is %s', async (_what, path, type, body, title) => {
    const { post, accepted } = await start();
    const headers: Record<string, string> =
      type === '' ? { authorization } : { authorization, 'content-type': type };
    expect((await post(path, new TextEncoder().encode(body), headers)).status).toBe(202);
    expect(accepted).toMatchObject([{ title }]);
  });

  test('is told which alerts of several could not be read, and the others are taken', async () => {
    const { post, accepted } = await start();
    const { alerts } = alertmanagerBody({ instance: 'a' }) as { alerts: object[] };
    const body = JSON.stringify({ alerts: [...alerts, { status: 'lost' }] });
    const answer = await post('alertmanager', body, { ...json, authorization });
    expect([answer.status, await answer.json()]).toEqual([
      202,
      {
        accepted: [{ kind: 'opened', incident: 'INC-1' }],
        refused: [expect.objectContaining({ field: expect.stringContaining('alerts.1') })],
      },
    ]);
    expect(accepted).toHaveLength(1);
  });
});
