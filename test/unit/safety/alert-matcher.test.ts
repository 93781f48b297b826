import { describe, expect, test } from 'vitest';
import { type AlertFacts, readMatcher, wholeMatcher } from '../../../src/safety/alert-matcher.ts';
import { cpuClock } from '../../support/cpu-clock.ts';

const facts = (over: Partial<AlertFacts> = {}): AlertFacts => ({
  alertname: 'DiskFull',
  severity: 'warning',
  target: 'orders-db',
  source: 'alertmanager',
  title: 'Disk is full',
  labels: { alertname: 'DiskFull', service: 'orders', instance: 'db-1:9100' },
  ...over,
});
const matcher = (text: string) => {
  const read = wholeMatcher(text);
  if (!read.ok) throw new Error(read.reason);
  return read.matcher;
};
const refusal = (text: string): string => {
  const read = wholeMatcher(text);
  return read.ok ? `read as ${read.matcher.text}` : read.reason;
};

describe('a matcher', () => {
  test.each([
    ['DiskFull', true],
    ['"DiskFull"', true],
    ['Disk', false],
    ['alertname="DiskFull", severity=~"warning|info", service!="orders"', false],
    ['alertname="DiskFull", severity=~"warning|info", service!="checkout"', true],
    ['{alertname="DiskFull",severity="warning",}', true],
    ['alertname=DiskFull', true],
    ['alertname=“DiskFull”', true],
    ['alertname=~"Disk"', false],
    ['alertname=~"Disk.*"', true],
    ['alertname=~"x|DiskFull"', true],
    ['alertname=~"(?i)diskfull"', true],
    ['alertname!~"Disk.*"', false],
    ['instance=~"db-\\d:9100"', true],
    ['team=""', true],
    ['team!="ops"', true],
    ['team=~".+"', false],
    ['target="orders-db", source="alertmanager", title=~"Disk.*"', true],
    ['constructor=~".+"', false],
    ['__proto__=""', true],
  ])('%s', (text, fits) => {
    expect(matcher(text).matches(facts())).toBe(fits);
  });

  test('ours are asked for before a label of the same name', () => {
    const labels = { alertname: 'DiskFull', severity: 'page', target: 'elsewhere' };
    expect(matcher('severity="warning", target="orders-db"').matches(facts({ labels }))).toBe(true);
    expect(matcher('target="elsewhere"').matches(facts({ labels }))).toBe(false);
  });

  test('a hidden value fits nothing, neither by its mark nor by not being something', () => {
    const hidden = facts({ labels: { token: '[redacted:api-key]', url: 'https://[redacted:url-token]@x' } });
    for (const text of [
      'token=~".*"',
      'token!="x"',
      'token="[redacted:api-key]"',
      'url=~"https.*"',
      'url!~"a"',
    ])
      expect(matcher(text).matches(hidden), text).toBe(false);
  });

  test('a value of many characters fits nothing, and takes no time', () => {
    const long = facts({ labels: { message: `${'a'.repeat(200_000)}!` } });
    const clock = cpuClock();
    expect(matcher('message=~"(a|aa)+$"').matches(long)).toBe(false);
    expect(
      matcher('message=~"(a|aa|a?)+"').matches(facts({ labels: { message: `${'a'.repeat(3_999)}!` } })),
    ).toBe(false);
    expect(clock()).toBeLessThan(2_000);
  });

  test.each([
    ['', 'at its end'],
    ['alertname="DiskFull', 'this quote is not closed'],
    ['alertname="DiskFull", ', 'at its end'],
    ['{alertname="DiskFull"', 'expected "," or "}"'],
    ['="x"', 'character 1'],
    ['alertname=', 'expected a value'],
    ['alertname="a" severity="warning"', 'The matcher ends before “severity="warning"”'],
    ['severity="page"', 'severity is one of critical, error'],
    ['alertname=~"(?=x)"', 'RE2 syntax'],
    ['alertname=~"a)|(b"', 'RE2 syntax'],
    ['alertname=~"(((a{100}){100}){10})"', 'pattern'],
    [`alertname="${'x'.repeat(301)}"`, 'at most 300'],
    [`alertname=~"${'x'.repeat(201)}"`, 'at most 200'],
    [Array.from({ length: 21 }, (_, n) => `a${n}=b`).join(','), 'At most 20'],
    ['x'.repeat(5_000), 'too long'],
  ])('%s is refused in words', (text, says) => {
    expect(refusal(text)).toContain(says);
  });

  test.each([
    ['{}', true],
    ['alertname=~".*"', true],
    ['alertname=~".+"', true],
    ['title=~"\\w+"', true],
    ['service!="orders"', true],
    ['severity=~"critical|error|warning|info|unknown"', true],
    ['severity=~".+", alertname!="x"', true],
    ['severity="warning"', false],
    ['severity!="critical"', false],
    ['DiskFull', false],
    ['service=~"orders|shop"', false],
  ])('%s: everything is %s', (text, everything) => {
    expect(matcher(text).isEverything).toBe(everything);
  });

  test('says which severities it leaves', () => {
    expect(matcher('DiskFull').severities).toBeNull();
    expect(matcher('severity=~"warning|info"').severities).toEqual(['warning', 'info']);
    expect(matcher('severity!="critical", DiskFull').severities).not.toContain('critical');
  });

  test('ends where its conditions do, and leaves the rest', () => {
    const text = 'alertname="Disk Full", service=orders 2h because of, well, "things"';
    const read = readMatcher(text);
    expect(read.ok && text.slice(read.end)).toBe(' 2h because of, well, "things"');
  });
});
