import { expect, test } from 'vitest';
import type { Target } from '../../../src/core/target.ts';
import { matchTarget, namedTarget } from '../../../src/sources/target.ts';

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
    { target: namedTarget(labels), labels, annotations: values ? { title_values: values } : {} },
    targets,
  )?.name ?? null;

test.each([
  [{ instance: 'shop-db' }, 'shop-db'],
  [{ instance: 'SHOP-DB:5432' }, 'shop-db'],
  [{ instance: '10.0.0.5:5433' }, 'shop-db'],
  [{ instance: '[::1]:9187' }, 'shop-db'],
  [{ instance: 'exporter:9187', datname: 'shop' }, 'shop-db'],
  [{ namespace: 'shop', pod: 'web-1', job: 'kube-state-metrics' }, 'shop-db'],
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
