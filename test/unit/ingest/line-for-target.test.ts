import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseTargets } from '../../../src/config/targets.ts';
import { lineForTarget } from '../../../src/ingest/line-for-target.ts';
import { matchTarget } from '../../../src/ingest/match-target.ts';
import { namedTarget } from '../../../src/sources/target.ts';

test.each([
  [{ instance: 'db1.internal:9187', job: 'postgres' }, 'aliases: [db1.internal]'],
  [
    { namespace: 'shop', container: 'orders', pod: 'orders-7c9f', instance: '10.0.0.9:8080' },
    'alerts: [{labels: {namespace: shop, container: orders}}]',
  ],
  [
    { alertname: 'DiskFull', namespace: 'shop' },
    'alerts: [{labels: {alertname: DiskFull, namespace: shop}}]',
  ],
  [{ severity: 'critical' }, null],
  [{}, null],
])('%o can be mapped by %s', (labels, line) => {
  expect(lineForTarget(labels as Record<string, string>)).toBe(line);
});

test.each([
  ['several lines', 'a\nroots: [/]'],
  ['a pattern', '*'],
  ['another reading direction', 'a\u202eb'],
  ['nothing that shows', 'a\u200bb'],
  ['what was redacted', '[redacted:password]'],
  ['a long one', 'x'.repeat(201)],
])('%s is not offered', (_, value) => {
  expect(lineForTarget({ instance: value })).toBeNull();
  expect(lineForTarget({ [value]: 'x', alertname: value })).toBeNull();
});

const text = fc.oneof(
  fc.string(),
  fc.stringMatching(/^[`'"{}[\]:,#&!|>%@ \-~a-z0-9]{0,12}$/),
  fc.constant('null'),
);
const labels = fc.dictionary(fc.constantFrom('instance', 'namespace', 'container', 'alertname', 'job'), text);

test('what is offered is one line that sentry.yaml takes, and then the alert finds its target', () => {
  fc.assert(
    fc.property(labels, (given) => {
      const line = lineForTarget(given);
      if (line === null) return;
      expect(line).not.toMatch(/[\r\n]/);
      const file = `targets:\n  - name: the-one\n    kind: postgres\n    read_url_env: READ\n    ${line}\n`;
      const targets = parseTargets(parse(file), { READ: 'postgres://reader@db/x' }, 'sentry.yaml');
      const alert = { source: 'alertmanager', target: namedTarget(given), labels: given, annotations: {} };
      expect(matchTarget(alert, targets)?.name).toBe('the-one');
    }),
  );
});
