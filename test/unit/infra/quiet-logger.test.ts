import { expect, test } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { quietLogger } from '../../../src/infra/dbos/quiet-logger.ts';

function recorded(): { readonly log: Log; readonly lines: { text: string; times: unknown }[] } {
  const lines: { text: string; times: unknown }[] = [];
  const record = (fields: object, text: string): void =>
    void lines.push({ text, times: (fields as { times?: number }).times });
  return { log: { debug: record, info: record, warn: record, error: record }, lines };
}

test('what the engine says thirty times a second while the record is away is logged once in ten seconds', () => {
  let now = 0;
  const { log, lines } = recorded();
  const logger = quietLogger(log, () => now);
  for (; now < 25_000; now += 33) {
    logger.warn('Error getting startable workflows: the database system is starting up');
    if (now % 9_900 === 0) logger.error('something else');
  }
  const looks = lines.filter(({ text }) => text.includes('startable'));
  expect(looks).toHaveLength(3);
  expect(looks.map(({ times }) => times)).toEqual([undefined, 304, 304]);
  expect(lines.filter(({ text }) => text === 'something else')).toHaveLength(2);
});

test('a text that is new is logged at once, however many there are', () => {
  const { log, lines } = recorded();
  const logger = quietLogger(log, () => 0);
  for (let n = 0; n < 250; n += 1) logger.error(new Error(`fault ${n}`));
  expect(lines).toHaveLength(250);
});
