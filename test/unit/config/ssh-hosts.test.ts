import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { readPublicKey } from '../../../src/safety/secrets/public-key.ts';
import { quoteForShell } from '../../../src/targets/host/connect/ssh/quote.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

/** The key of RFC 8032's first test, as a host key. */
const LINE = `ssh-ed25519 ${Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from('ssh-ed25519'),
  Buffer.from([0, 0, 0, 32]),
  Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex'),
]).toString('base64')}`;
const PIN = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const HEAD = (kind: string) => `-----BEGIN ${kind}PRIVATE ${'KEY'}-----`;

function keyFile(text = `${HEAD('OPENSSH ')}\nno key\n`, mode = 0o600): string {
  const path = join(scratchDir(), 'key');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function configured(ssh: string, env: Record<string, string> = {}, roots = '[/var/log/shop]') {
  const path = join(scratchDir(), 'sentry.yaml');
  writeFileSync(path, `targets:\n  - { name: web-1, kind: host, roots: ${roots}, ssh: ${ssh} }\n`);
  return loadConfig({ SENTRY_CONFIG: path, ...env }).targets;
}

const login = (more: string): string => `{ host: web-1.internal, user: sentry, ${more} }`;

test('a host over ssh has its login, its pinned key by fingerprint or by line, and a jump host', () => {
  const file = keyFile();
  const [target] = configured(
    `{ host: web-1, port: 2222, user: sentry, host_key: ["${LINE} root@web", "${PIN}"], key_file: ${file}, sudo: true,
       jump: { host: gate, user: hop, host_key: "gate,10.0.0.1 ${LINE}", agent: true } }`,
    { SSH_AUTH_SOCK: '/run/agent' },
  );
  const key = readPublicKey(LINE);
  expect(key?.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  expect(target).toMatchObject({
    ssh: {
      host: 'web-1',
      port: 2222,
      user: 'sentry',
      hostKeys: [key, { fingerprint: PIN, type: null }],
      by: { kind: 'key', file, passphrase: null },
      sudo: true,
      jump: { host: 'gate', port: 22, hostKeys: [key], by: { kind: 'agent', socket: '/run/agent' } },
    },
  });
});

describe('what is wrong is told with what to do', () => {
  const file = keyFile();
  test.each([
    ['no pin', login(`key_file: ${file}`), /host_key: .*ssh-keyscan/],
    ['a pin that is none', login(`host_key: "AA:BB", key_file: ${file}`), /host_key.*ssh-keyscan/],
    ['neither key nor agent', login(`host_key: "${PIN}"`), /either key_file.*or agent: true/],
    ['both', login(`host_key: "${PIN}", key_file: ${file}, agent: true`), /either key_file/],
    ['an agent that is not there', login(`host_key: "${PIN}", agent: true`), /SSH_AUTH_SOCK is not set/],
    [
      'a key that others may read',
      login(`host_key: "${PIN}", key_file: ${keyFile(undefined, 0o644)}`),
      /chmod/,
    ],
    ['a public key', login(`host_key: "${PIN}", key_file: ${keyFile(LINE)}`), /without \.pub/],
    ['no key at all', login(`host_key: "${PIN}", key_file: ${keyFile('hello')}`), /holds no private key/],
    [
      'an option for ssh',
      '{ host: -oProxyCommand=x, user: sentry, host_key: x, key_file: /x }',
      /expected a host name/,
    ],
    [
      'a passphrase that is not set',
      login(`host_key: "${PIN}", key_file: ${file}, passphrase_env: NOT_SET`),
      /NOT_SET is not set/,
    ],
  ])('%s', (_, ssh, said) => {
    expect(() => configured(ssh)).toThrow(said);
  });

  test('a key in the file itself is refused, and not repeated', () => {
    const text = `"${HEAD('')}\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\n-----END PRIVATE ${'KEY'}-----"`;
    for (const field of ['key', 'key_file']) {
      const say = () => configured(login(`host_key: "${PIN}", ${field}: ${text}`));
      expect(say).toThrow();
      expect(say).not.toThrow(/MIIEvQIBADAN/);
    }
    expect(() => configured(login(`host_key: "${PIN}", key_file: ${text}`))).toThrow(
      /environment variable or a file/,
    );
  });

  test('a folder to be patched', () => {
    const ssh = login(`host_key: "${PIN}", key_file: ${file}`);
    expect(() => configured(ssh, {}, '[{ path: /etc/shop, patch: true }]')).toThrow(
      /Over ssh no file is changed/,
    );
  });
});

test('a public key is one by what it says itself', () => {
  expect(readPublicKey(`${LINE} somebody@somewhere`)?.type).toBe('ssh-ed25519');
  expect(readPublicKey(LINE.replace('ssh-ed25519', 'ssh-rsa'))).toBeUndefined();
  expect(readPublicKey(`ssh-ed25519 AAAA${'x'.repeat(60)}`)).toBeUndefined();
  expect(readPublicKey('hunter2')).toBeUndefined();
});

test('a word is quoted as a whole, and what no shell can be given is refused', () => {
  expect(quoteForShell(['echo', "it's", '', '$(id)', '-n', 'a\nb'])).toBe(
    `'echo' 'it'\\''s' '' '$(id)' '-n' 'a\nb'`,
  );
  expect(() => quoteForShell(['a\0b'])).toThrow(/NUL/);
});
