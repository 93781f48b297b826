import { describe, expect, test } from 'vitest';
import { type PolicySubjects, readPolicy } from '../../../../src/actions/policy/read-policy.ts';
import { type Rule, ruleFor, type Subject } from '../../../../src/actions/policy/rule.ts';
import { isWithin } from '../../../../src/core/hours.ts';
import { cpuClock } from '../../../support/cpu-clock.ts';

const people = { oncallGroup: 'oncall', admins: [{ kind: 'user', id: 'UADMIN' }] } as const;
const read = (text: string): readonly Rule[] => {
  const found = readPolicy(text, people, null);
  if ('problems' in found) throw new Error(JSON.stringify(found.problems));
  return found.rules;
};
const problems = (text: string, who = people, subjects: PolicySubjects | null = null) => {
  const found = readPolicy(text, who as never, subjects);
  return 'problems' in found ? found.problems.map(({ line, message }) => `${line}: ${message}`) : [];
};
const subject: Subject = {
  tool: 'postgres_vacuum',
  target: 'shop-db',
  environment: 'production',
  risk: 'low',
  runbookId: 'bloat',
};

test('a whole rule is read as it is written', () => {
  const [rule] = read(`
rules:
  - name: night shift
    tools: ["postgres_*"]
    targets: [shop-db]
    environments: [production]
    risks: [high]
    runbooks: [bloat]
    approvals: 1
    approvers: [U0123, "group:dba", "channel:C1", oncall, admins]
    self_approval: true
    expires_minutes: 10
    hours: {days: [mon], from: "22:00", to: "06:30", timezone: Europe/Vienna}
    at_most: {actions: 3, minutes: 60}
    at_most_everywhere: {actions: 9, minutes: 60}
    autonomy: {after: 5, actions: 2, minutes: 60, veto_minutes: 5}
`);
  expect(rule).toEqual({
    name: 'night shift',
    tools: ['postgres_*'],
    targets: ['shop-db'],
    environments: ['production'],
    risks: ['high'],
    runbooks: ['bloat'],
    never: false,
    approvals: 1,
    approvers: [
      { kind: 'user', id: 'U0123' },
      { kind: 'group', name: 'dba' },
      { kind: 'channel', id: 'C1' },
      { kind: 'group', name: 'oncall' },
      { kind: 'user', id: 'UADMIN' },
    ],
    selfApproval: true,
    expiresMinutes: 10,
    hours: { days: [1], from: 1320, to: 390, timezone: 'Europe/Vienna' },
    perTarget: { actions: 3, minutes: 60 },
    everywhere: { actions: 9, minutes: 60 },
    autonomy: { after: 5, atMost: { actions: 2, minutes: 60 }, vetoMinutes: 5 },
  });
});

describe('what is wrong is said with its line', () => {
  test.each([
    ['rules:\n  - name: a\n    approvals: none', '3: rules.0.approvals: '],
    [
      'rules:\n  - name: a\n    aprovals: 2',
      '2: rules.0: there is no "aprovals" here; did you mean "approvals"?',
    ],
    ['rules:\n  - name: a\n  - name: a', '3: rules.1.name: there is another rule called "a"'],
    ['rules:\n  - name: a\n    approvers: [somebody]', '3: rules.0.approvers: "somebody" is neither'],
    ['rules:\n  - name: a\n    approvers: []', '3: rules.0.approvers: '],
    [
      'rules:\n  - name: a\n    hours: {from: "9:00", to: "17:00", timezone: UTC}',
      '3: rules.0.hours.from: a time as "08:30"',
    ],
    [
      'rules:\n  - name: a\n    hours: {from: "09:00", to: "17:00", timezone: Mars/Base}',
      '3: rules.0.hours.timezone: an IANA',
    ],
    ['rules:\n  - name: a\n    tools: [*]', '3: '],
    [
      'rules:\n  - name: a\n    approvals: 2\n    runbooks: [b]\n    autonomy: {after: 1, actions: 1, minutes: 1, veto_minutes: 1}',
      '5: rules.0.autonomy: what nobody or only several',
    ],
    [
      'rules:\n  - name: a\n    autonomy: {after: 1, actions: 1, minutes: 1, veto_minutes: 1}',
      '3: rules.0.autonomy: name the runbooks',
    ],
    ['rules:\n  - name: a\n    name: b', '3: the same name stands twice'],
    ['rules: {', '1: '],
    ['', '1: '],
    ['- a', '1: '],
  ])('%j', (text, expected) => {
    expect(problems(text)[0]).toContain(expected);
  });

  test('who means nobody here is said, too', () => {
    const text = 'rules:\n  - name: a\n    approvers: [oncall, admins]';
    expect(problems(text, { oncallGroup: null, admins: [] } as never)).toEqual([
      '3: rules.0.approvers: "oncall" means nobody: no group is on call (SENTRY_ONCALL_GROUP, or /sentry settings)',
      '3: rules.0.approvers: "admins" means nobody: there are none (SENTRY_ADMINS, or /sentry settings)',
    ]);
  });

  test('a bomb of aliases is not unfolded', () => {
    const bomb = `a: &a [x]\nb: &b [*a,*a,*a]\nrules: [*b,*b]\n`;
    expect(problems(bomb)[0]).toContain('aliases');
  });
});

