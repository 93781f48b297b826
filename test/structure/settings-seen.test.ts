import { expect, test } from 'vitest';
import { auditedSettings } from '../../src/app/audited-settings.ts';
import { loadConfig } from '../../src/config/config.ts';
import { kinds } from '../../src/targets/kinds.ts';

const secret = 'SECRET-that-must-not-show';
const env = {
  DATABASE_URL: `postgres://user:${secret}@db/sentry`,
  SLACK_BOT_TOKEN: `xoxb-${secret}`,
  SLACK_APP_TOKEN: `xapp-${secret}`,
  ANTHROPIC_API_KEY: `sk-${secret}`,
  SENTRY_WEBHOOK_SECRET: secret,
  SENTRY_VAULT_KEY: 'ab'.repeat(32),
  SENTRY_MODE: 'ACTIVE',
  SENTRY_APPROVERS: 'U0123',
};

test('the settings in the audit log say what may be done and by whom, and no secret', () => {
  const { text, details } = auditedSettings(loadConfig(env), kinds);
  expect(details).toMatchObject({ mode: 'ACTIVE', approvers: [{ kind: 'user', id: 'U0123' }] });
  expect(text).not.toMatch(/SECRET|abab/);
  expect(auditedSettings(loadConfig({ ...env, SENTRY_MODE: 'AUDIT' }), kinds).text).not.toBe(text);
});
