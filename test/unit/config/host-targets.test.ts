import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

function configured(yaml: string, env: Record<string, string> = {}) {
  const path = join(scratchDir(), 'sentry.yaml');
  writeFileSync(path, `targets:\n  - name: web-1\n    kind: host\n${yaml.replace(/^/gm, '    ')}\n`);
  return loadConfig({ SENTRY_CONFIG: path, ...env });
}

test('a host has folders to read, folders to patch, and services by unit or by command', () => {
  const { targets, playgroundTarget, docsHosts } = configured(`roots:
  - /var/log/shop
  - { path: /srv/shop, patch: true }
services:
  - { name: web, unit: shop-web.service }
  - { name: worker, restart: [/usr/local/bin/shopctl, restart, worker], pid_file: /run/shop/worker.pid }
curl_hosts: [localhost]`);
  expect(playgroundTarget).toBe(false);
  expect(docsHosts).toEqual(['docs.python.org', 'stackoverflow.com']);
  expect(targets).toEqual([
    {
      name: 'web-1',
      kind: 'host',
      domain: 'docker',
      environment: 'production',
      aliases: [],
      roots: [
        { path: '/var/log/shop', patch: false },
        { path: '/srv/shop', patch: true },
      ],
      services: [
        { name: 'web', kind: 'systemd', unit: 'shop-web.service' },
        {
          name: 'worker',
          kind: 'command',
          restart: ['/usr/local/bin/shopctl', 'restart', 'worker'],
          pidFile: '/run/shop/worker.pid',
        },
      ],
      curlHosts: ['localhost'],
      watch: [],
    },
  ]);
});

test('its watched logs are files in its folders, or units, with patterns of RE2', () => {
  const { targets } = configured(`roots: [/var/log/shop]
watch:
  - { file: /var/log/shop/app.log, starts: '^\\S', patterns: [{ match: FATAL, name: Fatal, severity: critical }, ERROR] }
  - { unit: shop-web.service, patterns: ['(?i)panic'] }`);
  const log = (match: string) => ({ match, name: 'LogLine', severity: 'error' });
  expect(targets).toMatchObject([
    {
      watch: [
        {
          from: { kind: 'file', path: '/var/log/shop/app.log' },
          starts: '^\\S',
          patterns: [{ match: 'FATAL', name: 'Fatal', severity: 'critical' }, log('ERROR')],
        },
        { from: { kind: 'unit', unit: 'shop-web.service' }, patterns: [log('(?i)panic')] },
      ],
    },
  ]);
});

test.each([
  ['{ file: /etc/passwd, patterns: [x] }', '/etc/passwd is in none of the folders of "roots"'],
  ['{ file: /var/log/shop/../x, patterns: [x] }', 'expected an absolute path'],
  ['{ file: /var/log/shop/a, unit: a.service, patterns: [x] }', 'expected either "file" or "unit"'],
  ['{ patterns: [x] }', 'expected either "file" or "unit"'],
  ['{ unit: a.service, patterns: [] }', 'name at least one pattern'],
  ['{ unit: a.service, patterns: ["(?=x)"] }', 'RE2 syntax'],
  ['{ unit: a.service, patterns: [x], starts: "(" }', 'The pattern cannot be used'],
  ['{ unit: "--file=/etc/shadow", patterns: [x] }', 'expected the name of a unit'],
  ['{ unit: a.service, patterns: [x] }, { unit: a.service, patterns: [y] }', 'a.service is named twice'],
])('a watched log %s is refused: %s', (entry, why) => {
  expect(() => configured(`roots: [/var/log/shop]\nwatch: [${entry}]`)).toThrow(why);
});

test('the example of docs/connect.md is one', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/connect.md'), 'utf8');
  const [, yaml = ''] = /```yaml\n(targets:\n {2}- name: web-1\n[\s\S]*?)```/.exec(page) ?? [];
  const path = join(scratchDir(), 'sentry.yaml');
  writeFileSync(path, yaml);
  expect(loadConfig({ SENTRY_CONFIG: path }).targets).toMatchObject([
    {
      name: 'web-1',
      services: [{ kind: 'systemd' }, { kind: 'command' }],
      roots: [{ patch: false }, { patch: true }],
    },
  ]);
});

const ok = 'roots: [/srv/shop]';
test.each([
  ['no folder', 'roots: []', /roots: name at least one folder/],
  ['the whole machine', 'roots: [/]', /roots\.0\.path/],
  ['all settings of the machine', 'roots: [/etc]', /roots\.0\.path: too wide/],
  ['no files', 'roots: [/proc/self]', /roots\.0\.path: too wide/],
  ['a relative folder', 'roots: [srv]', /roots\.0\.path: expected an absolute path/],
  ['a folder that goes back', 'roots: [/srv/../etc]', /roots\.0\.path: expected an absolute path/],
  ['a folder twice', 'roots: [/srv/a, /srv/a]', /named twice/],
  [
    'a program by name only',
    `${ok}\nservices: [{ name: a, restart: [shopctl], pid_file: /run/a }]`,
    /restart\.0/,
  ],
  ['no way to see it', `${ok}\nservices: [{ name: a, restart: [/bin/a] }]`, /expected either "unit"/],
  ['two ways', `${ok}\nservices: [{ name: a, unit: a.service, pid_file: /run/a }]`, /expected either "unit"/],
  [
    'a unit that is an option',
    `${ok}\nservices: [{ name: a, unit: "--force.service" }]`,
    /unit: expected the name/,
  ],
  [
    'a service twice',
    `${ok}\nservices: [{ name: a, unit: a.service }, { name: a, unit: b.service }]`,
    /two services/,
  ],
  ['a name for a shell', `${ok}\nservices: [{ name: "a;id", unit: a.service }]`, /services\.0\.name/],
  ['a key nobody knows', `${ok}\nshell: true`, /shell/],
])('says what is wrong with %s', (_what, yaml, said) => {
  expect(() => configured(yaml)).toThrow(said);
});

test.each(['*.example.com', '10.0.0.1', 'https://docs.example.com', 'docs.example.com:8443', 'localhost'])(
  'takes no %s as a host of documentation',
  (host) => {
    expect(() => configured(ok, { SENTRY_DOCS_HOSTS: host })).toThrow(/SENTRY_DOCS_HOSTS/);
  },
);