describe('the first rule that matches', () => {
  const rules = read(`
rules:
  - {name: one, tools: ["postgres_*"], risks: [high]}
  - {name: two, targets: ["*-db"], environments: [production], runbooks: ["b*t"]}
  - {name: three}
`);
  test.each<[string, Partial<Subject>]>([
    ['one', { risk: 'high' }],
    ['two', {}],
    ['three', { runbookId: null }],
    ['three', { runbookId: 'boat ' }],
    ['three', { environment: 'Production' }],
    ['three', { target: 'shop-db2' }],
    ['two', { target: '-db' }],
  ])('is %s for %j', (name, change) => {
    expect(ruleFor(rules, { ...subject, ...change })?.name).toBe(name);
  });

  test('a pattern is no expression and takes no time', () => {
    const [hard] = read(`rules: [{name: a, tools: ["a*a*a*a*a*b"]}]`);
    const cpuMs = cpuClock();
    expect(ruleFor(hard ? [hard] : [], { ...subject, tool: 'a'.repeat(100_000) })).toBeUndefined();
    expect(cpuMs()).toBeLessThan(1_000);
    expect(ruleFor(read('rules: [{name: a, tools: ["a.c"]}]'), { ...subject, tool: 'abc' })).toBeUndefined();
    expect(
      ruleFor(read('rules: [{name: a, tools: ["ab*ba"]}]'), { ...subject, tool: 'aba' }),
    ).toBeUndefined();
  });
});

describe('hours', () => {
  const day = { days: [1, 2, 3, 4, 5], from: 480, to: 1080, timezone: 'Europe/Vienna' };
  const night = { days: [1], from: 1320, to: 360, timezone: 'UTC' };
  test.each([
    [day, '2026-11-23T07:00:00Z', true],
    [day, '2026-11-23T06:59:59Z', false],
    [day, '2026-11-23T17:00:00Z', false],
    [day, '2026-11-22T10:00:00Z', false],
    // An hour earlier by the sun: summer time.
    [day, '2026-07-06T06:00:00Z', true],
    [night, '2026-11-23T23:00:00Z', true],
    [night, '2026-11-24T05:59:00Z', true],
    [night, '2026-11-24T06:00:00Z', false],
    [night, '2026-11-24T23:00:00Z', false],
    [night, '2026-11-23T05:00:00Z', false],
  ] as const)('%j at %s: %s', (hours, at, expected) => {
    expect(isWithin(hours, new Date(at))).toBe(expected);
  });
});

/** A whole rule; each test below has one thing of it wrong. */
const RULE: Readonly<Record<string, string>> = {
  name: 'a',
  tools: '[box_mend]',
  targets: '["shop-*"]',
  environments: '[production]',
  risks: '[low]',
  runbooks: '[bloat]',
  never: 'false',
  approvals: '1',
  approvers: '[U0123]',
  self_approval: 'true',
  expires_minutes: '10',
  hours: '{days: [mon], from: "08:00", to: "18:00", timezone: UTC}',
  at_most: '{actions: 1, minutes: 1}',
  at_most_everywhere: '{actions: 1, minutes: 1}',
  autonomy: '{after: 1, actions: 1, minutes: 1, veto_minutes: 1}',
};
const here: PolicySubjects = {
  tools: ['box_mend', 'postgres_terminate_backend', 'apply_patch'],
  neverUnasked: ['apply_patch'],
  targets: ['shop-db', 'shop-host'],
  environments: ['production'],
};
const withField = (field: string, value: string): string =>
  `rules:\n  - ${Object.entries({ ...RULE, [field]: value })
    .map(([key, text]) => `${key}: ${text}`)
    .join('\n    ')}\n`;

