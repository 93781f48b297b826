import { expect, test } from 'vitest';
import { toldInPrivate } from '../../../src/changes/told-in-private.ts';
import type { Change } from '../../../src/core/change.ts';

const change: Change = {
  source: 'slack',
  id: 'B0CI shop-api project-falcon 1.4.2',
  versionOf: 'B0CI shop-api project-falcon',
  kind: 'deployment',
  state: 'succeeded',
  title: 'shop-api 1.4.2-falcon deployed',
  where: ['shop-api', 'acme/falcon'],
  environment: 'production',
  startedAt: null,
  at: '2026-03-01T12:00:00.000Z',
  by: 'olivia',
  from: '1.4.1-falcon',
  to: '1.4.2-falcon',
  commits: [{ sha: '279484c', title: 'Falcon pays by card', by: 'olivia', files: ['falcon.ts'] }],
  url: 'https://ci.example.com/falcon/1',
};
const there = 'https://acme.slack.com/archives/C0/p1';

test('what is kept of a private channel gives away neither who, nor versions, nor words', () => {
  const kept = toldInPrivate(change, ['Shop-API'], there);
  expect(kept).toMatchObject({
    title: 'shop-api was changed, as told in a private channel',
    where: ['shop-api'],
    at: change.at,
    url: there,
  });
  expect(JSON.stringify(kept)).not.toMatch(/falcon|1\.4|olivia|279484c/i);
});

test('a start and its end there are put together still', () => {
  const started = toldInPrivate({ ...change, state: 'started' }, ['shop-api'], null);
  const ended = toldInPrivate({ ...change, at: '2026-03-01T12:05:00.000Z' }, ['shop-api'], null);
  expect(started?.versionOf).toBe(ended?.versionOf);
  expect(ended?.id.startsWith(`${ended.versionOf} `)).toBe(true);
});

test('what has a number keeps an id of its own, and what nobody knows by name is not kept', () => {
  const { versionOf: _none, ...numbered } = change;
  const ids = [1, 1, 2].map(
    (n) => toldInPrivate({ ...numbered, id: `gitlab falcon ${n}` }, ['shop-api'], null)?.id,
  );
  expect(ids[0]).toBe(ids[1]);
  expect(ids[0]).not.toBe(ids[2]);
  expect(toldInPrivate(change, ['orders-db'], there)).toBeNull();
});
