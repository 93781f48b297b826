import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConfigFile } from '../../../src/config/config-file.ts';
import { readEscalation } from '../../../src/config/escalation.ts';
import { targetsOf } from '../../../src/config/targets.ts';

const env = {
  PAGERDUTY_KEY: '0123456789abcdef0123456789ABCDEF',
  OTHER_PAGERDUTY_KEY: 'f123456789abcdef0123456789ABCDEF',
  OPSGENIE_KEY: '01234567-89ab-cdef-0123-456789abcdef\n',
  WEBHOOK_KEY: 'of-a-test-of-the-webhook',
  REST_KEY: 'u+of-a-test-REST',
  SHORT: 'short',
  EMPTY: '',
};

/** As `loadConfig` reads it: the form first, with the targets. */
function read(text: string) {
  const file = parseConfigFile(text, 'sentry.yaml');
  targetsOf(file, env);
  return readEscalation(file, env);
}

const whole = `escalation:
  pagers:
    primary: { type: pagerduty, key_env: PAGERDUTY_KEY, region: eu }
    second: { type: opsgenie, key_env: OPSGENIE_KEY }
    office: { type: webhook, key_env: WEBHOOK_KEY, url: https://pager.example.com/sentry }
  schedules:
    dba: { type: pagerduty, key_env: REST_KEY, schedule: PI7DH85 }
    ops: { type: opsgenie, key_env: OPSGENIE_KEY, schedule: Database on-call }
    team:
      type: rotation
      people: [U0123ABCD, noah@example.com]
      starts: 2026-11-02
      handover: mon 09:00
      length: 7d
      timezone: Europe/Vienna
      overrides:
        - { person: U0999ABCD, from: 2026-12-24 09:00, to: 2026-12-27 09:00 }
  levels:
    - { after: 0m, mention: [group:oncall, U0123ABCD, schedule:team] }
    - { after: 5m, mention: [schedule:dba], page: [primary, office] }
    - { after: 2h, page: [second] }
  reasons: [unsolved, approval_expiry]
  approval_expiry: 90s
  quiet_hours:
    - { severities: [info, warning], days: [sat, sun], from: 22:00, to: 07:00, timezone: Europe/Vienna }
`;

test('the section is read with its secrets, and what it leaves out', () => {
  const found = read(whole);
  expect(found).toMatchObject({
    levels: [
      {
        afterMs: 0,
        mention: [
          { kind: 'group', name: 'oncall' },
          { kind: 'user', id: 'U0123ABCD' },
          { kind: 'schedule', name: 'team' },
        ],
        page: [],
      },
      { afterMs: 300_000, mention: [{ kind: 'schedule', name: 'dba' }], page: ['primary', 'office'] },
      { afterMs: 7_200_000, mention: [], page: ['second'] },
    ],
    reasons: ['unsolved', 'approval_expiry'],
    unacknowledgedMs: 900_000,
    approvalExpiryMs: 90_000,
    quietHours: [
      { severities: ['info', 'warning'], days: [6, 0], from: 1_320, to: 420, timezone: 'Europe/Vienna' },
    ],
  });
  expect(found?.pagers).toEqual([
    { name: 'primary', type: 'pagerduty', key: env.PAGERDUTY_KEY, region: 'eu' },
    { name: 'second', type: 'opsgenie', key: env.OPSGENIE_KEY.trim(), region: 'us' },
    { name: 'office', type: 'webhook', key: env.WEBHOOK_KEY, url: 'https://pager.example.com/sentry' },
  ]);
  expect(found?.schedules.map(({ name, type }) => [name, type])).toEqual([
    ['dba', 'pagerduty'],
    ['ops', 'opsgenie'],
    ['team', 'rotation'],
  ]);
});