describe('every field says what is wrong with it', () => {
  test('and a rule with nothing wrong is read [F17]', () => {
    expect(problems(withField('name', 'a'), people, here)).toEqual([]);
  });

  const wrong: Readonly<Record<string, readonly string[]>> = {
    name: ['""', '1', '[a]', `"${'n'.repeat(101)}"`],
    tools: [
      '[]',
      'box_mend',
      '[1]',
      '[""]',
      '["a*b*c*d*e*f*g"]',
      '[postgres_terminate_backand]',
      '["mysql_*"]',
      '[Box_mend]',
    ],
    targets: ['[]', 'shop-db', '[""]', '[shop-bd]', '["*-prod"]', '["shop-db "]', '["SHOP-*"]'],
    environments: ['[]', '[prodction]', '["staging*"]', 'production'],
    risks: ['[]', '[none]', 'low', '[LOW]'],
    runbooks: ['[]', '[1]', 'bloat'],
    never: ['yes please', '1', '"true"', 'null'],
    approvals: ['0', '11', '1.5', '"2"', '-1', '.nan'],
    approvers: [
      '[]',
      '[""]',
      '[olivia]',
      '["channel:oncall"]',
      '["channel:#oncall"]',
      '["group:"]',
      '[u0123]',
      '["channel:"]',
    ],
    self_approval: ['"no"', '0'],
    expires_minutes: ['0', '1441', '"10"', '1e9', '.inf'],
    hours: [
      '{from: "24:59", to: "23:00", timezone: UTC}',
      '{from: "24:00", to: "23:00", timezone: UTC}',
      '{from: "08:00", to: "24:01", timezone: UTC}',
      '{from: "08:60", to: "18:00", timezone: UTC}',
      '{from: 8:00, to: "18:00", timezone: UTC}',
      '{from: "08:00", to: "08:00", timezone: UTC}',
      '{from: "08:00", to: "18:00", timezone: CEST+1}',
      '{days: [], from: "08:00", to: "18:00", timezone: UTC}',
      '{days: [Monday], from: "08:00", to: "18:00", timezone: UTC}',
      '{from: "08:00", timezone: UTC}',
    ],
    at_most: ['{actions: 0, minutes: 1}', '{actions: 1}', '{actions: 1, minutes: 43201}', '5'],
    at_most_everywhere: ['{actions: 0, minutes: 1}', '{minutes: 1}', '{actions: 1, minutes: 1, hours: 1}'],
    autonomy: [
      '{after: 0, actions: 1, minutes: 1, veto_minutes: 1}',
      '{after: 1, actions: 1, minutes: 1}',
      'true',
    ],
    nonsense: ['1'],
  };
  test.each(
    Object.entries(wrong).flatMap(([field, values]) => values.map((value) => [field, value] as const)),
  )('%s: %s [F17]', (field, value) => {
    const found = problems(withField(field, value), people, here);
    expect(found.length).toBeGreaterThan(0);
    expect(found.join()).toContain(field);
  });

  test('all fields are tried [F17]', () => {
    const { nonsense: _, ...fields } = wrong;
    expect(Object.keys(fields).toSorted()).toEqual(Object.keys(RULE).toSorted());
  });

  test('a slip in a name is told with what was perhaps meant [F17]', () => {
    const never = 'rules:\n  - name: a\n    tools: [postgres_terminate_backand]\n    never: true';
    expect(problems(never, people, here)).toEqual([
      '3: rules.0.tools: "postgres_terminate_backand" matches no tool that changes something; did you mean "postgres_terminate_backend"?',
    ]);
    expect(problems('rules: [{name: a, targets: [elsewhere]}]', people, here)).toEqual([
      '1: rules.0.targets: "elsewhere" matches no configured target; there is shop-db, shop-host',
    ]);
  });

  test('a channel is named by its id, and it is said where that stands [F16]', () => {
    expect(problems('rules: [{name: a, approvers: ["channel:oncall"]}]', people, here).join()).toMatch(
      /"channel:oncall" is no channel's id.*About/,
    );
  });

  test.each(['[apply_patch]', '["*"]', '["apply_*", box_mend]'])(
    'autonomy for a patch is an error, in words: %s [F7]',
    (tools) => {
      expect(problems(withField('tools', tools), people, here)).toEqual([
        expect.stringContaining('nothing earns it for apply_patch'),
      ]);
    },
  );

  test('midnight is an end and no beginning [F17]', () => {
    const [rule] = read('rules: [{name: a, hours: {from: "00:00", to: "24:00", timezone: UTC}}]');
    expect(rule?.hours).toMatchObject({ from: 0, to: 1440 });
  });
});
