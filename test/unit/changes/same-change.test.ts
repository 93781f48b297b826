import { expect, test } from 'vitest';
import { isSameChange, isToldTwice } from '../../../src/changes/same-change.ts';
import type { Change, ChangeState } from '../../../src/core/change.ts';

const minute = (n: number): string => new Date(Date.UTC(2026, 2, 1, 12, n)).toISOString();
const told = (state: ChangeState, to: string | null, n: number) => ({ state, to, at: minute(n) });

test.each([
  ['an end is of its start', told('started', '1.4.2', 0), told('succeeded', '1.4.2', 9), true],
  ['an end without a version is of its start', told('started', '1.4.2', 0), told('failed', null, 9), true],
  [
    'an end of another version is none of it',
    told('started', '1.4.2', 0),
    told('succeeded', '1.4.3', 9),
    false,
  ],
  ['an end hours later is none of it', told('started', null, 0), told('succeeded', null, 121), false],
  [
    'a version that is told again is the same',
    told('succeeded', '1.4.2', 0),
    told('succeeded', '1.4.2', 600),
    true,
  ],
  [
    'a version that starts anew is another',
    told('succeeded', '1.4.2', 0),
    told('started', '1.4.2', 9),
    false,
  ],
  ['two notices of one end are one', told('succeeded', null, 0), told('succeeded', '1.4.2', 1), true],
  ['two ends apart are two', told('succeeded', null, 0), told('succeeded', null, 30), false],
  ['two versions are two', told('succeeded', '1.4.1', 0), told('succeeded', '1.4.2', 1), false],
])('%s', (_what, before, later, isSame) => {
  expect(isSameChange(before, later)).toBe(isSame);
});

const change = (given: Partial<Change>): Change => ({
  source: 'github',
  id: 'deployment 1',
  kind: 'deployment',
  state: 'succeeded',
  title: 'shop-api v1.4.2 deployed',
  where: ['shop-api'],
  environment: 'production',
  startedAt: minute(0),
  at: minute(3),
  by: null,
  from: null,
  to: '279484c09f2b4c1d8e7a6b5c4d3e2f1a0b9c8d7e',
  commits: [],
  url: null,
  ...given,
});
const heard = (given: Partial<Change>): Change =>
  change({
    source: 'slack',
    title: 'shop-api deployed',
    startedAt: null,
    environment: null,
    to: null,
    ...given,
  });

test.each([
  ['with the first digits of its hash', heard({ to: '279484c' }), true],
  ['without a version', heard({ at: minute(2) }), false],
  ['of a try that failed', heard({ to: '279484c', state: 'failed' }), false],
  ['of its start', heard({ to: '279484c', state: 'started' }), true],
  ['of a rollback', heard({ to: '279484c', kind: 'rollback' }), false],
  ['of another thing of the same system', heard({ to: '279484c', where: ['shop-web', 'shop-api'] }), false],
  ['of a longer number', heard({ to: '1.4.20', title: 'shop-api 1.4.20 deployed' }), false],
  ['with the version of its title', heard({ to: '1.4.2' }), true],
  ['in its environment by another name', heard({ to: '1.4.2', environment: 'prod' }), true],
  ['of another version', heard({ to: '1.4.3', title: 'shop-api 1.4.3 deployed' }), false],
  ['of another hash', heard({ to: 'f95f852' }), false],
  ['in another environment', heard({ to: '1.4.2', environment: 'staging' }), false],
  ['long after', heard({ to: '1.4.2', at: minute(14) }), false],
])('a bot’s message is of the change that a webhook tells, or not: %s', (_what, message, isOne) => {
  expect(isToldTwice(change({}), message)).toBe(isOne);
});