test('a key stands in a variable or in a file, and the form of before is read', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sentry-key-')), 'key');
  writeFileSync(file, `${env.PAGERDUTY_KEY}\n`, { mode: 0o600 });
  const keyIn = (named: string) =>
    read(whole.replace('key_env: PAGERDUTY_KEY', named))?.pagers.find(({ name }) => name === 'primary');
  const primary = { name: 'primary', type: 'pagerduty', key: env.PAGERDUTY_KEY, region: 'eu' };
  expect(keyIn(`key_file: ${file}`)).toEqual(primary);
  expect(keyIn('key: env:PAGERDUTY_KEY')).toEqual(primary);
  expect(() => keyIn(`key: env:PAGERDUTY_KEY, key_file: ${file}`)).toThrow(
    /pager "primary": name its key once/,
  );
  expect(() => keyIn(`key_env: PAGERDUTY_KEY, key_file: ${file}`)).toThrow(/not both/);
  expect(() => keyIn('url: https://pager.example.com')).toThrow(/pager "primary": name its key by key_env/);
  expect(() => keyIn('key: 0123456789abcdef0123456789abcdef')).toThrow(/expected key_env: NAME/);
});

test('without the section nobody is called, and a level is enough of one', () => {
  expect(read('targets: []\n')).toBeNull();
  expect(read('')).toBeNull();
  expect(read('escalation:\n  levels:\n    - { after: 5m, mention: [U0123ABCD] }\n')).toEqual({
    pagers: [],
    schedules: [],
    levels: [{ afterMs: 300_000, mention: [{ kind: 'user', id: 'U0123ABCD' }], page: [] }],
    reasons: ['unsolved', 'unacknowledged', 'approval_expiry', 'failed_verification'],
    unacknowledgedMs: 900_000,
    approvalExpiryMs: 300_000,
    quietHours: [],
  });
});

