import { expect, test } from 'vitest';
import { needsOf } from '../../../../src/safety/injection/needs.ts';

test.each([
  [/(?:show|print)\syour\s(?:system\s)?prompts?/, ['prompt']],
  [/ignor(?:e|ing) (?:all|any) (?:rules|orders)/, ['ignor']],
  [/(?:stop|say) .{0,9}(?:password|credential)/, ['password', 'credential']],
  [/a(?:secret)?b(?!forbidden)(?<=before)cd?/, ['a']],
  [/Do-?it (?:now){0,2}(?:again){1,2}/, ['again']],
  [/[secret]\w+\u0041{2}/, []],
  [/(?:password|\d+)/, []],
])('of %s one of %j stands in every match', (pattern, needs) => {
  expect(needsOf(pattern)).toEqual(needs);
});
