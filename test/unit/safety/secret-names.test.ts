import { expect, it } from 'vitest';
import { isSecretFile } from '../../../src/safety/paths/secret-files.ts';

it.each([
  'vault-key',
  'data/VAULT_KEY',
  'app/jwt-key.txt',
  'prod.session_key',
  'pgdata/postgresql.auto.conf',
  'pgdata/postgresql.auto.conf.bak',
  'recovery.conf',
  'mysql/my.cnf',
  'my.cnf.rpmsave',
  'web/appsettings.json',
  'web/appsettings.Production.json',
  'src/application-prod.yml',
  'application.properties',
  'django/local_settings.py',
  'pgbouncer/userlist.txt',
  'db_passwords.txt',
  '.sentry/sentry.log',
  '.sentry/ports.json',
])('%s is a secret by its name [F20]', (path) => expect(isSecretFile(path)).toBe(true));

it.each([
  'postgresql.conf',
  'nginx.conf',
  'app/application.log',
  'api.key.md',
  'settings.py',
  'docs/tokens.md',
  'keyboard.json',
  'monkey.txt',
  'app.json',
])('%s is none', (path) => expect(isSecretFile(path)).toBe(false));
