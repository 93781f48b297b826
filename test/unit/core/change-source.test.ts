import { expect, test } from 'vitest';
import { titleOfSource } from '../../../src/core/change-source.ts';
import { alertSources } from '../../../src/sources/registry.ts';

const tellers = alertSources.filter(({ changes }) => changes !== undefined).map(({ name }) => name);

test('there are sources that tell of changes', () => {
  expect(tellers.length).toBeGreaterThan(5);
});

test.each(tellers)('%s has a title that people know it by', (name) => {
  expect(titleOfSource(name)).not.toBe(name);
});
