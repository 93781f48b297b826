import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseTargets } from '../../../src/config/targets.ts';

const parsed = (alerts: string) =>
  parseTargets(
    parse(`targets:\n  - { name: orders, kind: postgres, read_url_env: READ, alerts: ${alerts} }`),
    { READ: 'postgres://reader@db/orders' },
    'sentry.yaml',
  );

test('a target has rules for the labels of its alerts', () => {
  expect(parsed('[{ labels: { namespace: shop, container: "orders-*" } }]')).toMatchObject([
    { alerts: [{ labels: { namespace: 'shop', container: 'orders-*' } }] },
  ]);
});

test.each([
  ['no list', '{ labels: { a: b } }', /targets\.0\.alerts: expected a list/],
  ['no labels', '[{}]', /alerts\.0\.labels/],
  ['no label', '[{ labels: {} }]', /alerts\.0\.labels: name at least one label/],
  ['a number', '[{ labels: { port: 5432 } }]', /alerts\.0\.labels\.port: expected a text; put a number/],
  ['an empty value', '[{ labels: { app: "" } }]', /alerts\.0\.labels\.app: expected a value/],
  ['labels that are a text', '[{ labels: app=orders }]', /alerts\.0\.labels: expected labels/],
  ['a misspelt key', '[{ label: { app: orders } }]', /alerts\.0/],
  ['a key that would be dropped', '[{ labels: { app: orders, "__proto__": x } }]', /"__proto__" is no label/],
])('says what is wrong with %s', (_, alerts, said) => {
  expect(() => parsed(alerts)).toThrow(said);
});
