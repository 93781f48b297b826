import { describe, expect, test } from 'vitest';
import { cleanInput } from '../../../src/actions/checks/clean-input.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import type { Credential } from '../../../src/safety/vault/credentials.ts';

const credential = { role: 'detective', incidentId: 'INC-1' as IncidentId } as Credential;
const look = (input: Json) =>
  cleanInput({ credential, request: { tool: 'x', target: null, input: null }, input });

describe('lets through what people write', () => {
  test.each([
    'plain',
    'two\nlines\tand a tab',
    'ängström 日本語 עברית العربية',
    'deploy 🚀 done ⚠️',
    '1e3 -0 %00 \\u0000',
    '',
  ])('%j', (text) => {
    expect(look({ [text || 'k']: [text] })).toBeUndefined();
  });
});

describe('refuses what reads otherwise than it runs', () => {
  const hidden = [
    0x00, 0x07, 0x08, 0x0b, 0x0c, 0x0d, 0x1b, 0x7f, 0x85, 0x9f, 0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e,
    0x200b, 0x200d, 0x200e, 0x202a, 0x202e, 0x2028, 0x2029, 0x2060, 0x2066, 0x2069, 0x3164, 0xfe00, 0xfeff,
    0xffa0, 0xfff9, 0xe0001, 0xe0041, 0xe0100,
  ];
  test.each(hidden.map((code) => [code.toString(16), String.fromCodePoint(code)]))('U+%s', (_, character) => {
    for (const input of [`a${character}b`, { [`a${character}`]: 1 }, [[`${character}`]]])
      expect(look(input as Json)).toMatchObject({ code: 'INPUT_HIDDEN_CHARACTERS' });
  });
  test('the emoji’s mark behind a digit, and half a pair', () => {
    expect(look('pid 1\ufe0f')).toMatchObject({ code: 'INPUT_HIDDEN_CHARACTERS' });
    expect(look('a\ud800')).toMatchObject({ code: 'INPUT_HIDDEN_CHARACTERS' });
  });
});
