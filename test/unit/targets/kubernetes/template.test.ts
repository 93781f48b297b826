import { expect, test } from 'vitest';
import type { ContainerSpec, PodTemplate } from '../../../../src/targets/kubernetes/objects.ts';
import { shownValue, templateDiff, templateHash } from '../../../../src/targets/kubernetes/template.ts';

const template = (
  web: Partial<ContainerSpec> = {},
  metadata: PodTemplate['metadata'] = { labels: { app: 'web' } },
  others: readonly ContainerSpec[] = [],
): PodTemplate => ({
  metadata,
  spec: { containers: [...others, { name: 'web', image: 'shop:1', ...web }] },
});

test('two revisions differ in what a person would call a change, line by line', () => {
  const before = template({
    env: [
      { name: 'MODE', value: 'fast' },
      { name: 'OLD', value: '1' },
    ],
    resources: { limits: { memory: '512Mi' } },
  });
  const after = template({
    image: 'shop:2',
    env: [
      { name: 'NEW', value: '2' },
      { name: 'MODE', value: 'slow' },
    ],
    resources: { limits: { memory: '64Mi' } },
  });
  expect(templateDiff(before, after).toSorted()).toEqual([
    'containers.web.env.MODE.value: fast → slow',
    'containers.web.env.NEW.value: 2 (added)',
    'containers.web.env.OLD.value: 1 (removed)',
    'containers.web.image: shop:1 → shop:2',
    'containers.web.resources.limits.memory: 512Mi → 64Mi',
  ]);
});

test('a container that comes in before another does not move it', () => {
  expect(
    templateDiff(template(), template({}, { labels: { app: 'web' } }, [{ name: 'proxy', image: 'p:1' }])),
  ).toEqual(['containers.proxy.image: p:1 (added)']);
});

test('which config map a container takes its environment from is a change', () => {
  const from = (name: string) =>
    template({ envFrom: [{ configMapRef: { name } }] } as Partial<ContainerSpec>);
  expect(templateDiff(from('shop-1'), from('shop-2'))).toEqual([
    'containers.web.envFrom.0.configMapRef.name: shop-1 → shop-2',
  ]);
});

test('what controllers write changes nothing, the order of keys neither, and a restart does', () => {
  const plain = template();
  const written = template({}, { labels: { 'pod-template-hash': 'abc', app: 'web' } });
  const restarted = template({}, { labels: { app: 'web' }, annotations: { restartedAt: 'now' } });
  expect(templateHash(written)).toBe(templateHash(plain));
  expect(templateDiff(plain, written)).toEqual([]);
  expect(templateHash(template({ image: 'shop:1', name: 'web' }))).toBe(templateHash(plain));
  expect(templateHash(restarted)).not.toBe(templateHash(plain));
});

test('that a secret value differs is told, and the values are not', () => {
  const of = (value: string) => template({ env: [{ name: 'DB_PASSWORD', value }] });
  const [line = '', ...rest] = templateDiff(of('hunter2'), of('hunter3'));
  expect(rest).toEqual([]);
  expect(line).toBe('containers.web.env.DB_PASSWORD.value: changed, (not shown)');
});

test.each([
  ['MODE', 'fast', 'fast'],
  ['API_KEY', 'abc', '(not shown)'],
  ['api-key', 'abc', '(not shown)'],
  ['monkey', 'abc', 'abc'],
  ['keyspace', 'shop', 'shop'],
])('%s=%s is shown as %s', (name, value, shown) => {
  expect(shownValue(name, value)).toBe(shown);
});

test('a connection string is shown without its password', () => {
  const shown = shownValue('DB_URL', 'postgres://shop:Xk29fLq81mZp@db.internal/shop');
  expect(shown).toContain('db.internal');
  expect(shown).not.toContain('Xk29fLq81mZp');
});