describe('a mistake is told with its line', () => {
  test.each([
    [
      'key_env: PAGERDUTY_KEY',
      'key_env: 0123456789abcdef0123456789abcdef',
      3,
      /key_env: expected the name of an environment variable/,
    ],
    [
      'key_env: PAGERDUTY_KEY',
      'key_env: NOT_SET',
      3,
      /pager "primary": NOT_SET is not set, and key_env names it/,
    ],
    ['key_env: PAGERDUTY_KEY', 'key_env: EMPTY', 3, /EMPTY is not set/],
    [
      'key_env: PAGERDUTY_KEY',
      'key_env: REST_KEY',
      3,
      /REST_KEY, which key_env names, is no integration key .* Events API v2/,
    ],
    ['key_env: WEBHOOK_KEY', 'key_env: SHORT', 5, /SHORT, which key_env names, is too short/],
    ['key_env: REST_KEY', 'key_env: SHORT', 7, /schedule "dba": SHORT, which key_env names, is no key/],
    ['https://pager.example.com', 'http://pager.example.com', 5, /expected an https:\/\/ URL/],
    ['https://pager.example.com', 'https://a:b@pager.example.com', 5, /expected an https:\/\/ URL/],
    ['https://pager.example.com', 'http://localhost.example.com', 5, /expected an https:\/\/ URL/],
    ['region: eu', 'region: mars', 3, /expected one of us, eu/],
    ['region: eu', 'regoin: eu', 3, /did you mean "region"/],
    [
      'type: pagerduty, key_env: P',
      'type: carrier-pigeon, key_env: P',
      3,
      /expected one of pagerduty, opsgenie, webhook/,
    ],
    ['second: {', 'Second One: {', 4, /expected a name of lower-case letters/],
    ['schedule: PI7DH85', 'schedule: Database', 7, /the id of a schedule, like PI7DH85/],
    ['[U0123ABCD, noah', '[Olivia, noah', 11, /a Slack user id \(U…\) or an e-mail address/],
    ['starts: 2026-11-02', 'starts: 2026-02-30', 12, /expected a day/],
    ['starts: 2026-11-02', 'starts: 2026-11-03', 12, /2026-11-03 is a tue, and the handover is on mon/],
    ['handover: mon 09:00', 'handover: monday 09:00', 13, /expected a time, with its day/],
    ['length: 7d', 'length: 3d', 13, /not always a mon after 3d/],
    ['length: 7d', 'length: 1w', 14, /days or hours/],
    ['timezone: Europe/Vienna\n      over', 'timezone: Europe/Wien\n      over', 15, /an IANA time zone/],
    ['from: 2026-12-24 09:00', 'from: 2026-12-28 09:00', 17, /it ends before it begins/],
    ['mention: [group:oncall,', 'mention: [oncall,', 19, /group:<handle> or schedule:<name>/],
    [
      'schedule:team]',
      'schedule:taem]',
      19,
      /level 1: there is no schedule called "taem"; did you mean "team"\?/,
    ],
    [
      'page: [primary,',
      'page: [primry,',
      20,
      /level 2: there is no pager called "primry"; did you mean "primary"\?/,
    ],
    ['page: [primary,', 'page: [office,', 20, /level 2: it pages "office", and level 2 has done so/],
    ['page: [second]', 'page: [primary]', 21, /level 3: it pages "primary", and level 2 has done so/],
    ['after: 2h', 'after: 5m', 21, /longer than that of level 2/],
    ['after: 2h', 'after: 2', 21, /a time like 90s, 5m or 2h/],
    [', page: [second]', '', 21, /it calls nobody/],
    ['approval_expiry]', 'boredom]', 22, /expected one of unsolved/],
    ['approval_expiry: 90s', 'approval_expiry: soon', 23, /a time like/],
    ['severities: [info, warning]', 'severities: [low]', 25, /expected one of critical/],
    ['to: 07:00', 'to: 22:00', 25, /from and to are the same/],
  ])('%s → %s', (from, to, line, reason) => {
    expect(whole).toContain(from);
    const text = whole.replace(from, to);
    expect(() => read(text)).toThrow(reason);
    expect(() => read(text)).toThrow(new RegExp(`sentry\\.yaml:${line}: `));
    for (const secret of Object.values(env).filter((value) => value.length > 10))
      expect(() => read(text)).not.toThrow(secret);
  });

  test('of two names of one receiver, and of several mistakes at once', () => {
    const text = whole
      .replace(
        'second: { type: opsgenie, key_env: OPSGENIE_KEY }',
        'second: { type: pagerduty, key_env: PAGERDUTY_KEY }',
      )
      .replace('key_env: WEBHOOK_KEY', 'key_env: NOT_SET');
    expect(() => read(text)).toThrow(
      /sentry\.yaml:5: pager "office": NOT_SET is not set, and key_env names it\n.*sentry\.yaml:21: level 3: it pages "second", which is the same receiver as "primary", and level 2 has done so/,
    );
    expect(
      read(
        text
          .replaceAll('NOT_SET', 'WEBHOOK_KEY')
          .replace(
            'second: { type: pagerduty, key_env: PAGERDUTY_KEY',
            'second: { type: pagerduty, key_env: OTHER_PAGERDUTY_KEY',
          ),
      ),
    ).not.toBeNull();
  });

  test('of a ladder without levels', () => {
    expect(() => read('escalation:\n  levels: []\n')).toThrow(/sentry\.yaml:2: .*there is no level/);
    expect(() => read('escalation: {}\n')).toThrow(/escalation\.levels: is missing/);
  });
});

describe('docs/escalation.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/escalation.md'), 'utf8');

  test('has an example that is read', () => {
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const named = [...example.matchAll(/key_env: (\w+)/g)].map(([, name = '']) => [name, env.PAGERDUTY_KEY]);
    const file = parseConfigFile(example, 'sentry.yaml');
    targetsOf(file, {});
    const found = readEscalation(file, Object.fromEntries(named));
    expect(found?.levels).toHaveLength(3);
    expect(found?.schedules).toHaveLength(3);
  });

  test('names every field', () => {
    const names = (whole.match(/\b[a-z_]+(?=:\s)/g) ?? []).filter(
      (name) => !['escalation', 'primary', 'second', 'office', 'dba', 'ops', 'team'].includes(name),
    );
    expect(new Set(names).size).toBeGreaterThan(20);
    for (const name of new Set(names)) expect(page).toMatch(new RegExp(`\\b${name}\\b`));
  });
});
