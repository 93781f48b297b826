import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { formatPageKey, pageKeyOfTitle, pageTitle, parsePageKey } from '../../../src/core/page-key.ts';

describe('a key', () => {
  test.each([
    ['INC-12', 'INC-12', 1],
    ['INC-12-level-2', 'INC-12', 2],
    ['INC-12-level-10', 'INC-12', 10],
  ])('%s', (key, incidentId, level) => {
    expect(parsePageKey(key)).toEqual({ incidentId, level });
    expect(formatPageKey({ incidentId: asIncidentId(incidentId), level })).toBe(key);
  });

  test.each([
    '',
    'INC-',
    'INC-0',
    'INC-012',
    'inc-12',
    ' INC-12',
    'INC-12 ',
    'INC-12\n',
    'INC-12\u0000',
    'XINC-12',
    'INC-12x',
    'INC-12-level-1',
    'INC-12-level-',
    'INC-12-level-02',
    'INC-12-level-100',
    'INC-12-LEVEL-2',
    'PD-INC-12',
    `INC-${'9'.repeat(19)}`,
  ])('is nothing else: %j', (text) => {
    expect(parsePageKey(text)).toBeNull();
  });
});

test('a title tells its key, whatever the summary says', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e9 }),
      fc.integer({ min: 1, max: 99 }),
      fc.string(),
      fc.integer({ min: 60, max: 1024 }),
      (number, level, summary, max) => {
        const key = { incidentId: asIncidentId(`INC-${number}`), level };
        const title = pageTitle(key, summary, max);
        expect(title.length).toBeLessThanOrEqual(max);
        expect(title.includes('\n') || title.includes('\u0000')).toBe(false);
        expect(pageKeyOfTitle(title)).toBe(formatPageKey(key));
      },
    ),
  );
  const key = { incidentId: asIncidentId('INC-12'), level: 1 };
  expect(pageTitle(key, 'INC-12: the disk is full', 130)).toBe('INC-12: the disk is full');
  expect(pageTitle(key, 'INC-123 came before', 130)).toBe('INC-12: INC-123 came before');
  expect(pageTitle(key, '', 130)).toBe('INC-12: somebody is needed');
});

test.each([
  'As INC-12: the disk is full',
  'INC-12 the disk is full',
  'INC-12:',
  'INC-12 (level x): y',
  'INC-12 (level 1): y',
  '[INC-12: x',
])('a title that begins otherwise is another’s: %j', (title) => {
  expect(pageKeyOfTitle(title)).toBeNull();
});
