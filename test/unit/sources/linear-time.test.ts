import { describe, expect, test } from 'vitest';
import { readOrder } from '../../../src/slack/inbound/events/read-order.ts';
import { namingWords, splitHeadline, wordsIn } from '../../../src/sources/headline-words.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { firstLink, plainText, withoutMarks } from '../../../src/sources/slack-message/mrkdwn.ts';
import { pairsOf } from '../../../src/sources/slack-message/pairs.ts';
import { cpuClock } from '../../support/cpu-clock.ts';

const pieces = [
  ' ',
  '\t',
  '*',
  '*a ',
  ' _a',
  '`',
  '"',
  '!',
  '.',
  ', ',
  '<',
  '<a|',
  '<http:',
  '[',
  ' (',
  'a="',
  ' :ee',
  ' on a:b',
];
const functions: Readonly<Record<string, (text: string) => unknown>> = {
  plainText,
  firstLink,
  withoutMarks,
  wordsIn,
  namingWords,
  splitHeadline,
  readOrder: (text) => readOrder(`stop ${text}`, { inThread: true }),
  pairsOf: (text) => pairsOf([`host: ${text}x`]),
};

/** Computing time over a text that repeats a piece, ms. */
function cost(read: (text: string) => unknown, piece: string, length: number): number {
  const text = `q${piece.repeat(length / piece.length)}x`;
  const spent = cpuClock();
  read(text);
  return spent();
}

describe('what others write is read in linear time [V3]', () => {
  test.each(Object.keys(functions))('%s', (name) => {
    const read = functions[name] as (text: string) => unknown;
    for (const piece of pieces) cost(read, piece, 1_000);
    const slow = pieces.filter((piece) => {
      // Ten times the length: ten times the work, or a hundred times.
      const least = Math.min(...[1, 2, 3].map(() => cost(read, piece, 4_000)));
      return cost(read, piece, 40_000) > 40 * Math.max(least, 1);
    });
    expect(slow).toEqual([]);
  });

  const message = { channel: 'C0ALERTS', ts: '1700000000.000100', bot_id: 'B0AM' };
  const ways: Readonly<Record<string, (text: string) => object>> = {
    'a text': (text) => ({ text }),
    attachments: (text) => ({
      attachments: Array.from({ length: 20 }, () => ({
        title: text,
        text,
        fallback: text,
        fields: [{ title: 'host', value: text }],
      })),
    }),
    blocks: (text) => ({
      blocks: Array.from({ length: 50 }, () => ({ type: 'section', text: { type: 'mrkdwn', text } })),
    }),
  };
  test.each(Object.keys(ways))('a whole message of an app, in %s', async (way) => {
    const post = ways[way] as (text: string) => object;
    for (const piece of pieces) {
      const spent = cpuClock();
      const text = `[FIRING:1] down ${piece.repeat(40_000 / piece.length)}x`;
      await alertSource('slack').read({ ...message, ...post(text) }, { receivedAt: new Date() });
      expect([piece, spent() < 4_000]).toEqual([piece, true]);
    }
  });

  test('no word that every object knows is a label of a message', async () => {
    const text = '[FIRING:1] DiskFull (db-1)\nconstructor: yes\n__proto__: no\nhost: db-1';
    const read = await alertSource('slack').read({ ...message, text }, { receivedAt: new Date() });
    expect(read.ok && Object.keys(read.alerts[0]?.labels ?? {}).join()).not.toMatch(/native|object/);
  });
});
