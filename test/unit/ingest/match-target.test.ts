import { expect, test } from 'vitest';
import type { Target } from '../../../src/core/target.ts';
import { mappingFaults, matchTarget } from '../../../src/ingest/match-target.ts';
import { namedTarget } from '../../../src/sources/target.ts';

const target = (name: string, ...aliases: string[]): Target => ({
  name,
  kind: 'postgres',
  domain: 'postgres',
  environment: 'test',
  aliases,
});
const targets = [target('shop-db', 'shop', '10.0.0.5:5433', '::1'), target('shop')];
const match = (labels: Record<string, string>, values?: string) =>
  matchTarget(
    {
      source: 'alertmanager',
      target: namedTarget(labels),
      labels,
      annotations: values ? { title_values: values } : {},
    },
    targets,
  )?.name ?? null;

test.each([
  [{ instance: 'shop-db' }, 'shop-db'],
  [{ instance: 'SHOP-DB:5432' }, 'shop-db'],
  [{ instance: '10.0.0.5:5433' }, 'shop-db'],
  [{ instance: '[::1]:9187' }, 'shop-db'],
  [{ instance: 'exporter:9187', datname: '10.0.0.5:5433' }, 'shop-db'],
  [{ instance: 'exporter:9187', datname: 'shop' }, 'shop'],
  [{ instance: '10.0.0.5:5433', datname: 'shop' }, 'shop-db'],
  // What stands in a namespace is not the database that has the same name.
  [{ namespace: 'shop', pod: 'web-1', job: 'kube-state-metrics' }, null],
  [{ instance: 'shop-db-replica' }, null],
  [{ instance: 'my-shop-db' }, null],
  [{ team: 'shop-db' }, null],
  [{}, null],
])('%o is about %s', (labels, name) => {
  expect(match(labels as Record<string, string>)).toBe(name);
});

test('a bare value of a chat title names a target', () => {
  expect(match({}, 'prod shop-db:5432')).toBe('shop-db');
});

const ruled = (name: string, ...rules: readonly Record<string, string>[]): Target => ({
  ...target(name),
  alerts: rules.map((labels) => ({ labels })),
});
const orders = ruled('orders', { namespace: 'shop', container: 'orders-*' }, { app: 'orders' });
const everything = ruled('rest', { namespace: '*' });
const byRule = (
  labels: Record<string, string>,
  source = 'alertmanager',
  among = [...targets, orders, everything],
) => matchTarget({ source, target: namedTarget(labels), labels, annotations: {} }, among)?.name ?? null;

test.each([
  ['all labels of a rule', { namespace: 'shop', container: 'orders-7f' }, 'orders'],
  ['one of two rules', { app: 'orders' }, 'orders'],
  ['a rule before a name', { namespace: 'shop', container: 'orders-7f', instance: 'shop-db' }, 'orders'],
  ['not all labels of the rule', { container: 'orders-7f' }, null],
  ['the first rule in the file', { app: 'orders', namespace: 'shop' }, 'orders'],
  ['any value', { namespace: 'other' }, 'rest'],
  ['an empty label, which is none', { namespace: '' }, null],
  ['a value with another case', { app: 'Orders' }, null],
  ['a value with more around it', { app: 'my-orders' }, null],
  ['a value that is a pattern itself', { app: 'ord*' }, null],
  ['a label that only the prototype has', { constructor: 'orders' }, null],
])('%s', (_, labels, name) => {
  expect(byRule(labels as unknown as Record<string, string>)).toBe(name);
});

test('a rule for a name that every object has is a label like any other', () => {
  const odd = ruled('odd', { constructor: '*' }, { toString: 'x' });
  expect(byRule({}, 'alertmanager', [odd])).toBeNull();
  expect(byRule({ constructor: 'x' } as unknown as Record<string, string>, 'alertmanager', [odd])).toBe(
    'odd',
  );
});

test('what a person opened, or a watched target tells of itself, stays with the target that was named', () => {
  const labels = { target: 'shop-db', namespace: 'shop', app: 'orders' };
  expect(byRule(labels)).toBe('orders');
  expect(byRule(labels, 'hand')).toBe('shop-db');
  expect(byRule(labels, 'container-events')).toBe('shop-db');
});

test('says which aliases and rules another target takes', () => {
  expect(mappingFaults([...targets, orders, everything])).toEqual([
    expect.stringContaining(`alias "shop" of shop-db is shop's`),
  ]);
  const first = ruled('first', { namespace: 'shop', container: 'orders-*' });
  const again = ruled(
    'again',
    { namespace: 'shop', container: 'orders-db-*', env: 'p' },
    { container: 'orders-*' },
  );
  expect(mappingFaults([first, { ...again, aliases: ['x'] }, target('third', 'X')])).toEqual([
    expect.stringMatching(/^again: alerts with namespace=shop, container=orders-db-\*, env=p go to first/),
    expect.stringContaining(`alias "X" of third is again's`),
  ]);
});
