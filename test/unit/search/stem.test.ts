import { expect, test } from 'vitest';
import { stem } from '../../../src/search/text/stem.ts';
import { wordStem } from '../../../src/search/text/word-stem.ts';

test.each([
  ['looping', 'loop'],
  ['loops', 'loop'],
  ['hopping', 'hop'],
  ['replication', 'replic'],
  ['queries', 'queri'],
  ['query', 'queri'],
  ['agreed', 'agre'],
  ['certificates', 'certif'],
  ['generating', 'generat'],
  ['general', 'general'],
  ['news', 'news'],
])('the stem of %s is %s', (word, expected) => {
  expect(stem(word)).toBe(expected);
});

test.each([
  ['synchronising', 'synchronized'],
  ['utilisation', 'utilization'],
  ['raising', 'raise'],
  ['k8s', 'kubernetes'],
  ['conns', 'connections'],
  ['pvcs', 'persistentvolumeclaim'],
])('%s and %s are the same word', (one, other) => {
  expect(wordStem(one)).toBe(wordStem(other));
});
