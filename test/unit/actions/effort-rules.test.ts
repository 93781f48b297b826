import { describe, expect, test } from 'vitest';
import { effortFor } from '../../../src/actions/policy/effort-rules.ts';
import { readPolicy } from '../../../src/actions/policy/read-policy.ts';
import type { AlertFacts } from '../../../src/safety/alert-matcher.ts';

const read = (text: string) => readPolicy(`rules: []\n${text}`, null);
const rulesOf = (text: string) => {
  const found = read(text);
  if ('problems' in found) throw new Error(JSON.stringify(found.problems));
  return found.effort;
};
const facts = (alertname: string, severity: AlertFacts['severity'] = 'warning'): AlertFacts => ({
  alertname,
  severity,
  target: '',
  source: 'grafana',
  title: '',
  labels: {},
});

describe('effort in policy.yaml', () => {
  test('is by the first rule that fits, and adaptive without one', () => {
    const rules = rulesOf(
      `effort:\n  - { match: Watchdog, effort: none }\n  - { match: 'severity="info"', effort: on_demand }\n  - { match: 'alertname=~".*"', effort: full }`,
    );
    expect(effortFor(rules, facts('Watchdog'))).toEqual({ effort: 'none', rule: 'alertname="Watchdog"' });
    expect(effortFor(rules, facts('Other', 'info')).effort).toBe('on_demand');
    expect(effortFor(rules, facts('Other')).effort).toBe('full');
    expect(effortFor([], facts('Other'))).toEqual({ effort: 'adaptive', rule: null });
  });

  test('is not less for a critical, unless the rule says severity', () => {
    const rules = rulesOf(
      `effort:\n  - { match: A, effort: none }\n  - { match: 'alertname="B", severity=~".+"', effort: none }\n  - { match: A, effort: full }`,
    );
    expect(effortFor(rules, facts('A', 'critical')).effort).toBe('full');
    expect(effortFor(rules, facts('B', 'critical')).effort).toBe('none');
  });

  test.each([
    ['effort:\n  - { match: A, effort: some }', 3, 'effort.0.effort'],
    [
      `effort:\n  - { match: A, effort: none }\n  - match: 'a="'\n    effort: none`,
      4,
      'this quote is not closed',
    ],
    [`effort:\n  - { match: 'a=~"("', effort: none }`, 3, 'cannot be used'],
    ['effort:\n  - { match: A, effort: none, why: x }', 3, 'effort.0'],
    ['effort: A', 2, 'effort'],
  ])('%s is refused at its line', (text, line, says) => {
    const found = read(text);
    expect('problems' in found && found.problems[0]).toMatchObject({
      line,
      message: expect.stringContaining(says) as string,
    });
  });
});
