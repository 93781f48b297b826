import { expect, test } from 'vitest';
import { isQuestion } from '../../../src/slack/inbound/events/question-words.ts';

test.each([
  'since when',
  'blast radius',
  'whats the blast radius',
  'and before that',
  'so who approved',
  'any other causes',
  'undo possible',
  'any luck',
  'severity',
  'anybody on it',
  'what now',
])('without a question mark “%s” is asked all the same', (text) => {
  expect(isQuestion(text)).toBe(true);
});

test.each([
  'it is fixed',
  'approve it',
  'the cause is the lock on orders',
  'it was the deploy',
  'before this it was fine',
  'any query over 5 s is a report',
  'restart shop-db',
  'update the config first',
  'still broken on the replica',
])('“%s” says something, and is no question', (text) => {
  expect(isQuestion(text)).toBe(false);
});
